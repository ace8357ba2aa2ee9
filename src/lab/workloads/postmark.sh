# summary: PostMark: small files are made, read, appended to and deleted
# needs: postmark chattr

pass() {
	mail 200 2000
}
