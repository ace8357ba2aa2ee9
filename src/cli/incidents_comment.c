#include "cli/command.h"
#include "cli/incidents_common.h"

#include <errno.h>

struct comment_options {
	struct incidents_common common;
};

static const struct option_def options[] = {
	INCIDENTS_BY(struct comment_options),
	INCIDENTS_OPTIONS(struct comment_options),
	{NULL},
};

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct comment_options *opt = values;
	json_t *body;
	int code;

	(void)data;
	if (n_args != 2) {
		lp_err_set(err, -EINVAL, "name the number of an incident and a text");
		return EXIT_USAGE;
	}
	body = json_pack("{s:s, s:s}", "by", incidents_by(&opt->common), "text", args[1]);
	if (!body) {
		lp_err_set(err, -EINVAL, "the comment is not UTF-8");
		return EXIT_USAGE;
	}
	code = incidents_say_all(&opt->common, "POST", "comment", body, 1, args, err);
	json_decref(body);
	return code;
}

static const struct example examples[] = {
	{"incidents comment 7 'slot 4, serial ZC1A'", "leave a note for the next operator"},
	{NULL, NULL},
};

extern const struct command incidents_command_comment;
const struct command incidents_command_comment = {
	.name = "incidents comment",
	.summary = "add a comment to an incident",
	.usage = "[OPTION...] NUMBER TEXT",
	.description = "Adds a comment to an incident. The collector keeps it, and 'limpet "
		       "incidents --search' finds it.",
	.options = options,
	.options_size = sizeof(struct comment_options),
	.examples = examples,
	.run = run,
};
