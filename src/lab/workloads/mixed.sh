# summary: a third of the clients writes, a third reads, a third runs PostMark, in turn
# needs: dd awk sort postmark chattr

prepare() {
	pieces
	fill
}

pass() {
	case $(((CLIENT + PASS) % 3)) in
	0) write_pieces 4 ;;
	1) read_pieces 4 ;;
	2) mail 40 150 ;;
	esac
}
