#include "cli/command.h"
#include "cli/state_command.h"

static const struct option_def options[] = {
	STATE_OPTIONS,
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	return state_command_run(STATE_ACK, n_args, args, values, err);
}

static const struct example examples[] = {
	{"ack oss3/disk:sdb --note 'replacement ordered'", "it is being worked on"},
	{"ack --list", "what is acknowledged"},
	{"ack --undo oss3/disk:sdb", "not any more"},
	{NULL, NULL},
};

extern const struct command command_ack;
const struct command command_ack = {
	.name = "ack",
	.summary = "acknowledge a suspect: it is known and being worked on",
	.usage = "[OPTION...] COMPONENT...",
	.description = "Acknowledges suspects: 'limpet diagnose' still shows them, marked as "
		       "acknowledged, so that new ones stand out.\n\n" STATE_HELP,
	.options = options,
	.options_size = sizeof(struct state_options),
	.examples = examples,
	.run = run,
};
