#include "cli/command.h"
#include "cli/state_command.h"

static const struct option_def options[] = {
	{"at", 0, OPTION_TIME, STATE_AT(at_us), "TIME",
		"when it was repaired ('2026-11-15 18:00', 2h) [now]"},
	STATE_OPTIONS,
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	return state_command_run(STATE_CLEAR, n_args, args, values, err);
}

static const struct example examples[] = {
	{"clear oss3/disk:sdb", "it was replaced just now"},
	{"clear 'fs16/*' --at 2011-08-10T16:00", "the whole server, at that time"},
	{"clear --list", "what was cleared, and when"},
	{NULL, NULL},
};

extern const struct command command_clear;
const struct command command_clear = {
	.name = "clear",
	.summary = "mark a component as repaired: count its faults from zero",
	.usage = "[OPTION...] COMPONENT...",
	.description =
		"Zeroes the persistence of components: windows that begin before that time no "
		"longer count in 'limpet diagnose'. To be a suspect again a component must be "
		"anomalous in k of 2k-1 windows after it.\n\n" STATE_HELP,
	.options = options,
	.options_size = sizeof(struct state_options),
	.examples = examples,
	.run = run,
};
