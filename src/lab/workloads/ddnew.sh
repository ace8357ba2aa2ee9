# summary: dd writes large files, and deletes all of them before each pass
# needs: dd awk sort

prepare() {
	pieces
}

# The same files again, so that every server has as many as any other.
pass() {
	rm -f piece.*
	write_pieces
}
