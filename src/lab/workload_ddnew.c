#include "lab/workload.h"
#include "lab/workload_shell.h"

/* The same files again, so that every server has as many as any other. */
const struct workload workload_ddnew = {
	.name = "ddnew",
	.summary = "dd writes large files that are not there yet, and deletes them all in the end",
	.needs = "dd awk sort",
	.prepare = SHELL_PIECES "pieces\n",
	.loop = SHELL_ORDER SHELL_DD "rm -f piece.*\n"
				     "write_pieces\n",
};
