# summary: dd writes large files, 4 MB at a time, past all caches
# needs: dd awk sort

prepare() {
	pieces
}

pass() {
	write_pieces
}
