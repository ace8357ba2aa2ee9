# summary: dd writes new large files, and deletes them all in the end
# needs: dd awk sort

prepare() {
	pieces
}

# The same files again, so that every server has as many as any other.
pass() {
	rm -f piece.*
	write_pieces
}
