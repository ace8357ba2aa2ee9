#include "cli/command.h"
#include "cli/incidents_common.h"
#include "cli/terminal.h"

#include "report/json.h"
#include <errno.h>
#include <stdio.h>

struct show_options {
	struct incidents_common common;
	const char *colour;
};

static const struct option_def options[] = {
	INCIDENTS_OPTIONS(struct show_options),
	COLOUR_OPTION(offsetof(struct show_options, colour)),
	{NULL},
};

static int show(const struct show_options *opt, const char *arg, bool colour, struct lp_err *err)
{
	json_t *incident = NULL;
	char path[64];
	int64_t id;
	int r = incidents_id_parse(arg, &id, err);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "/api/v1/incidents/%lld", (long long)id);
	r = incidents_ask(&opt->common, "GET", path, NULL, &incident, err);
	if (r < 0)
		return r;
	if (!opt->common.json)
		incidents_print_all(incident, colour);
	else if (json_print(stdout, json_incref(incident)) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot print the incident");
	json_decref(incident);
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct show_options *opt = values;
	bool colour = false;
	int r = terminal_colour(opt->colour, &colour, err);

	(void)data;
	if (r == 0 && !n_args)
		r = lp_err_set(err, -EINVAL, "name the number of an incident");
	for (int i = 0; r == 0 && i < n_args; i++) {
		if (i && !opt->common.json)
			putchar('\n');
		r = show(opt, args[i], colour, err);
	}
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"incidents show 7", "show everything that is known about incident 7"},
	{NULL, NULL},
};

extern const struct command incidents_command_show;
const struct command incidents_command_show = {
	.name = "incidents show",
	.summary = "show an incident with its evidence and what was said about it",
	.usage = "[OPTION...] NUMBER...",
	.description = "Shows all that the collector knows about incidents: when they began, the "
		       "evidence, what to do, and what people said about them.",
	.options = options,
	.options_size = sizeof(struct show_options),
	.examples = examples,
	.run = run,
};
