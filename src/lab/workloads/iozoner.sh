# summary: IOzone's read and reread (iozone, or fio in its way)
# needs: iozone|fio dd awk sort

prepare() {
	pieces
	fill
}

pass() {
	iozone_pass read 1
}
