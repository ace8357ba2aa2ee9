#include "lab/workload.h"
#include "lab/workload_shell.h"

const struct workload workload_postmark = {
	.name = "postmark",
	.summary = "PostMark: small files are made, read, appended to and deleted",
	.needs = "postmark chattr",
	.loop = SHELL_MAIL "mail 200 2000\n",
};
