# summary: dd writes large files, and deletes all of them before each pass
# needs: dd awk sort

prepare() {
	pieces
}

# Write the same files again, so that all servers have equally many.
pass() {
	rm -f piece.*
	write_pieces
}
