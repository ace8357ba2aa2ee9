#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/functions_select.h"

#include "base/cleanup.h"
#include "base/output.h"
#include "base/time.h"
#include "trace/calls/calls_budget.h"
#include "trace/calls/calls_clock.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOP_DEFAULT 20
#define SPAN_DEFAULT_US (2 * US_PER_SEC)
#define BUDGET_DEFAULT 0.01

struct functions_options {
	const char *apply, *output, *budget;
	int64_t duration_us;
	uint64_t pid, top;
	bool select, few, all, json;
};

#define AT(member) offsetof(struct functions_options, member)

static const struct option_def options[] = {
	{"select", 0, OPTION_FLAG, AT(select), NULL,
		"decide from recordings which functions are worth counting, and write the list"},
	{"budget", 0, OPTION_STRING, AT(budget), "P%",
		"with --select: limit the cost of counting on a server to this share of a CPU "
		"[1%]"},
	{"few", 0, OPTION_FLAG, AT(few), NULL,
		"with --select: leave on only functions that distinguished servers"},
	{"output", 'o', OPTION_STRING, AT(output), "FILE",
		"with --select: write the list to this file [standard output]"},
	{"apply", 0, OPTION_STRING, AT(apply), "FILE",
		"switch functions of running programs on and off, as the list says"},
	{"pid", 'p', OPTION_UINT, AT(pid), "PID",
		"look only at this process [all that count their calls]"},
	{"duration", 'd', OPTION_SPAN, AT(duration_us), "SPAN",
		"watch running programs for this time [2s]"},
	{"top", 0, OPTION_UINT, AT(top), "N", "list N functions, the most expensive first [20]"},
	{"all", 0, OPTION_FLAG, AT(all), NULL, "list all functions"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the list as JSON"},
	{NULL},
};

DEFINE_CLEANUP(struct calls *, calls_free);
DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

static size_t top_of(const struct functions_options *opt)
{
	return opt->all ? 0 : opt->top ? (size_t)opt->top : TOP_DEFAULT;
}

static int list_print(
	const struct functions_options *opt, const struct function_costs *c, struct lp_err *err)
{
	if (!opt->json)
		function_costs_print(stdout, c, top_of(opt));
	else if (function_costs_json(stdout, c, top_of(opt)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot print functions");
	return 0;
}

/* The cost of counting on this machine. Recordings do not contain the cost on their machine. */
static void cost_measure(struct function_costs *c)
{
	struct calls_clock clock;

	calls_clock_init(&clock);
#if defined(__x86_64__)
	c->call_ns = clock.call_ns[CALLS_CLOCK_TSC];
#else
	c->call_ns = clock.call_ns[CALLS_CLOCK_NS];
#endif
}

/* Handle each DATA separately, because it may be another experiment. */
static int data_each(char **args, int n_args, const struct data_options *data, bool telling,
	struct function_costs *c, struct lp_err *err)
{
	static const char *const metrics[] = {"samples", "fcalls", "ftime"};
	struct lp_warn warn = {.warn = data_print_once};
	struct lp_diagnose_options how = {.metrics = metrics, .n_metrics = 3};
	int r = 0;

	cost_measure(c);
	for (int i = 0; i < n_args && (r == 0 || r == -EBADMSG); i++) {
		_cleanup_(lp_dataset_closep) struct lp_dataset *ds = NULL;
		int got = data_open(data, args + i, 1, &warn, &ds, err);

		if (got == 0)
			got = function_costs_read(c, ds, err);
		if ((got == 0 || got == -EBADMSG) && telling) {
			int found = functions_find_telling(c, ds, &how, err);

			got = found < 0 ? found : got;
		}
		r = got < 0 ? got : r;
	}
	if ((r == 0 || r == -EBADMSG) && !c->n)
		r = lp_err_set(err, -ENOENT,
			"there are no calls of functions in the data ('limpet record --collect "
			"calls' "
			"reads those of programs that 'limpet cc' built)");
	return r;
}

static int select_write(const struct functions_options *opt, const struct function_costs *c,
	const struct functions_choice *choice, struct lp_err *err)
{
	_cleanup_(output_release) struct output to = {0};
	FILE *out;
	int r, fd;

	if (!opt->output)
		return functions_write(stdout, c, choice);
	r = output_open(&to, opt->output, err);
	if (r < 0)
		return r;
	fd = dup(to.fd);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	r = out ? functions_write(out, c, choice) : -errno;
	if (out && fclose(out) != 0 && r == 0)
		r = -errno;
	if (r < 0)
		return lp_err_sys(err, r, "cannot write %s", opt->output);
	fprintf(stderr, "%s: %zu function%s on (%zu distinguished servers), %zu off\n", opt->output,
		choice->n_on, choice->n_on == 1 ? "" : "s", choice->n_telling, choice->n_off);
	return output_commit(&to, opt->output, err);
}

static int run_select(const struct functions_options *opt, char **args, int n_args,
	const struct data_options *data, struct lp_err *err)
{
	_cleanup_(function_costs_release) struct function_costs c = {0};
	struct functions_choice choice;
	double budget = BUDGET_DEFAULT;
	int r = opt->budget ? calls_budget_parse(opt->budget, &budget, err) : 0, damaged;

	if (r < 0)
		return r;
	if (!n_args)
		return lp_err_set(err, -EINVAL, "--select: name the recordings");
	damaged = data_each(args, n_args, data, true, &c, err);
	if (damaged < 0 && damaged != -EBADMSG)
		return damaged;
	if (functions_choose(&c, budget, opt->few, &choice) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot choose functions");
	r = select_write(opt, &c, &choice, err);
	return r < 0 ? r : damaged;
}

static int run_recordings(const struct functions_options *opt, char **args, int n_args,
	const struct data_options *data, struct lp_err *err)
{
	_cleanup_(function_costs_release) struct function_costs c = {0};
	int r = data_each(args, n_args, data, false, &c, err), printed;

	if (r < 0 && r != -EBADMSG)
		return r;
	printed = list_print(opt, &c, err);
	return printed < 0 ? printed : r;
}

/* There must be a program to examine. */
static int live_check(
	const struct functions_options *opt, const struct calls *live, struct lp_err *err)
{
	if (calls_totals(live)->programs)
		return 0;
	if (opt->pid)
		return lp_err_set(err, -ESRCH,
			"process %" PRIu64
			" does not count its calls ('limpet cc' builds programs that do), or is "
			"not yours",
			opt->pid);
	return lp_err_set(
		err, -ESRCH, "no program here counts its calls ('limpet cc' builds those that do)");
}

static int run_live(const struct functions_options *opt, struct lp_err *err)
{
	_cleanup_(function_costs_release) struct function_costs c = {0};
	_cleanup_(calls_freep) struct calls *live = NULL;
	struct lp_warn warn = {.warn = data_print_once};
	_cleanup_(calls_list_release) struct calls_list list = {0};
	struct calls_config config = {.observer = "",
		.passive = true,
		.idle = true,
		.pid = (pid_t)opt->pid,
		.warn = &warn};
	int r = opt->apply ? function_list_read(opt->apply, &list, err) : 0;

	if (r < 0)
		return r;
	config.list = opt->apply ? &list : NULL;
	r = calls_new(&config, &live, err);
	if (r == 0)
		r = live_check(opt, live, err);
	if (r < 0)
		return r;
	if (opt->apply) {
		const struct calls_totals *t = calls_totals(live);

		printf("%" PRIu64 " process%s: %" PRIu64 " function%s switched off, %" PRIu64
		       " switched on\n",
			t->programs, t->programs == 1 ? "" : "es", t->switched_off,
			t->switched_off == 1 ? "" : "s", t->switched_on);
		return 0;
	}
	r = function_costs_watch(
		&c, live, opt->duration_us ? opt->duration_us : SPAN_DEFAULT_US, err);
	return r < 0 ? r : list_print(opt, &c, err);
}

static int run_checked(const struct functions_options *opt, char **args, int n_args,
	const struct data_options *data, struct lp_err *err)
{
	if (opt->select && opt->apply)
		return lp_err_set(err, -EINVAL, "--select and --apply exclude each other");
	if (!opt->select && (opt->few || opt->budget || opt->output))
		return lp_err_set(err, -EINVAL, "--budget, --few and --output belong to --select");
	if (n_args && (opt->pid || opt->apply || opt->duration_us))
		return lp_err_set(err, -EINVAL,
			"--pid, --apply and --duration are about running programs, not recordings");
	if (opt->pid > INT_MAX)
		return lp_err_set(err, -EINVAL, "--pid: there is no process %" PRIu64, opt->pid);
	if (opt->select)
		return run_select(opt, args, n_args, data, err);
	return n_args ? run_recordings(opt, args, n_args, data, err) : run_live(opt, err);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	int r = run_checked(values, args, n_args, data, err);

	return r == -ESRCH ? EXIT_USAGE : command_exit_code(r);
}

static const struct example examples[] = {
	{"functions", "list the functions that programs on this machine count"},
	{"functions DATA", "list the functions in recordings"},
	{"functions --select -o few DATA...", "write a list of those that are worth counting"},
	{"functions --apply few -p 812", "count only those that are on in the list, from now on"},
	{NULL, NULL},
};

extern const struct command command_functions;
const struct command command_functions = {
	.name = "functions",
	.summary = "list and choose the functions whose calls are counted",
	.usage = "[OPTION...] [DATA...]",
	.description =

		"Lists the functions of programs that were built with 'limpet cc': calls per "
		"second, the time spent in each itself, and the cost of counting its calls, as "
		"a share of a CPU. Without DATA, it looks at running programs and lists all "
		"functions that they have called since they started. With DATA, it reads "
		"recordings; of several servers, it lists the numbers of the one that calls a "
		"function most often.\n\n"
		"Counting every call of every function is seldom worth its cost. --select "
		"decides from recordings which functions to leave on: functions that "
		"distinguished servers in any recording (the evidence of 'limpet diagnose') "
		"stay on. Of the others, it switches off those that are called most often, "
		"until the rest costs at most --budget; with --few, it switches off all others. "
		"Each DATA is diagnosed by itself, so pass each experiment as a separate "
		"argument.\n\n"
		"The list is a text file of lines 'on NAME' and 'off NAME', with shell "
		"wildcards; the last line that matches a function decides. It is used when a "
		"program is built ('limpet cc --functions FILE'), when it starts (the "
		"environment variable LIMPET_CALLS_FUNCTIONS), while it runs (--apply), and "
		"while it is recorded ('limpet record --collect calls --functions FILE').",
	.options = options,
	.options_size = sizeof(struct functions_options),
	.takes_data = true,
	.computes = true,
	.examples = examples,
	.run = run,
};
