#include "lab/workload.h"
#include "lab/workload_shell.h"

const struct workload workload_mixed = {
	.name = "mixed",
	.summary = "a third of the clients writes, a third reads, a third runs PostMark, in turn",
	.needs = "dd awk sort postmark chattr",
	.prepare = SHELL_PIECES SHELL_ORDER SHELL_FILL "pieces\nfill\n",
	.loop = SHELL_ORDER SHELL_DD SHELL_MAIL "case $(((CLIENT + PASS) % 3)) in\n"
						"0) write_pieces 4 ;;\n"
						"1) read_pieces 4 ;;\n"
						"2) mail 40 150 ;;\n"
						"esac\n",
};
