# summary: clients in turn write, read and run PostMark
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
