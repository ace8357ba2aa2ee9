#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/mpi_team.h"
#include "cli/stack_kernel.h"

#include "base/cleanup.h"
#include "base/meant.h"
#include "base/output.h"
#include "trace/stack/spans_team.h"
#include "trace/stack/stack_report.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOWEST_DEFAULT 10

struct show_options {
	const char *call, *layer, *trace, *html, *drive, *drives;
	uint64_t slowest;
	bool json, csv, spans;
};

#define AT(member) offsetof(struct show_options, member)

static const struct option_def options[] = {
	{"call", 0, OPTION_STRING, AT(call), "RANK:NUMBER",
		"print one call and what it became in the layers below"},
	{"layer", 0, OPTION_STRING, AT(layer), "LAYER",
		"follow the calls of this layer [the uppermost one that was recorded]"},
	{"slowest", 0, OPTION_UINT, AT(slowest), "N", "print this many of the slowest calls [10]"},
	{"drive", 0, OPTION_STRING, AT(drive), "NAME",
		"compute the energy of disk accesses from the power of this drive ('list': "
		"print all drives)"},
	{"drives", 0, OPTION_STRING, AT(drives), "FILE",
		"table of drives and their power (YAML, see docs/stack.md) [the built-in one]"},
	{"json", 0, OPTION_FLAG, AT(json), NULL,
		"print JSON, with all calls unless there is --slowest"},
	{"csv", 0, OPTION_FLAG, AT(csv), NULL, "print CSV, one line per call"},
	{"spans", 0, OPTION_FLAG, AT(spans), NULL,
		"print CSV, one line per call or request of any layer, with those that it belongs "
		"to and the bytes that they have in common"},
	{"html", 0, OPTION_STRING, AT(html), "FILE",
		"write a page with charts: calls by layer, by client and by server, and the "
		"waterfall of each; one self-contained file"},
	{"trace", 0, OPTION_STRING, AT(trace), "FILE",
		"write all calls for trace viewers (Perfetto, Chromium's about:tracing)"},
	{NULL},
};

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

static int call_find(const struct stack_metrics *m, const char *text, const struct stack_call **ret,
	struct lp_err *err)
{
	char *colon, *end = NULL;
	long rank, number = -1;

	errno = 0;
	rank = strtol(text, &colon, 10);
	if (colon != text && *colon == ':')
		number = strtol(colon + 1, &end, 10);
	if (!end || end == colon + 1 || *end || errno || rank < 0 || rank > INT32_MAX ||
		number < 0 || number > UINT32_MAX)
		return lp_err_set(err, -EINVAL,
			"--call: '%s' is not a call; 0:16 is call 16 of rank 0", text);
	*ret = stack_metrics_call(m, (int32_t)rank, (uint32_t)number);
	if (!*ret)
		return lp_err_set(err, -EINVAL, "there is no call %s in this recording", text);
	return 0;
}

static int json_print(json_t *o, struct lp_err *err)
{
	int r = o && json_dumpf(o, stdout, JSON_INDENT(1)) == 0 ? 0 : -ENOMEM;

	json_decref(o);
	putchar('\n');
	return r < 0 ? lp_err_sys(err, r, "cannot print the calls") : 0;
}

static int file_write(const struct stack_metrics *m, const char *path,
	int (*print)(FILE *out, const struct stack_metrics *m), struct lp_err *err)
{
	_cleanup_(output_release) struct output out = {0};
	_cleanup_fclose_ FILE *f = NULL;
	int r = output_open(&out, path, err);

	if (r < 0)
		return r;
	f = fdopen(dup(out.fd), "we");
	if (!f)
		return lp_err_sys(err, -errno, "cannot write %s", path);
	r = print(f, m);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write %s", path);
	if (fflush(f) != 0 || ferror(f))
		return lp_err_sys(err, -errno, "cannot write %s", path);
	return output_commit(&out, path, err);
}

static int print(const struct show_options *opt, const struct stack_metrics *m, struct lp_err *err)
{
	size_t slowest = opt->slowest ? (size_t)opt->slowest : SLOWEST_DEFAULT;
	const struct stack_call *call = NULL;
	int r = 0;

	if (opt->call)
		r = call_find(m, opt->call, &call, err);
	if (r == 0 && opt->trace)
		r = file_write(m, opt->trace, stack_chrome_print, err);
	if (r == 0 && opt->html)
		r = file_write(m, opt->html, stack_html_print, err);
	if (r < 0)
		return r;
	if (opt->spans && stack_joins_print(stdout, m) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot print the calls");
	if (opt->spans)
		return 0;
	if (opt->csv)
		stack_csv_print(stdout, m);
	else if (opt->json)
		return json_print(call ? stack_json_call(m, call)
				       : stack_json_make(m, opt->slowest ? slowest : SIZE_MAX),
			err);
	else if (call)
		stack_text_waterfall(stdout, m, call);
	else if (!opt->trace && !opt->html)
		stack_text_print(stdout, m, slowest);
	return 0;
}

static int drive_unknown(const struct drives *drives, const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (size_t i = 0; i < drives->n; i++)
		meant_consider(&m, drives->items[i].name);
	return lp_err_set(err, -EINVAL, "there is no drive '%.64s'%s ('--drive list' prints all)",
		name, meant_question(&m));
}

/* The drive that was named on the command line or in the recording; NULL: none. The table of the
 * drive in the recording may no longer exist; everything but power can be shown without it. */
static int drive_choose(const struct show_options *opt, const char *recorded, struct drives *drives,
	const struct drive **ret, struct lp_err *err)
{
	const char *name = opt->drive ? opt->drive : recorded;
	int r = name ? drives_load(opt->drives, drives, err) : 0;

	*ret = NULL;
	if (r < 0 || !name)
		return r;
	*ret = drives_find(drives, name);
	if (!*ret && !opt->drive) {
		fprintf(stderr,
			"limpet stack show: the recording names the drive '%.64s', which is not in "
			"the table (--drives); power is not computed\n",
			name);
		return 0;
	}
	return *ret ? 0 : drive_unknown(drives, name, err);
}

static int drives_print(const struct show_options *opt, struct lp_err *err)
{
	_cleanup_(drives_release) struct drives drives = {0};
	int r = drives_load(opt->drives, &drives, err);

	for (size_t i = 0; i < drives.n && r == 0; i++)
		printf("%-18s %s: active %g W, idle %g W\n", drives.items[i].name,
			drives.items[i].title ? drives.items[i].title : "",
			drives.items[i].active_w, drives.items[i].idle_w);
	return r;
}

/* Print why a recording has no calls, as far as that is known. */
static int empty_print(
	const struct show_options *opt, const struct stack_gaps *gaps, struct lp_err *err)
{
	bool picture = opt->call || opt->html || opt->trace || opt->csv || opt->spans;

	if (picture || !stack_gaps_any(gaps))
		return lp_err_set(err, -ENOENT,
			"no calls were recorded there; 'limpet stack run' records them");
	if (opt->json)
		return json_print(json_pack("{s:i, s:[], s:[], s:o}", "n_calls", 0, "layers",
					  "calls", "gaps", stack_gaps_json(gaps)),
			err);
	puts("no calls were recorded");
	stack_gaps_print(stdout, gaps);
	return 0;
}

static int show(const struct show_options *opt, struct lp_dataset *ds, struct lp_err *err)
{
	_cleanup_(mpi_team_close) struct mpi_team team = {0};
	_cleanup_(drives_release) struct drives drives = {0};
	_cleanup_(stack_metrics_release) struct stack_metrics metrics = {0};
	_cleanup_(graph_release) struct graph graph = {0};
	_cleanup_(spans_release) struct spans spans = {0};
	const struct drive *drive = NULL;
	int layer = opt->layer ? layer_find(opt->layer) : -1, r, damaged;

	if (opt->layer && layer < 0)
		return stack_layer_unknown(opt->layer, err);
	r = mpi_team_open(&team, err);
	if (r < 0)
		return r;
	r = spans_read_together(&spans, ds, r ? &team.team : NULL, err);
	if (team.team.rank)
		return r == -EBADMSG ? 0 : r; /* the first process reports it */
	damaged = r == -EBADMSG;
	if (r < 0 && !damaged)
		return r;
	if (!spans.n && spans.sums.any) {
		if (opt->json)
			return json_print(job_sums_json(&spans.sums), err);
		job_sums_print(stdout, &spans.sums);
		stack_gaps_print(stdout, &spans.gaps);
		return 0;
	}
	if (!spans.n)
		return damaged ? r : empty_print(opt, &spans.gaps, err);
	r = drive_choose(opt, spans.drive, &drives, &drive, err);
	if (r < 0)
		return r;
	r = graph_open(&graph, &spans);
	if (r < 0)
		return lp_err_sys(err, r, "cannot join the calls");
	r = graph_join(&graph, err);
	if (r == 0)
		r = stack_metrics_compute(&graph, layer, drive, &metrics, err);
	if (r == 0 && opt->layer && !metrics.n_calls)
		r = lp_err_set(
			err, -ENOENT, "there are no calls of %s in this recording", opt->layer);
	if (r == 0)
		r = print(opt, &metrics, err);
	return r == 0 && damaged ? -EBADMSG : r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	struct lp_warn warn = {.warn = data_print_once};
	int r;

	const struct show_options *opt = values;

	(void)data;
	if (opt->drive && !strcmp(opt->drive, "list"))
		return command_exit_code(drives_print(opt, err));
	if (n_args < 1) {
		if (!mpi_team_first())
			return EXIT_HEALTHY; /* it reports this */
		lp_err_set(err, -EINVAL, "name the recording: limpet stack show DATA");
		return EXIT_USAGE;
	}
	r = lp_dataset_open((const char *const *)args, (size_t)n_args, NULL, NULL, &warn, &ds, err);
	if (r == 0)
		r = show(values, ds, err);
	return r < 0 ? command_exit_code(r) : EXIT_HEALTHY;
}

static const struct example examples[] = {
	{"stack show traces",
		"show where the time of a program's calls went, and the slowest ones"},
	{"stack show --call 2:16 traces", "show what call 16 of rank 2 became in the layers below"},
	{"stack show --html calls.html traces", "write charts of all calls, for a browser"},
	{"stack show --trace calls.json traces", "write all calls for Perfetto"},
	{NULL, NULL},
};

extern const struct command stack_command_show;
const struct command stack_command_show = {
	.name = "stack show",
	.summary = "print where calls spent their time, layer by layer",
	.usage = "[OPTION...] DATA...",
	.description =
		"Joins the calls that 'limpet stack run' recorded to those that they became in "
		"the layers below, and prints for each layer how many there were, how much data "
		"they moved, how long they took, and how much of that was spent in the layer "
		"itself ('in it'). Throughput refers to the time in which the layer was "
		"working. The listed calls are those of the uppermost layer, or of --layer. "
		"They are numbered per rank from 0; processes that are not ranks of an MPI job "
		"are numbered after the ranks.\n\n"
		"If mpirun starts it, several processes read the files together, and the first "
		"one prints the same as a single process would.",
	.examples = examples,
	.options = options,
	.options_size = sizeof(struct show_options),
	.in_team = true,
	.run = run,
};
