#include "cli/calls_options.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/trace_output.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "collect/loop.h"
#include "trace/calls/calls.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN_US (US_PER_SEC / 10)
#define INTERVAL_MAX_US (3600 * US_PER_SEC)
#define TOP_DEFAULT 20

struct calls_options {
	const char *output, *name;
	struct send_options send;
	int64_t interval_us, duration_us, flush_us;
	uint64_t top;
	struct calls_choice choice;
	bool quiet, json;
};

static const struct option_def options[] = {
	CALLS_OPTIONS(offsetof(struct calls_options, choice)),
	TRACE_OPTIONS(struct calls_options, "calls",
		"read the counts this often, 100ms to 1h, aligned to the wall clock [1s]", "[10s]"),
	{NULL},
};

static void print_text(const struct calls *c, const struct trace_functions *f, size_t top)
{
	const struct calls_totals *t = calls_totals(c);

	fprintf(stderr, "%" PRId64 " call%s of %zu function%s in %" PRIu64 " process%s\n", f->calls,
		f->calls == 1 ? "" : "s", f->n, f->n == 1 ? "" : "s", t->programs,
		t->programs == 1 ? "" : "es");
	if (f->n)
		fputs("   share       calls     seconds  function\n", stderr);
	for (size_t i = 0; i < f->n && i < top; i++)
		fprintf(stderr, "%7.1f%% %11" PRId64 " %11.3f  %s\n",
			f->ns ? 100.0 * (double)f->items[i].ns / (double)f->ns : 0, f->items[i].n,
			(double)f->items[i].ns / 1e9, f->items[i].name);
	if (f->n_off)
		fprintf(stderr, "%zu function%s switched off\n", f->n_off,
			f->n_off == 1 ? " is" : "s are");
	if (t->lost_functions || t->lost_threads || t->left_out)
		fprintf(stderr,
			"not counted: %" PRIu64 " calls and %" PRIu64
			" threads of programs that are too large, %" PRIu64 " programs\n",
			t->lost_functions, t->lost_threads, t->left_out);
	if (!t->programs)
		fputs("No program counted its calls. Build one with 'limpet cc' and run it.\n",
			stderr);
}

static int print_json(const struct calls *c, const struct trace_functions *f, size_t top,
	const char *path, struct lp_err *err)
{
	const struct calls_totals *t = calls_totals(c);
	json_t *list = json_array(), *all;

	for (size_t i = 0; i < f->n && i < top; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:I, s:f}", "function", f->items[i].name, "calls",
				(json_int_t)f->items[i].n, "seconds",
				(double)f->items[i].ns / 1e9));
	all = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:o}", "programs",
		(json_int_t)t->programs, "calls", (json_int_t)f->calls, "functions",
		(json_int_t)f->n, "off", (json_int_t)f->n_off, "lost_calls",
		(json_int_t)t->lost_functions, "lost_threads", (json_int_t)t->lost_threads,
		"lost_programs", (json_int_t)t->left_out, "file", path, "top", list);
	return trace_summary_print(all, err);
}

static int print_closing(const struct calls_options *opt, const struct calls *c,
	const struct loop_stats *stats, struct lp_err *err)
{
	struct trace_functions f;
	size_t top = opt->top ? (size_t)opt->top : TOP_DEFAULT;
	int r = 0;

	trace_functions_list(calls_counts(c), &f);
	if (opt->json)
		r = print_json(c, &f, top, stats->spool.path, err);
	else if (!opt->quiet)
		print_text(c, &f, top);
	free(f.items);
	return r;
}

DEFINE_CLEANUP(struct calls *, calls_free);

static int drive(const struct calls_options *opt, const struct calls_config *config,
	const struct trace_output *output, struct calls *c, struct lp_err *err)
{
	struct loop_stats stats = {0};
	char begin[64];
	const struct trace_drive d = {.output = output,
		.send = &opt->send,
		.instrument = {calls_instrument(c), c},
		.meta = "trace=calls\n",
		.begin = opt->quiet ? NULL : begin,
		.interval_us = config->interval_us,
		.flush_us = opt->flush_us ? opt->flush_us : 10 * US_PER_SEC,
		.duration_us = opt->duration_us,
		.warn = config->warn};
	int r;

	snprintf(begin, sizeof(begin), "reading the calls of %" PRIu64 " process%s",
		calls_totals(c)->programs, calls_totals(c)->programs == 1 ? "" : "es");
	r = trace_drive(&d, &stats, err);
	if (r == 0)
		r = print_closing(opt, c, &stats, err);
	return r < 0 ? r : trace_check_written(&stats, err);
}

static int run_checked(struct calls_options *opt, struct lp_err *err)
{
	_cleanup_(calls_freep) struct calls *c = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct trace_output output;
	struct calls_config config = {.observer = output.name,
		.interval_us = opt->interval_us ? opt->interval_us : CALLS_INTERVAL_US,
		.at_ends = true,
		.warn = &warn};
	int r;

	if (config.interval_us < INTERVAL_MIN_US || config.interval_us > INTERVAL_MAX_US)
		return lp_err_set(err, -EINVAL, "--interval must be from 100ms to 1h");
	r = calls_options_apply(&opt->choice, &config, err);
	if (r == 0)
		r = trace_output_choose(opt->output, opt->name, "calls", &output, err);
	if (r == 0)
		r = calls_new(&config, &c, err);
	return r < 0 ? r : drive(opt, &config, &output, c, err);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	if (n_args) {
		lp_err_set(err, -EINVAL, "unexpected argument '%s' (see 'limpet help trace calls')",
			args[0]);
		return EXIT_USAGE;
	}
	return trace_exit_code(run_checked(values, err));
}

static const struct example examples[] = {
	{"trace calls -d 30s", "find out which functions are called, and how long they take"},
	{"trace calls --budget 2%", "limit counting to 2% of a CPU"},
	{"record --collect calls -o /var/lib/limpet",
		"record the same permanently, for 'limpet diagnose'"},
	{NULL, NULL},
};

extern const struct command trace_command_calls;
const struct command trace_command_calls = {
	.name = "trace calls",
	.summary = "read the function calls that programs count",
	.usage = "[OPTION...]",
	.description =

		"Reads the counts of programs that were built with 'limpet cc' and writes an "
		"archive: for each second, how often each function of each program and library "
		"was called, and how long it took, including waits but not the counted "
		"functions that it called. limpet finds programs that are running and programs "
		"that start later. No counts are lost when a program forks, ends or is killed. "
		"Programs need no restart and never wait for limpet.\n\n"
		"Programs keep their counts in /dev/shm, or in the directory that the "
		"environment variable LIMPET_CALLS_DIR names, for them and for limpet. Programs "
		"of other users that are already running are found only by root.\n\n"
		"You can change which functions a program counts while it runs: --functions "
		"reads a list; --budget measures what counting costs, switches off counting for "
		"the most expensive functions, and lists them. A function that is off has the "
		"column 'off' in the archive, so that 'limpet diagnose' does not compare it. It "
		"stays off when limpet ends; 'limpet functions --apply' switches it on "
		"again.\n\n"
		"The exit status is 0 if everything was written, 2 if reading the counts is not "
		"permitted or not possible here, 3 if it failed later.",
	.options = options,
	.options_size = sizeof(struct calls_options),
	.examples = examples,
	.run = run,
};
