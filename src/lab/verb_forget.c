/* Keeps files out of the page cache during an experiment. File systems start it, not people. */
#include "cli/command.h"
#include "lab/forget.h"
#include <errno.h>

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)values;
	(void)data;
	if (!n_args)
		return command_exit_code(lp_err_set(err, -EINVAL, "name a directory"));
	return command_exit_code(forget_always(args, n_args, err));
}

extern const struct command lab_verb_forget;
const struct command lab_verb_forget = {
	.name = "lab forget",
	.summary = "keep files out of the page cache, used by file systems",
	.usage = "DIR...",
	.description =
		"Drops the cached pages of all files below the directories, once per second, "
		"until it is killed. Labs run it for file systems whose servers cannot bypass "
		"the page cache, so that measurements are of disks.",
	.internal = true,
	.run = run,
};
