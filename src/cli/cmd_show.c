#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/show_functions.h"
#include "cli/time_options.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/meant.h"
#include "base/words.h"
#include "import/dataset.h"
#include "model/syscalls.h"
#include "report/call_log.h"
#include "report/listing.h"
#include "report/values.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct show_options {
	struct option_list components, metrics;
	struct time_options times;
	int64_t interval_us;
	bool values, csv, json, raw;
	bool calls, descriptors, failed, each;
	bool functions;
	struct show_functions show_functions;
	struct option_list pids, names, classes, errnos;
	int64_t slower_us;
};

#define AT(member) offsetof(struct show_options, member)

static const struct option_def options[] = {
	{"components", 'c', OPTION_LIST, AT(components), "GLOB",
		"only components whose full name matches, e.g. '*/disk:sd*'; may be repeated "
		"[all]"},
	{"metric", 'm', OPTION_LIST, AT(metrics), "NAME",
		"show the values of this metric; may be repeated or a list with commas"},
	{"values", 0, OPTION_FLAG, AT(values), NULL, "show the values of all metrics"},
	{"raw", 0, OPTION_FLAG, AT(raw), NULL,
		"metrics are the raw columns of the archive (rd_ios, ...), as they were counted"},
	TIME_OPTIONS(struct show_options),
	{"interval", 'i', OPTION_SPAN, AT(interval_us), "SPAN",
		"put values on a grid of this step; all work in between counts [that of the data]"},
	{"csv", 0, OPTION_FLAG, AT(csv), NULL,
		"values as CSV: time,component,metric,value (which limpet reads again)"},
	{"calls", 0, OPTION_FLAG, AT(calls), NULL,
		"print the log of system calls of a trace, as strace does"},
	{"descriptors", 0, OPTION_FLAG, AT(descriptors), NULL,
		"print the log of descriptors: what was opened, accepted, passed on and closed"},
	{"pid", 0, OPTION_LIST, AT(pids), "PID",
		"in logs, only this process or thread; may be repeated"},
	{"call", 0, OPTION_LIST, AT(names), "NAME",
		"only this system call (pwrite64); may be repeated or a list with commas"},
	{"class", 0, OPTION_LIST, AT(classes), "CLASS",
		"only calls of this class: read, write, sync, open, meta, connect, wait, process, "
		"memory or other; may be repeated or a list with commas"},
	{"failed", 0, OPTION_FLAG, AT(failed), NULL,
		"only calls that failed, and processes that were killed; failures of one process "
		"in the same call with the same error are one line and a count"},
	{"each", 0, OPTION_FLAG, AT(each), NULL,
		"with --failed: print every failure on its own line"},
	{"errno", 0, OPTION_LIST, AT(errnos), "NAME",
		"only calls that failed with this error (EMFILE); may be repeated or a list with "
		"commas"},
	{"slower", 0, OPTION_SPAN, AT(slower_us), "SPAN",
		"only calls that took at least this long (10ms)"},
	{"functions", 0, OPTION_FLAG, AT(functions), NULL,
		"list the functions in which the CPUs were found most often, per server"},
	{"top", 0, OPTION_UINT, AT(show_functions.top), "N", "list N functions [10]"},
	{"diff", 0, OPTION_STRING, AT(show_functions.diff), "A,B",
		"with --functions: how the shares of server B differ from those of server A"},
	{"split", 0, OPTION_TIME, AT(show_functions.split_us), "TIME",
		"with --functions: how shares after this time differ from those before"},
	{"flame", 0, OPTION_STRING, AT(show_functions.flame), "FILE",
		"write a flame graph of the stacks (which were recorded with --stacks), as SVG"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON; of logs, one object per line"},
	{NULL},
};

static int nobody_matches(const struct lp_table_options *range, struct lp_err *err)
{
	return lp_err_set(err, -ENOENT, "no component matches '%s'%s%s", range->components[0],
		range->n_components > 1 ? " or the others" : "",
		range->from_us || range->to_us ? " in that time" : "");
}

/* Values on their way to the terminal. */
struct shown {
	const struct show_options *opt;
	const struct lp_table_options *range;
	struct lp_dataset *data;
	struct words names; /* the selected metrics */
	bool found[WORDS_MAX];
	bool any, begun;
};

static int no_metric(const struct shown *s, const char *name, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf nearest = {0};

	data_add_nearest_metric(&nearest, s->data, name, s->opt->raw);
	return lp_err_set(err, -ENOENT, "no selected component has a metric '%s'%s%s%s", name,
		s->range->from_us || s->range->to_us ? " in that time" : "",
		nearest.len ? nearest.text : "",
		nearest.len ? "" : " ('limpet show DATA' lists the metrics)");
}

/* Every selected metric must exist. */
static int shown_complete(const struct shown *s, struct lp_err *err)
{
	if (!s->any && !s->names.n && s->range->components)
		return nobody_matches(s->range, err);
	for (unsigned i = 0; i < s->names.n; i++) {
		if (!s->found[i])
			return no_metric(s, s->names.items[i], err);
	}
	return 0;
}

static int shown_print(const struct shown *s, struct lp_table *const *tables, uint32_t n, bool last,
	struct lp_err *err)
{
	unsigned which = (s->begun ? 0 : VALUES_FIRST) | (last ? VALUES_LAST : 0);

	if (s->opt->csv)
		return values_print_csv(stdout, tables, n, which, err);
	if (!s->opt->json)
		return values_print_text(stdout, tables, n, isatty(STDOUT_FILENO), err);
	values_print_json(stdout, tables, n, which);
	return 0;
}

static int show_piece(
	void *ctx, struct lp_table *const *tables, uint32_t n, bool last, struct lp_err *err)
{
	struct shown *s = ctx;
	int r = 0, complete;

	for (uint32_t t = 0; t < n; t++) {
		for (unsigned i = 0; i < s->names.n; i++)
			s->found[i] |= !strcmp(tables[t]->metric, s->names.items[i]);
	}
	s->any |= n > 0;
	complete = last ? shown_complete(s, err) : 0;
	if (complete == 0 || s->begun)
		r = shown_print(s, tables, n, last, err);
	s->begun = true;
	return r < 0 ? r : complete;
}

static int show_values(struct lp_dataset *ds, const struct show_options *opt,
	const struct lp_table_options *range, struct lp_err *err)
{
	struct shown shown = {.opt = opt, .range = range, .data = ds};
	struct lp_table_options table_opt = *range;
	int r = words_split(&opt->metrics, &shown.names, err);

	if (r == 0) {
		table_opt.metrics = shown.names.n ? shown.names.items : NULL;
		table_opt.n_metrics = shown.names.n;
		table_opt.step_us = opt->interval_us;
		table_opt.raw = opt->raw;
		r = dataset_pieces(ds, &table_opt, show_piece, &shown, err);
	}
	words_release(&shown.names);
	return r;
}

static int show_listing(struct lp_dataset *ds, const struct show_options *opt,
	const struct lp_table_options *range, struct lp_err *err)
{
	struct listing l = {0};
	int r = listing_make(ds, range, &l, err);

	if (r < 0 && r != -EBADMSG)
		return r;
	if (r < 0 && !l.n_components) {
		listing_release(&l); /* there is no intact data, so the error is enough */
		return r;
	}
	if (!l.n_components && range->components) {
		listing_release(&l);
		return nobody_matches(range, err);
	}
	if (opt->json)
		listing_print_json(stdout, &l);
	else
		listing_print_text(stdout, &l, isatty(STDOUT_FILENO));
	listing_release(&l);
	return r;
}

/* The lists of a filter, as numbers. */
struct log_lists {
	int32_t pids[WORDS_MAX];
	int errnos[WORDS_MAX];
	struct words pid_words, names, classes, errno_words;
};

static void log_lists_release(struct log_lists *l)
{
	words_release(&l->pid_words);
	words_release(&l->names);
	words_release(&l->classes);
	words_release(&l->errno_words);
}

static int take_pids(struct log_lists *l, struct call_log_filter *f, struct lp_err *err)
{
	for (unsigned i = 0; i < l->pid_words.n; i++) {
		char *end;
		long pid = strtol(l->pid_words.items[i], &end, 10);

		if (*end || pid <= 0 || pid > INT32_MAX)
			return lp_err_set(err, -EINVAL, "--pid: '%s' is not the id of a process",
				l->pid_words.items[i]);
		l->pids[f->n_pids++] = (int32_t)pid;
	}
	f->pids = l->pids;
	return 0;
}

/* Is there a call with this name, here or in the 32-bit table? */
static bool is_call(const char *name)
{
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		const struct syscall_info *s = syscall_get_compat(nr);

		if (s && !strcmp(s->name, name))
			return true;
	}
	return syscall_number(name) >= 0;
}

static int call_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		const struct syscall_info *s = syscall_get(nr);

		if (s)
			meant_consider(&m, s->name);
	}
	return lp_err_set(
		err, -EINVAL, "--call: there is no system call '%s'%s", name, meant_question(&m));
}

static int take_names(struct log_lists *l, struct call_log_filter *f, struct lp_err *err)
{
	for (unsigned i = 0; i < l->names.n; i++) {
		if (!is_call(l->names.items[i]))
			return call_unknown(l->names.items[i], err);
	}
	f->names = l->names.items;
	f->n_names = l->names.n;
	return 0;
}

static int class_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (unsigned c = 0; c < TRACE_CALLS; c++)
		meant_consider(&m, trace_call_name(c));
	return lp_err_set(err, -EINVAL,
		"--class: '%s' is none of read, write, sync, open, meta, connect, wait, process, "
		"memory, other%s",
		name, meant_question(&m));
}

static int take_classes(struct log_lists *l, struct call_log_filter *f, struct lp_err *err)
{
	for (unsigned i = 0; i < l->classes.n; i++) {
		unsigned c = 0;

		while (c < TRACE_CALLS && strcmp(trace_call_name(c), l->classes.items[i]) != 0)
			c++;
		if (c == TRACE_CALLS)
			return class_unknown(l->classes.items[i], err);
		f->classes |= 1u << c;
	}
	return 0;
}

static int take_errnos(struct log_lists *l, struct call_log_filter *f, struct lp_err *err)
{
	for (unsigned i = 0; i < l->errno_words.n; i++) {
		int number = errno_number(l->errno_words.items[i]);

		if (!number)
			return lp_err_set(err, -EINVAL, "--errno: there is no error '%s'",
				l->errno_words.items[i]);
		l->errnos[f->n_errnos++] = number;
	}
	f->errnos = l->errnos;
	return 0;
}

static int filter_make(const struct show_options *opt, struct log_lists *l,
	struct call_log_filter *f, struct lp_err *err)
{
	int r = words_split(&opt->pids, &l->pid_words, err);

	if (r == 0)
		r = words_split(&opt->names, &l->names, err);
	if (r == 0)
		r = words_split(&opt->classes, &l->classes, err);
	if (r == 0)
		r = words_split(&opt->errnos, &l->errno_words, err);
	if (r == 0)
		r = take_pids(l, f, err);
	if (r == 0)
		r = take_names(l, f, err);
	if (r == 0)
		r = take_classes(l, f, err);
	return r == 0 ? take_errnos(l, f, err) : r;
}

static int show_logs(struct lp_dataset *ds, const struct show_options *opt, struct lp_warn *warn,
	struct lp_err *err)
{
	_cleanup_(log_lists_release) struct log_lists lists = {0};
	struct call_log_filter filter = {.calls = opt->calls,
		.descriptors = opt->descriptors,
		.json = opt->json,
		.from_us = opt->times.since_us,
		.to_us = opt->times.until_us,
		.failed = opt->failed,
		.fold = opt->failed && !opt->each,
		.slower_ns = opt->slower_us * 1000};
	int r = filter_make(opt, &lists, &filter, err);

	return r < 0 ? r : call_log_print(stdout, ds, &filter, warn, err);
}

static int check_functions(const struct show_options *opt, bool logs, struct lp_err *err)
{
	const struct show_functions *f = &opt->show_functions;

	if (!opt->functions && (f->top || f->diff || f->split_us || f->flame))
		return lp_err_set(
			err, -EINVAL, "--top, --diff, --split and --flame are for --functions");
	if (opt->functions &&
		(logs || opt->metrics.n || opt->values || opt->csv || opt->raw || opt->interval_us))
		return lp_err_set(err, -EINVAL,
			"--functions counts samples: no logs, metrics, intervals or CSV");
	return 0;
}

/* Refuse options that have no meaning together. */
static int check_options(const struct show_options *opt, struct lp_err *err)
{
	bool logs = opt->calls || opt->descriptors;
	bool filters = opt->pids.n || opt->names.n || opt->classes.n || opt->errnos.n ||
		opt->failed || opt->each || opt->slower_us;

	if (filters && !logs)
		return lp_err_set(err, -EINVAL,
			"--pid, --call, --class, --errno, --failed and --slower are for --calls "
			"and "
			"--descriptors");
	if (logs && (opt->metrics.n || opt->values || opt->csv || opt->raw || opt->components.n))
		return lp_err_set(err, -EINVAL,
			"--calls and --descriptors print logs: no components, metrics or CSV");
	return check_functions(opt, logs, err);
}

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

/* Add the nearest components to the error that none matches. */
static void suggest_component(struct lp_dataset *ds, const char *name, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	struct lp_err before = *err;

	data_add_nearest(&sb, ds, name);
	if (sb.text)
		lp_err_set(err, before.code, "%s%s", before.text, sb.text);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	struct show_options *opt = values;
	_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
	struct lp_warn warn = {.warn = data_print_once};
	struct lp_table_options range = {
		.components = opt->components.n ? opt->components.items : NULL,
		.n_components = opt->components.n};
	int r = check_options(opt, err);

	if (r == 0)
		r = data_open(data, args, n_args, &warn, &ds, err);
	if (r == 0)
		r = time_options_settle(&opt->times, ds, err);
	if (r < 0)
		return command_exit_code(r);
	range.from_us = opt->times.since_us;
	range.to_us = opt->times.until_us;
	if (opt->functions)
		r = show_functions(ds, &opt->show_functions, &range, opt->json, err);
	else if (opt->calls || opt->descriptors)
		r = show_logs(ds, opt, &warn, err);
	else if (opt->metrics.n || opt->values || opt->csv || opt->raw)
		r = show_values(ds, opt, &range, err);
	else
		r = show_listing(ds, opt, &range, err);
	if (r == -ENOENT && opt->components.n)
		suggest_component(ds, opt->components.items[0], err);
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"show /var/lib/limpet", "its components, times, gaps and means"},
	{"show -m await -m %util -c '*/disk:*' --since 2011-05-09 DATA", "values in columns"},
	{"show --csv -m await /var/log/sysstat/sa15", "straight from a sysstat file"},
	{"show --calls --failed s3.lpa c1.lpa",
		"what failed on a server and on a client, in time order"},
	{"show --calls --slower 100ms --class read,write s3.lpa", "I/O that took long"},
	{"show --functions --diff oss1,oss3 DATA", "what oss3 does that oss1 does not"},
	{"show --raw -m rd_ios,wr_ios --interval 1m DATA", "counters as they were recorded"},
	{NULL, NULL},
};

extern const struct command command_show;
const struct command command_show = {
	.name = "show",
	.summary = "list the contents of data, or print its values",
	.usage = "[OPTION...] [DATA...]",
	.description =

		"DATA is an archive, a directory of archives, or anything that limpet imports (a "
		"sysstat file, CSV). Several of them are put on one time grid.\n\n"
		"Without DATA it reads the archives in this directory, or in /var/lib/limpet. "
		"Without --metric or --values it lists observers with their time spans and gaps, "
		"components with their stable names, and the means of the most important metrics. "
		"With them it prints values: one line per time and component, or CSV or JSON.\n\n"
		"With --calls it prints the system calls, signals, starts and ends of processes "
		"that 'limpet trace syscalls' logged, one line each: time (UTC), process/thread, "
		"the call with the names of its descriptors, its result, and its duration in "
		"seconds ('~': most of it was the cost of tracing). A call that had not returned "
		"says so. Lines of several archives are in the order of time and begin with their "
		"observer. A line says where events were lost, and how many.\n\n"
		"With --functions it lists, per server, the functions in which 'limpet record "
		"--collect profile' or 'limpet trace samples' found the CPUs most often: their "
		"share of all samples, and PROGRAM:IMAGE:FUNCTION. --diff compares two servers and "
		"--split two times by these shares, the largest difference first.",
	.options = options,
	.options_size = sizeof(struct show_options),
	.takes_data = true,
	.examples = examples,
	.run = run,
};
