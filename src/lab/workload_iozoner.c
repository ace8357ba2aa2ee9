#include "lab/workload.h"
#include "lab/workload_shell.h"

const struct workload workload_iozoner = {
	.name = "iozoner",
	.summary = "IOzone's read and reread (iozone, or fio in its way)",
	.needs = "iozone|fio dd awk sort",
	.prepare = SHELL_PIECES SHELL_ORDER SHELL_FILL "pieces\nfill\n",
	.loop = SHELL_ORDER SHELL_IOZONE "iozone_pass read 1\n",
};
