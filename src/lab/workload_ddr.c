#include "lab/workload.h"
#include "lab/workload_shell.h"

const struct workload workload_ddr = {
	.name = "ddr",
	.summary = "dd reads large files, 4 MB at a time, past all caches",
	.needs = "dd awk sort",
	.prepare = SHELL_PIECES SHELL_ORDER SHELL_FILL "pieces\nfill\n",
	.loop = SHELL_ORDER SHELL_DD "read_pieces\n",
};
