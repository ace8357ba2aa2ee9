#include "cli/command.h"

#include <errno.h>
#include <stdio.h>

struct version_options {
	bool json;
};

static const struct option_def options[] = {
	{"json", 0, OPTION_FLAG, offsetof(struct version_options, json), NULL, "print JSON"},
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct version_options *opt = values;

	(void)data;
	if (n_args) {
		lp_err_set(err, -EINVAL, "unexpected argument '%s'", args[0]);
		return EXIT_USAGE;
	}
	if (opt->json)
		puts("{\"limpet\":\"" LIMPET_VERSION "\"}");
	else
		puts("limpet " LIMPET_VERSION);
	return EXIT_HEALTHY;
}

extern const struct command command_version;
const struct command command_version = {
	.name = "version",
	.summary = "print the version",
	.usage = "[--json]",
	.description = "Prints the version of limpet.",
	.options = options,
	.options_size = sizeof(struct version_options),
	.run = run,
};
