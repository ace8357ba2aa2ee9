#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/trace_output.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "collect/loop.h"
#include "trace/calls/calls.h"
#include "trace/probes/probes.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define INTERVAL_MIN_US (US_PER_SEC / 10)
#define INTERVAL_MAX_US (3600 * US_PER_SEC)
#define TOP_DEFAULT 20

struct functions_options {
	struct send_options send;
	struct option_list pids, functions, kernel;
	const char *output, *name;
	int64_t interval_us, duration_us, flush_us;
	uint64_t limit, top;
	bool times, quiet, json;
};

#define AT(member) offsetof(struct functions_options, member)

static const struct option_def options[] = {
	{"pid", 'p', OPTION_LIST, AT(pids), "PID",
		"probe this process; may be given several times"},
	{"functions", 0, OPTION_LIST, AT(functions), "GLOB",
		"count these functions of the process: FUNCTION or IMAGE:FUNCTION, with shell "
		"wildcards; may be given several times"},
	{"kernel", 0, OPTION_LIST, AT(kernel), "GLOB",
		"count these functions of the kernel, if it permits that; may be given several "
		"times"},
	{"limit", 0, OPTION_UINT, AT(limit), "N",
		"remove the probe of a function that is called more often per second [20000]"},
	{"times", 0, OPTION_FLAG, AT(times), NULL,
		"also measure times in C++, Rust and Go programs, which an exception may then end"},
	TRACE_OPTIONS(struct functions_options, "functions",
		"read the counts this often, 100ms to 1h, aligned to the wall clock [1s]", "[10s]"),
	{NULL},
};

DEFINE_CLEANUP(struct probes *, probes_free);

static int pid_parse(const char *text, pid_t *ret, struct lp_err *err)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (end == text || *end || pid < 1 || pid > INT_MAX)
		return lp_err_set(err, -EINVAL, "--pid: '%s' is not a process", text);
	*ret = (pid_t)pid;
	return 0;
}

static int places_find(
	const struct functions_options *opt, struct probe_places *ret, struct lp_err *err)
{
	int r = 0;

	for (unsigned i = 0; r == 0 && i < opt->pids.n; i++) {
		pid_t pid = 0;

		r = pid_parse(opt->pids.items[i], &pid, err);
		if (r == 0)
			r = probe_places_find(ret, "/proc", pid, opt->functions.items,
				opt->functions.n, opt->times, err);
	}
	if (r == 0 && opt->kernel.n)
		r = probe_places_find_kernel(
			ret, "/proc/kallsyms", opt->kernel.items, opt->kernel.n, err);
	if (r == 0 && !ret->n)
		r = lp_err_set(err, -ENOENT,
			"no function matches '%s'%s; functions are found by their symbols, which "
			"stripped programs lack",
			opt->functions.n ? opt->functions.items[0] : opt->kernel.items[0],
			opt->functions.n + opt->kernel.n > 1 ? " or the others" : "");
	return r;
}

/* Print the cost before tracing begins. */
static void cost_say(const struct functions_options *opt, const struct probe_places *places)
{
	size_t dear = 0;

	for (size_t i = 0; i < places->n; i++)
		dear += !places->items[i].cheap;
	fprintf(stderr, "%zu function%s: each call takes 0.6 to 1.2 us longer", places->n,
		places->n == 1 ? "" : "s");
	if (dear)
		fprintf(stderr,
			", or 10 to 50 us (%zu function%s), if the processor has to step over the "
			"function's first instruction",
			dear, dear == 1 ? "" : "s");
	fprintf(stderr,
		"; a function that is called more than %" PRIu64 " times per second loses its "
		"probe (--limit)\n",
		opt->limit ? opt->limit : PROBES_LIMIT);
	if (places->calls_only)
		fprintf(stderr,
			"%zu function%s only counted, without times, because an exception that "
			"passes a probed return would end the program (--times measures anyway)\n",
			places->calls_only, places->calls_only == 1 ? " is" : "s are");
	if (places->left_out)
		fprintf(stderr, "%zu more function%s match, but there is no room for them\n",
			places->left_out, places->left_out == 1 ? "" : "s");
}

static void print_text(const struct trace_functions *f, size_t top)
{
	fprintf(stderr, "%" PRId64 " call%s of %zu function%s\n", f->calls,
		f->calls == 1 ? "" : "s", f->n, f->n == 1 ? "" : "s");
	if (f->n)
		fputs("      calls     seconds    us/call  function\n", stderr);
	for (size_t i = 0; i < f->n && i < top; i++)
		fprintf(stderr, "%11" PRId64 " %11.3f %10.1f  %s%s\n", f->items[i].n,
			(double)f->items[i].ns / 1e9,
			f->items[i].n ? (double)f->items[i].ns / 1e3 / (double)f->items[i].n : 0,
			f->items[i].name, f->items[i].off ? " (probe removed)" : "");
}

static int print_json(const struct probes *p, const struct trace_functions *f, size_t top,
	const char *path, struct lp_err *err)
{
	const struct probes_totals *t = probes_totals(p);
	json_t *list = json_array(), *all;

	for (size_t i = 0; i < f->n && i < top; i++)
		json_array_append_new(list,
			json_pack("{s:s, s:I, s:f, s:b}", "function", f->items[i].name, "calls",
				(json_int_t)f->items[i].n, "seconds", (double)f->items[i].ns / 1e9,
				"let_go", (int)f->items[i].off));
	all = json_pack("{s:I, s:I, s:I, s:I, s:s, s:o}", "functions", (json_int_t)t->functions,
		"refused", (json_int_t)t->refused, "let_go", (json_int_t)t->let_go, "calls",
		(json_int_t)f->calls, "file", path, "top", list);
	return trace_summary_print(all, err);
}

static int print_closing(const struct functions_options *opt, const struct probes *p,
	const struct loop_stats *stats, struct lp_err *err)
{
	struct trace_functions f;
	size_t top = opt->top ? (size_t)opt->top : TOP_DEFAULT;
	int r = 0;

	trace_functions_list(probes_counts(p), &f);
	if (opt->json)
		r = print_json(p, &f, top, stats->spool.path, err);
	else if (!opt->quiet)
		print_text(&f, top);
	free(f.items);
	return r;
}

static int drive(const struct functions_options *opt, const struct probes_config *config,
	const struct trace_output *output, struct probes *p, struct lp_err *err)
{
	const struct probes_totals *t = probes_totals(p);
	struct loop_stats stats = {0};
	char begin[96];
	const struct trace_drive d = {.output = output,
		.send = &opt->send,
		.instrument = {probes_instrument(p), p},
		.meta = "trace=functions\n",
		.begin = opt->quiet ? NULL : begin,
		.interval_us = config->interval_us,
		.flush_us = opt->flush_us ? opt->flush_us : 10 * US_PER_SEC,
		.duration_us = opt->duration_us,
		.warn = config->warn};
	int r;

	if (t->refused)
		lp_warn_raise(config->warn, "%zu function%s cannot be probed", t->refused,
			t->refused == 1 ? "" : "s");
	snprintf(begin, sizeof(begin), "counting the calls of %zu function%s", t->functions,
		t->functions == 1 ? "" : "s");
	if (t->trampolines)
		snprintf(begin + strlen(begin), sizeof(begin) - strlen(begin),
			", of %zu by trampolines (fentry)", t->trampolines);
	r = trace_drive(&d, &stats, err);
	if (r == 0)
		r = print_closing(opt, p, &stats, err);
	return r < 0 ? r : trace_check_written(&stats, err);
}

static int options_check(const struct functions_options *opt, struct lp_err *err)
{
	if (opt->interval_us &&
		(opt->interval_us < INTERVAL_MIN_US || opt->interval_us > INTERVAL_MAX_US))
		return lp_err_set(err, -EINVAL, "--interval must be from 100ms to 1h");
	if (!opt->functions.n != !opt->pids.n || (!opt->functions.n && !opt->kernel.n))
		return lp_err_set(err, -EINVAL,
			"name a process and its functions: -p PID --functions GLOB (or --kernel "
			"GLOB)");
	return 0;
}

static int run_checked(const struct functions_options *opt, struct lp_err *err)
{
	_cleanup_(probe_places_release) struct probe_places places = {0};
	_cleanup_(probes_freep) struct probes *p = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct trace_output output;
	struct probes_config config = {.observer = output.name,
		.places = &places,
		.limit = opt->limit,
		.interval_us = opt->interval_us ? opt->interval_us : PROBES_INTERVAL_US,
		.at_ends = true,
		.warn = &warn};
	int r = options_check(opt, err);

	if (r == 0)
		r = trace_output_choose(opt->output, opt->name, "functions", &output, err);
	if (r == 0)
		r = places_find(opt, &places, err);
	if (r < 0)
		return r;
	if (!opt->quiet)
		cost_say(opt, &places);
	r = probes_new(&config, &p, err);
	return r < 0 ? r : drive(opt, &config, &output, p, err);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	if (n_args) {
		lp_err_set(err, -EINVAL,
			"unexpected argument '%s' (see 'limpet help trace functions')", args[0]);
		return EXIT_USAGE;
	}
	return trace_exit_code(run_checked(values, err));
}

static const struct example examples[] = {
	{"trace functions -p 812 --functions 'posix_*' -d 30s",
		"how often a server calls these functions, and how long they take"},
	{"trace functions -p 812 --functions 'libc.so.6:*sync*'", "count functions of one library"},
	{NULL, NULL},
};

extern const struct command trace_command_functions;
const struct command trace_command_functions = {
	.name = "trace functions",
	.summary = "count the function calls of a running program",
	.usage = "-p PID --functions GLOB [OPTION...]",
	.description =

		"Counts how often functions of running processes are called and how long each "
		"takes, including waits, and writes an archive as 'limpet trace calls' does. "
		"The programs need no rebuild: the kernel puts probes (uprobes) at the "
		"beginning and the end of each function, and counts. Functions are found by "
		"their symbols, in the executable and in all libraries that are loaded now. The "
		"time of a function does not include other counted functions.\n\n"
		"A probe costs much more than the code that 'limpet cc' adds: 0.6 to 1.2 "
		"microseconds per call, and 10 to 50 if the processor has to step over the "
		"first instruction of the function. If a function begins with endbr64, its "
		"probe is at the next instruction. Before limpet begins, it reports how many "
		"functions are expensive to probe. It removes the probe of a function that is "
		"called more often than --limit.\n\n"
		"A probe at the end of a function replaces its return address. A C++ or Rust "
		"program crashes if an exception or a panic passes such a function, and a Go "
		"program if its stack is moved. In programs that contain code for this, limpet "
		"therefore only counts calls, unless you give --times.\n\n"
		"--kernel counts functions of the kernel, if permitted: the first 64 with "
		"trampolines (fentry), which are cheapest, the others with kprobes.\n\n"
		"Probes need root (or CAP_BPF and CAP_PERFMON), and limpet built with BPF. The "
		"exit status is 0 if everything was written, 2 if probes are not permitted or "
		"not possible here, 3 if counting failed later.",
	.options = options,
	.options_size = sizeof(struct functions_options),
	.examples = examples,
	.run = run,
};
