#include "cli/command.h"
#include "cli/data_options.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "import/dataset.h"
#include "report/flow.h"
#include "report/json.h"
#include "report/progress.h"
#include "serve/backtest.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct backtest_cli_options {
	const char *topology, *expect;
	int64_t every_us, hold_us;
	bool json, quiet;
};

#define AT(member) offsetof(struct backtest_cli_options, member)

static const struct option_def options[] = {
	{"topology", 't', OPTION_STRING, AT(topology), "FILE",
		"topology file: what is attached to what (see limpet-topology(1)) [none]"},
	{"expect", 0, OPTION_STRING, AT(expect), "FILE",
		"the servers that must be there, one per line [those that the topology lists]"},
	{"every", 0, OPTION_SPAN, AT(every_us), "SPAN",
		"give a verdict this often; longer is faster [when a window is complete: 15s for "
		"data of 1 s]"},
	{"hold", 0, OPTION_SPAN, AT(hold_us), "SPAN",
		"an incident ends when it was not seen for this time [10m]"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "no progress bar"},
	{NULL},
};

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);
DEFINE_CLEANUP(struct incidents *, incidents_close);

static const char *field(const json_t *incident, const char *key)
{
	const char *text = json_string_value(json_object_get(incident, key));

	return text ? text : "";
}

static void incident_print(const json_t *in)
{
	const char *ended = field(in, "ended");

	printf("%s  %-8s ", field(in, "opened"), field(in, "level"));
	flow_print_line(stdout, "%s", field(in, "what"));
	printf("%22s first seen %s, %s%s", "", field(in, "first"), *ended ? "ended " : "still open",
		ended);
	if (json_integer_value(json_object_get(in, "openings")) > 1)
		printf(", opened %lld times",
			(long long)json_integer_value(json_object_get(in, "openings")));
	printf("\n");
}

static void text_print(const json_t *list, int64_t first_us, int64_t last_us)
{
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	size_t n = json_array_size(list);

	printf("%zu incident%s would have been opened from %s to %s%s\n", n, n == 1 ? "" : "s",
		time_format(first_us, from), time_format(last_us, to), n ? ":" : ".");
	/* The store has the newest first. */
	for (size_t i = n; i-- > 0;)
		incident_print(json_array_get(list, i));
}

/* All incidents of the store. */
static int all_list(struct incidents *store, json_t **ret, struct lp_err *err)
{
	json_t *all = json_array();
	int64_t before = 0;
	bool more = true;
	int r = 0;

	while (r == 0 && more) {
		const struct incidents_query q = {.state = "all", .before = before, .limit = 1000};
		json_t *part = NULL, *list;

		r = incidents_list(store, &q, &part, err);
		if (r < 0)
			break;
		list = json_object_get(part, "incidents");
		more = json_is_true(json_object_get(part, "more"));
		if (json_array_size(list))
			before = json_integer_value(json_object_get(
				json_array_get(list, json_array_size(list) - 1), "id"));
		json_array_extend(all, list);
		json_decref(part);
	}
	*ret = all;
	return r;
}

static int result_print(struct incidents *store, const struct backtest_cli_options *opt,
	int64_t first_us, int64_t last_us, struct lp_err *err)
{
	json_t *list = NULL;
	char from[TIME_TEXT_MAX], to[TIME_TEXT_MAX];
	int r = all_list(store, &list, err);

	if (r == 0 && opt->json) {
		r = json_print(stdout,
			json_pack("{s:s, s:s, s:O}", "start", time_format(first_us, from), "end",
				time_format(last_us, to), "incidents", list));
		if (r < 0)
			lp_err_sys(err, r, "cannot print the incidents");
	} else if (r == 0) {
		text_print(list, first_us, last_us);
	}
	json_decref(list);
	return r;
}

/* Files that could not be read, or only in part: the result is that of the rest. */
static int failures_tell(const struct lp_dataset *ds, struct lp_err *err)
{
	if (!ds->n_failures)
		return 0;
	for (size_t i = 0; i < ds->n_failures; i++)
		data_print_once(NULL, ds->failures[i]);
	return lp_err_set(err, -EBADMSG,
		"%zu file%s could not be read, or only in part: the incidents are those of the "
		"rest",
		ds->n_failures, ds->n_failures == 1 ? "" : "s");
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct backtest_cli_options *opt = values;
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	_cleanup_(incidents_closep) struct incidents *store = NULL;
	struct lp_warn warn = {.warn = data_print_once};
	struct progress progress = {0};
	const struct lp_diagnose_options how = {
		.topology = opt->topology, .expect = opt->expect, .bounded = true, .warn = &warn};
	const struct incidents_options keep = {.hold_us = opt->hold_us};
	const struct backtest_options bt = {.diagnose = &how,
		.every_us = opt->every_us,
		.warn = &warn,
		.progress = progress_tell,
		.progress_ctx = &progress};
	int64_t first_us = 0, last_us = 0;
	int r = data_open(data, args, n_args, &warn, &ds, err);

	if (r == 0)
		r = incidents_open(NULL, &keep, &store, err);
	if (!opt->quiet)
		progress_begin(&progress, stderr);
	if (r == 0)
		r = backtest_run(ds, &bt, store, &first_us, &last_us, err);
	progress_clear(&progress);
	if (r == 0 && !first_us)
		r = lp_err_set(err, -ENOENT, "there are no samples in this data");
	if (r == 0)
		r = result_print(store, opt, first_us, last_us, err);
	if (r == 0)
		r = failures_tell(ds, err);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"backtest /var/lib/limpet", "what would have been opened, in all that was recorded"},
	{"backtest --every 1m --json DATA", "faster, for a script"},
	{NULL, NULL},
};

extern const struct command command_backtest;
const struct command command_backtest = {
	.name = "backtest",
	.summary = "list the incidents that would have been opened",
	.usage = "[OPTION...] DATA...",
	.description =
		"Replays recordings as if they arrived now, and lists the incidents that 'limpet "
		"serve' would have opened, with their times: use it to see last month's alerts "
		"before you switch alerts on. DATA is anything that 'limpet diagnose' reads. It "
		"sends and keeps nothing.\n\n"
		"The time in front of a line is when the incident would have been opened; 'first "
		"seen' is when the trouble began, as far as the data shows. Servers that are "
		"silent for more than a minute while others report are also incidents.\n\n"
		"Exit status: 0, whatever there is to list; 2 wrong usage, or some of the input "
		"cannot be read or is damaged (the incidents in the rest are listed).",
	.options = options,
	.options_size = sizeof(struct backtest_cli_options),
	.takes_data = true,
	.computes = true,
	.examples = examples,
	.run = run,
};
