#include "cli/command.h"

#include "report/flow.h"
#include "serve/alerts.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct test_alert_options {
	const char *alerts;
};

static const struct option_def options[] = {
	{"alerts", 0, OPTION_STRING, offsetof(struct test_alert_options, alerts), "FILE",
		"file of alert targets, as for 'limpet serve'"},
	{NULL},
};

/* Send to the named targets, or to all. Returns the number of failures, or a negative errno. */
static int send_all(const struct alerts_config *c, int n_names, char **names, struct lp_err *err)
{
	int failed = 0, found = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct alert_target *t = &c->targets[i];
		struct lp_err here = {0};
		bool asked = !n_names;

		for (int k = 0; k < n_names; k++)
			asked = asked || !strcmp(names[k], t->name);
		if (!asked)
			continue;
		found++;
		if (alerts_try(c, t, &here) == 0) {
			flow_print_line(stdout, "%s: delivered", t->name);
		} else {
			flow_print_line(stdout, "%s: failed: %s", t->name, here.text);
			failed++;
		}
	}
	if (found < n_names)
		return lp_err_set(err, -EINVAL, "the file does not have all of these targets");
	return failed;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct test_alert_options *opt = values;
	struct alerts_config c = {0};
	int r;

	(void)data;
	if (!opt->alerts) {
		lp_err_set(err, -EINVAL,
			"--alerts FILE is missing (see 'limpet help serve test-alert')");
		return EXIT_USAGE;
	}
	r = alerts_config_read(opt->alerts, &c, err);
	if (r == 0)
		r = send_all(&c, n_args, args, err);
	alerts_config_release(&c);
	return r > 0 ? EXIT_SUSPECTS : command_exit_code(r);
}

static const struct example examples[] = {
	{"serve test-alert --alerts /etc/limpet/alerts.yaml", "to all targets in the file"},
	{"serve test-alert --alerts /etc/limpet/alerts.yaml pager", "to one of them"},
	{NULL, NULL},
};

extern const struct command serve_command_test_alert;
const struct command serve_command_test_alert = {
	.name = "serve test-alert",
	.summary = "check a file of alert targets, and send each a test",
	.usage = "--alerts FILE [NAME...]",
	.description =
		"Reads the file, says in which line something is wrong with it, and sends a test "
		"alert to every target, or to those with the given names. The test says that it is "
		"one. Alertmanager shows it for a minute.\n\n"
		"Exit status: 0 all were delivered, 1 some were not, 2 wrong usage, or something "
		"is "
		"wrong with the file.",
	.options = options,
	.options_size = sizeof(struct test_alert_options),
	.examples = examples,
	.run = run,
};
