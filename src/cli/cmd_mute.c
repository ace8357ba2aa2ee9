#include "cli/command.h"
#include "cli/state_command.h"

static const struct option_def options[] = {
	{"for", 0, OPTION_SPAN, STATE_AT(for_us), "SPAN",
		"for this time, e.g. 2h or 7d [permanently]"},
	{"until", 0, OPTION_TIME, STATE_AT(until_us), "TIME",
		"until this time ('2026-11-15 18:00', 18:00)"},
	STATE_OPTIONS,
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	return state_command_run(STATE_MUTE, n_args, args, values, err);
}

static const struct example examples[] = {
	{"mute oss3/disk:sdb --for 7d --note 'waits for the next maintenance'",
		"hide it for a week"},
	{"mute 'test*/*'", "hide the servers of the test bed"},
	{"mute --undo 'test*/*'", "show them again"},
	{NULL, NULL},
};

extern const struct command command_mute;
const struct command command_mute = {
	.name = "mute",
	.summary = "hide a suspect from reports, for a time or permanently",
	.usage = "[OPTION...] COMPONENT...",
	.description =
		"Mutes components: 'limpet diagnose' compares them as before but does not "
		"show them as suspects. Its headline still says which muted components differ from "
		"their peers; they do not affect its exit status.\n\n" STATE_HELP,
	.options = options,
	.options_size = sizeof(struct state_options),
	.examples = examples,
	.run = run,
};
