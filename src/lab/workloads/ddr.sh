# summary: dd reads large files, 4 MB at a time, past all caches
# needs: dd awk sort

prepare() {
	pieces
	fill
}

pass() {
	read_pieces
}
