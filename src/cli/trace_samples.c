#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/profile_options.h"
#include "cli/trace_output.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "collect/loop.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN_US US_PER_SEC
#define INTERVAL_MAX_US (3600 * US_PER_SEC)
#define TOP_DEFAULT 20
#define NAME_WIDTH 15

struct samples_options {
	const char *output, *name;
	struct send_options send;
	int64_t interval_us, duration_us, flush_us;
	uint64_t top;
	struct profile_options profile;
	bool quiet, json;
};

#define AT(member) offsetof(struct samples_options, member)

static const struct option_def options[] = {
	PROFILE_OPTIONS(AT(profile)),
	TRACE_OPTIONS(struct samples_options, "samples",
		"sum samples over this time, 1s to 1h, aligned to the wall clock [10s]", "[1m]"),
	{NULL},
};

struct function {
	const char *name;
	uint64_t n;
};

/* The functions with samples, to be sorted. */
struct functions {
	struct function *items;
	size_t n, cap;
};

static void functions_release(struct functions *f)
{
	free(f->items);
}

static void functions_add(void *ctx, const char *name, const int64_t *values)
{
	struct functions *f = ctx;
	uint64_t n = (uint64_t)values[0];

	if (n && array_reserve(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) == 0)
		f->items[f->n++] = (struct function){name, n};
}

static int most_first(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n ? 1 : -1) : strcmp(x->name, y->name);
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void print_text(const struct profile *p, const struct functions *f, size_t top)
{
	const struct profile_totals *t = profile_totals(p);

	fprintf(stderr,
		"%" PRIu64 " sample%s in %zu function%s, %.1f%% of them unknown; CPUs were idle in "
		"%.1f%%; %" PRIu64 " lost\n",
		t->samples, t->samples == 1 ? "" : "s", f->n, f->n == 1 ? "" : "s",
		percent(t->unknown, t->samples), percent(t->idle, t->samples + t->idle), t->lost);
	for (size_t i = 0; i < f->n && i < top; i++)
		fprintf(stderr, "%5.1f%%  %s\n", percent(f->items[i].n, t->samples),
			f->items[i].name);
}

static int print_json(const struct profile *p, const struct functions *f, size_t top,
	const char *path, struct lp_err *err)
{
	const struct profile_totals *t = profile_totals(p);
	json_t *list = json_array(), *all;

	for (size_t i = 0; i < f->n && i < top; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:I}", "function", f->items[i].name, "samples",
				(json_int_t)f->items[i].n));
	all = json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:s, s:o}", "sampler",
		profile_sampler(p), "clock", profile_clock(p), "frequency", (int)t->hz, "samples",
		(json_int_t)t->samples, "idle", (json_int_t)t->idle, "unknown",
		(json_int_t)t->unknown, "lost", (json_int_t)t->lost, "functions", (json_int_t)f->n,
		"file", path, "top", list);
	return trace_summary_print(all, err);
}

static int print_closing(const struct samples_options *opt, const struct profile *p,
	const struct loop_stats *stats, struct lp_err *err)
{
	_cleanup_(functions_release) struct functions f = {0};
	size_t top = opt->top ? (size_t)opt->top : TOP_DEFAULT;

	profile_rows_each(profile_counts(p), PROFILE_FUNCTIONS, functions_add, &f);
	if (f.n)
		qsort(f.items, f.n, sizeof(*f.items), most_first);
	if (opt->json)
		return print_json(p, &f, top, stats->spool.path, err);
	if (!opt->quiet)
		print_text(p, &f, top);
	return 0;
}

DEFINE_CLEANUP(struct profile *, profile_free);

static int config_fill(
	const struct samples_options *opt, struct profile_config *config, struct lp_err *err)
{
	config->interval_us = opt->interval_us ? opt->interval_us : PROFILE_INTERVAL_US;
	config->at_ends = true;
	if (config->interval_us < INTERVAL_MIN_US || config->interval_us > INTERVAL_MAX_US)
		return lp_err_set(err, -EINVAL, "--interval must be from 1s to 1h");
	return profile_options_apply(&opt->profile, config, err);
}

static int drive(const struct samples_options *opt, const struct profile_config *config,
	const struct trace_output *output, struct profile *p, struct lp_err *err)
{
	struct lp_warn warn = {.warn = data_print_warning};
	struct loop_stats stats = {0};
	char meta[128], begin[128];
	const struct trace_drive d = {.output = output,
		.send = &opt->send,
		.instrument = {profile_instrument(p), p},
		.meta = meta,
		.begin = opt->quiet ? NULL : begin,
		.interval_us = config->interval_us,
		.flush_us = opt->flush_us ? opt->flush_us : 60 * US_PER_SEC,
		.duration_us = opt->duration_us,
		.warn = &warn};
	int r;

	snprintf(meta, sizeof(meta), "trace=samples\nsampler=%s\nclock=%s\n", profile_sampler(p),
		profile_clock(p));
	snprintf(begin, sizeof(begin), "sampling with %s, %u per second and CPU by %s",
		profile_sampler(p), profile_totals(p)->hz, profile_clock(p));
	r = trace_drive(&d, &stats, err);
	if (r == 0)
		r = print_closing(opt, p, &stats, err);
	return r < 0 ? r : trace_check_written(&stats, err);
}

static int run_checked(const struct samples_options *opt, struct lp_err *err)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	struct trace_output output;
	struct profile_config config = {.observer = output.name};
	struct lp_err why = {0};
	int r = config_fill(opt, &config, err);

	if (r == 0)
		r = trace_output_choose(opt->output, opt->name, "samples", &output, err);
	if (r == 0)
		r = profile_new(&config, &p, &why, err);
	if (r < 0)
		return r;
	if (why.code && !opt->quiet)
		fprintf(stderr, "limpet trace samples: %s; continuing with %s\n", why.text,
			profile_sampler(p));
	return drive(opt, &config, &output, p, err);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	if (n_args) {
		lp_err_set(err, -EINVAL,
			"unexpected argument '%s' (see 'limpet help trace samples')", args[0]);
		return EXIT_USAGE;
	}
	return trace_exit_code(run_checked(values, err));
}

static const struct example examples[] = {
	{"trace samples -d 30s", "find out where this machine spends its time, for half a minute"},
	{"trace samples -F 997 --stacks -d 1m -o now.lpa",
		"look more closely, with stacks, and write one file"},
	{"show --functions now.lpa", "print the functions that were found busy"},
	{"record --collect profile -o /var/lib/limpet",
		"record the same permanently, for 'limpet diagnose'"},
	{NULL, NULL},
};

extern const struct command trace_command_samples;
const struct command trace_command_samples = {
	.name = "trace samples",
	.summary = "sample which functions the CPUs execute",
	.usage = "[OPTION...]",
	.description =

		"Samples, many times per second, which function each CPU executes, in all "
		"processes and in the kernel, and writes an archive. For every ten seconds, it "
		"has the number of samples per function, with its program and its image "
		"(executable, library, kernel or module). 'limpet diagnose' finds servers that "
		"spend their time differently from their peers; 'limpet show --functions' lists "
		"the functions.\n\n"
		"Names come from the symbols of executables and libraries, from separate debug "
		"files in /usr/lib/debug, from the kernel, and from the maps of just-in-time "
		"compilers (/tmp/perf-PID.map). Code without a symbol is named after its image "
		"and page, such as libx.so+0x3000. This also works for processes in containers, "
		"for files that were deleted or replaced, and for processes that have ended. "
		"Idle CPUs and lost samples are counted separately.\n\n"
		"Sampling needs root (or CAP_PERFMON, and CAP_BPF to count in the kernel). The "
		"exit status is 0 if everything was written, 2 if sampling is not permitted or "
		"not possible here, 3 if it failed later.",
	.options = options,
	.options_size = sizeof(struct samples_options),
	.examples = examples,
	.run = run,
};
