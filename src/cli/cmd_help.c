#include "cli/command.h"
#include "cli/help.h"

#include <errno.h>

struct help_options {
	bool man;
};

static const struct option_def options[] = {
	{"man", 0, OPTION_FLAG, offsetof(struct help_options, man), NULL,
		"print the manual page as roff source"},
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct help_options *opt = values;
	const struct command *c = n_args ? command_find(args[0]) : NULL;

	(void)data;
	if (n_args > 1) {
		lp_err_set(err, -EINVAL, "one command at a time");
		return EXIT_USAGE;
	}
	if (n_args && !c) {
		lp_err_set(err, -EINVAL, "there is no command '%s'", args[0]);
		return EXIT_USAGE;
	}
	if (opt->man)
		help_print_man(stdout, c);
	else if (c)
		help_print_command(stdout, c);
	else
		help_print_overview(stdout);
	return EXIT_HEALTHY;
}

extern const struct command command_help;
const struct command command_help = {
	.name = "help",
	.summary = "tell how to use limpet, or one of its commands",
	.usage = "[--man] [COMMAND]",
	.description = "Without a command, lists all of them.",
	.options = options,
	.options_size = sizeof(struct help_options),
	.run = run,
};
