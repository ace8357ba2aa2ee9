# summary: IOzone's write and rewrite (by iozone, or by fio with the same pattern)
# needs: iozone|fio dd awk sort

# fio would remove pieces that are too small, and create them again.
prepare() {
	pieces
	fill
}

pass() {
	iozone_pass write 0
}
