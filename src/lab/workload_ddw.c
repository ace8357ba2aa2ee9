#include "lab/workload.h"
#include "lab/workload_shell.h"

const struct workload workload_ddw = {
	.name = "ddw",
	.summary = "dd writes large files, 4 MB at a time, past all caches",
	.needs = "dd awk sort",
	.prepare = SHELL_PIECES "pieces\n",
	.loop = SHELL_ORDER SHELL_DD "write_pieces\n",
};
