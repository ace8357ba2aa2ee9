# summary: IOzone's read and reread (by iozone, or by fio with the same pattern)
# needs: iozone|fio dd awk sort

prepare() {
	pieces
	fill
}

pass() {
	iozone_pass read 1
}
