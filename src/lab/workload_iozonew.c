#include "lab/workload.h"
#include "lab/workload_shell.h"

const struct workload workload_iozonew = {
	.name = "iozonew",
	.summary = "IOzone's write and rewrite (iozone, or fio in its way)",
	.needs = "iozone|fio awk sort",
	/* fio would remove pieces that are smaller than they should be, and make them anew. */
	.prepare = SHELL_PIECES SHELL_ORDER SHELL_FILL "pieces && fill\n",
	.loop = SHELL_ORDER SHELL_IOZONE "iozone_pass write 0\n",
};
