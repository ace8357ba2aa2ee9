# summary: PostMark creates, reads, appends to and deletes small files
# needs: postmark chattr

pass() {
	mail 200 2000
}
