#include "cli/command.h"
#include "cli/incidents_common.h"
#include "cli/terminal.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "report/json.h"
#include <errno.h>
#include <stdio.h>

struct incidents_options {
	struct incidents_common common;
	const char *search, *colour;
	int64_t since_us, until_us;
	uint64_t limit;
	bool all, ended;
};

#define AT(member) offsetof(struct incidents_options, member)

static const struct option_def options[] = {
	{"all", 'a', OPTION_FLAG, AT(all), NULL, "also list incidents that have ended"},
	{"ended", 0, OPTION_FLAG, AT(ended), NULL, "list only incidents that have ended"},
	{"search", 's', OPTION_STRING, AT(search), "TEXT",
		"list only incidents with this text in their headline, part, cause, evidence or "
		"comments"},
	{"since", 0, OPTION_TIME, AT(since_us), "TIME",
		"list only incidents that were open after this time"},
	{"until", 0, OPTION_TIME, AT(until_us), "TIME",
		"list only incidents that were opened before this time"},
	{"limit", 'n', OPTION_UINT, AT(limit), "N", "list at most N, up to 1000 [100]"},
	INCIDENTS_OPTIONS(struct incidents_options),
	COLOUR_OPTION(AT(colour)),
	{NULL},
};

static void time_add(struct strbuf *path, const char *key, int64_t us)
{
	char text[TIME_TEXT_MAX];

	if (us)
		strbuf_printf(path, "&%s=%s", key, time_format(us, text));
}

static int path_make(const struct incidents_options *opt, struct strbuf *path, struct lp_err *err)
{
	_cleanup_free_ char *search = opt->search ? client_escape(opt->search) : NULL;

	if (opt->limit > 1000)
		return lp_err_set(err, -EINVAL, "--limit is at most 1000");
	strbuf_printf(path, "/api/v1/incidents?state=%s",
		opt->ended	   ? "ended"
			: opt->all ? "all"
				   : "open");
	if (opt->search)
		strbuf_printf(path, "&q=%s", search ? search : "");
	time_add(path, "since", opt->since_us);
	time_add(path, "until", opt->until_us);
	if (opt->limit)
		strbuf_printf(path, "&limit=%llu", (unsigned long long)opt->limit);
	return path->failed || (opt->search && !search)
		? lp_err_sys(err, -ENOMEM, "cannot query the collector")
		: 0;
}

static void list_print(const json_t *answer, bool all, bool colour)
{
	json_t *list = json_object_get(answer, "incidents"), *incident;
	size_t i;

	if (!json_array_size(list))
		printf(all ? "There are no such incidents.\n" : "There are no open incidents.\n");
	json_array_foreach(list, i, incident)
	{
		incidents_print_line(incident, colour);
	}
	if (json_is_true(json_object_get(answer, "more")))
		printf("There are more incidents (see --limit).\n");
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct incidents_options *opt = values;
	_cleanup_(strbuf_release) struct strbuf path = {0};
	json_t *answer = NULL;
	bool colour = false;
	int r = terminal_colour(opt->colour, &colour, err);

	(void)data;
	if (r == 0 && n_args)
		r = lp_err_set(err, -EINVAL,
			"unexpected argument '%s' (see 'limpet help incidents')", args[0]);
	if (r == 0)
		r = path_make(opt, &path, err);
	if (r == 0)
		r = incidents_ask(&opt->common, "GET", path.text, NULL, &answer, err);
	if (r < 0)
		return command_exit_code(r);
	if (!opt->common.json)
		list_print(answer, opt->all || opt->ended || opt->search, colour);
	else if (json_print(stdout, json_incref(answer)) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot print the incidents");
	json_decref(answer);
	return command_exit_code(r);
}

#define X(name) extern const struct command incidents_command_##name;
#include "cli/incidents_commands.inc"
#undef X

static const struct command *const verbs[] = {
#define X(name) &incidents_command_##name,
#include "cli/incidents_commands.inc"
#undef X
	NULL,
};

static const struct example examples[] = {
	{"incidents", "list what is wrong now"},
	{"incidents --all --search oss5 --since 7d", "list what was wrong with oss5 this week"},
	{"incidents show 7", "show one incident, with evidence and what to do"},
	{"incidents ack 7 --comment 'the drive is ordered'",
		"say that it is known and being worked on"},
	{"incidents mute 7 --for 8h", "send no alerts about it for eight hours"},
	{NULL, NULL},
};

extern const struct command command_incidents;
const struct command command_incidents = {
	.name = "incidents",
	.summary = "list, acknowledge and mute the incidents of a collector",
	.usage = "[OPTION...]",
	.description =
		"Lists the incidents that are open at a collector ('limpet serve'), newest "
		"first. The command queries the collector over its API, so it works on any "
		"machine; on machines other than the collector, it needs an operator's "
		"token.\n\n"
		"The exit status is 0 if the collector answered, 2 if the usage is wrong, or if "
		"the collector cannot be reached or refuses.",
	.options = options,
	.options_size = sizeof(struct incidents_options),
	.examples = examples,
	.verbs = verbs,
	.run = run,
};
