#include "cli/command.h"
#include "cli/stop.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "lab/run.h"
#include "report/json.h"
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES_DEFAULT 2
#define TRIES_MAX 100
#define PARTS_MAX 1000
#define SPARE_US (15 * US_PER_SEC) /* start and end of an experiment, for the list */

struct run_options {
	const char *plan, *output, *name, *only, *part, *trace, *prefix;
	uint64_t seed, tries;
	bool list, keep, json, accept;
};

#define AT(member) offsetof(struct run_options, member)

static const struct option_def options[] = {
	{"plan", 'p', OPTION_STRING, AT(plan), "PLAN",
		"a file of experiments, or the name of a built-in plan"},
	{"output", 'o', OPTION_STRING, AT(output), "DIR",
		"directory for the recordings and the truth"},
	{"name", 0, OPTION_STRING, AT(name), "LAB",
		"name of the lab; a lab of that name that is up is used if it has the plan's "
		"file system and numbers of servers and clients [lab]"},
	{"prefix", 0, OPTION_STRING, AT(prefix), "DIR",
		"use the file system that is installed there (for example one built with "
		"'limpet cc') instead of the one in $PATH"},
	{"seed", 0, OPTION_UINT, AT(seed), "N",
		"seed of all random choices: which servers are broken, and the disks [the "
		"plan's, or 1]"},
	{"only", 0, OPTION_STRING, AT(only), "GLOB",
		"run only experiments whose names match, such as 'ddw-*'"},
	{"part", 0, OPTION_STRING, AT(part), "I/N",
		"run every N-th experiment, beginning with the I-th, so that N labs (each with "
		"a --name) can share a plan and a DIR"},
	{"trace", 0, OPTION_STRING, AT(trace), "MODE",
		"also record the system calls of servers and clients: none, summary or records "
		"[the plan's, or none]"},
	{"tries", 0, OPTION_UINT, AT(tries), "N",
		"repeat an experiment during which this machine was too busy; at most N runs [2]"},
	{"accept-disturbed", 0, OPTION_FLAG, AT(accept), NULL,
		"accept experiments during which this machine was too busy; their JSON says how "
		"busy"},
	{"list", 0, OPTION_FLAG, AT(list), NULL, "print the experiments, and run nothing"},
	{"keep", 0, OPTION_FLAG, AT(keep), NULL,
		"leave the lab up at the end [remove it, even if it was up before]"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the list or the closing summary as JSON"},
	{NULL},
};

/* The selection of experiments of the plan. */
struct choice {
	const char *only;
	unsigned part, parts;
};

static bool chosen(void *ctx, const struct experiment *e, unsigned i)
{
	const struct choice *c = ctx;

	if (i % c->parts != c->part - 1)
		return false;
	return !c->only || fnmatch(c->only, e->name, 0) == 0;
}

static int choice_parse(const struct run_options *opt, struct choice *ret, struct lp_err *err)
{
	char *slash, *end = NULL;

	*ret = (struct choice){.only = opt->only, .part = 1, .parts = 1};
	if (!opt->part)
		return 0;
	ret->part = (unsigned)strtoul(opt->part, &slash, 10);
	ret->parts = *slash == '/' ? (unsigned)strtoul(slash + 1, &end, 10) : 0;
	if (!ret->part || ret->part > ret->parts || !end || *end || ret->parts > PARTS_MAX)
		return lp_err_set(
			err, -EINVAL, "--part: '%.64s' is not like 1/2 or 2/2", opt->part);
	return 0;
}

static int usage_check(int n_args, char **args, struct run_options *opt, struct lp_err *err)
{
	if (n_args)
		return lp_err_set(err, -EINVAL,
			"unexpected argument '%.64s' (see 'limpet help lab run')", args[0]);
	if (!opt->plan)
		return lp_err_set(err, -EINVAL,
			"name a plan: --plan FILE, or a built-in plan (see 'limpet help lab run')");
	if (!opt->list && !opt->output)
		return lp_err_set(err, -EINVAL, "name a directory for the recordings with -o DIR");
	if (!opt->tries)
		opt->tries = TRIES_DEFAULT;
	if (opt->tries > TRIES_MAX)
		return lp_err_set(err, -EINVAL, "--tries must be at most %d", TRIES_MAX);
	return 0;
}

static int trace_choose(const char *mode, struct plan *p, struct lp_err *err)
{
	enum plan_trace trace = PLAN_TRACE_NONE;
	int r = mode ? plan_trace_parse(mode, &trace, err) : 0;

	for (unsigned i = 0; r == 0 && mode && i < p->n_experiments; i++)
		p->experiments[i].trace = trace;
	return r;
}

/* The plan with the options of the command line. */
static int plan_choose(const struct run_options *opt, struct plan *ret, struct lp_err *err)
{
	const char *name = opt->name ? opt->name : LAB_DEFAULT_NAME;
	struct choice choice;
	struct lab lab;
	int r = choice_parse(opt, &choice, err);

	if (r == 0)
		r = plan_load(opt->plan, ret, err);
	if (r < 0)
		return r;
	if (strlen(name) >= sizeof(ret->lab.name))
		return lp_err_set(err, -EINVAL, "--name: '%.64s' is too long", name);
	snprintf(ret->lab.name, sizeof(ret->lab.name), "%s", name);
	if (opt->seed)
		ret->lab.seed = opt->seed;
	if (opt->prefix)
		r = lab_prefix_set(&ret->lab, opt->prefix, err);
	if (r == 0)
		r = lab_init(&lab, &ret->lab, err);
	if (r < 0)
		return r;
	r = trace_choose(opt->trace, ret, err);
	if (r < 0)
		return r;
	plan_place(ret);
	plan_keep(ret, chosen, &choice);
	if (!ret->n_experiments)
		return lp_err_set(err, -EINVAL, "none of the plan's experiments is left to run");
	return 0;
}

/* "3 h 12 min", "4 min", "50 s". */
static const char *span_words(int64_t us, char buf[TIME_TEXT_MAX])
{
	int64_t s = us / US_PER_SEC;

	if (s >= 3600)
		snprintf(
			buf, TIME_TEXT_MAX, "%" PRId64 " h %" PRId64 " min", s / 3600, s / 60 % 60);
	else if (s >= 60)
		snprintf(buf, TIME_TEXT_MAX, "%" PRId64 " min", (s + 30) / 60);
	else
		snprintf(buf, TIME_TEXT_MAX, "%" PRId64 " s", s);
	return buf;
}

static int64_t plan_us(const struct plan *p)
{
	int64_t us = 0;

	for (unsigned i = 0; i < p->n_experiments; i++)
		us += experiment_us(&p->experiments[i]) + SPARE_US;
	return us;
}

static void list_text(const struct plan *p)
{
	char faults_text[256], span[TIME_TEXT_MAX];

	for (unsigned i = 0; i < p->n_experiments; i++) {
		const struct experiment *e = &p->experiments[i];

		printf("%-40s %-8s %-44s %s\n", e->name, e->workload->name,
			experiment_faults(e, faults_text, sizeof(faults_text)),
			span_format(experiment_us(e), span));
	}
	printf("%u experiments, %u servers, %u clients, about %s\n", p->n_experiments,
		p->lab.n_servers, p->lab.n_clients, span_words(plan_us(p), span));
}

static int list_json(const struct plan *p)
{
	json_t *all = json_array(), *root;
	char faults_text[256];
	int r;

	for (unsigned i = 0; i < p->n_experiments; i++) {
		const struct experiment *e = &p->experiments[i];

		json_array_append_new(all,
			json_pack("{s:s, s:s, s:s, s:b, s:s, s:f}", "name", e->name, "workload",
				e->workload->name, "faults",
				experiment_faults(e, faults_text, sizeof(faults_text)), "train",
				e->train, "trace", plan_trace_names[e->trace], "seconds",
				(double)experiment_us(e) / 1e6));
	}
	root = json_pack("{s:s, s:i, s:i, s:I, s:f, s:o}", "fs", p->lab.fs, "servers",
		(int)p->lab.n_servers, "clients", (int)p->lab.n_clients, "seed",
		(json_int_t)p->lab.seed, "seconds", (double)plan_us(p) / 1e6, "experiments", all);
	r = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(root);
	putchar('\n');
	return r < 0 ? -EIO : 0;
}

/* Progress for people, on stderr: a line that changes or, without a terminal, one line per
 * experiment. */
struct display {
	bool terminal;
	int64_t shown_s; /* of the remaining time: the line changes once per second */
	const char *phase;
};

static bool is_end(const char *phase)
{
	return !strcmp(phase, "recorded") || !strcmp(phase, "skipped") ||
		!strcmp(phase, "disturbed") || !strcmp(phase, "failed");
}

static void tell(void *ctx, const char *experiment, const char *phase, unsigned done, unsigned of,
	int64_t left_us)
{
	struct display *d = ctx;
	char span[TIME_TEXT_MAX];
	bool end = is_end(phase);

	if (!d->terminal && !end)
		return;
	if (d->terminal && !end && d->phase == phase && d->shown_s == left_us / US_PER_SEC)
		return;
	d->phase = phase;
	d->shown_s = left_us / US_PER_SEC;
	if (d->terminal)
		fputs("\r\033[K", stderr);
	if (*experiment)
		fprintf(stderr, "%u/%u %s: %s, %s left", done + 1, of, experiment, phase,
			span_words(left_us, span));
	else
		fputs(phase, stderr);
	if (end || !d->terminal)
		fputc('\n', stderr);
	fflush(stderr);
}

static void note(void *ctx, const char *text)
{
	const struct display *d = ctx;

	fprintf(stderr, "%slimpet lab run: %s\n", d->terminal ? "\r\033[K" : "", text);
}

static void print_summary(
	const struct run_options *opt, const struct plan *p, const struct run_result *r)
{
	if (opt->json)
		printf("{\"experiments\":%u,\"done\":%u,\"skipped\":%u,\"disturbed\":%u,"
		       "\"failed\":%u}\n",
			p->n_experiments, r->done, r->skipped, r->disturbed, r->failed);
	else
		fprintf(stderr,
			"%u experiments: %u recorded, %u there already, %u disturbed, %u failed\n",
			p->n_experiments, r->done, r->skipped, r->disturbed, r->failed);
}

static int run_it(const struct run_options *opt, const struct plan *p, struct lp_err *err)
{
	struct display display = {.terminal = isatty(STDERR_FILENO), .shown_s = -1};
	struct run_config config = {.out = opt->output,
		.tries = (unsigned)opt->tries,
		.accept = opt->accept,
		.keep_lab = opt->keep,
		.tell = tell,
		.note = note,
		.ctx = &display,
		.stop = &stop_signal};
	struct run_result result = {0};
	int r;

	stop_catch();
	r = run_plan(p, &config, &result, err);
	if (display.terminal)
		fputs("\r\033[K", stderr);
	if (r == -EINTR)
		return lp_err_set(err, r,
			"interrupted after %u of %u experiments; the same command continues",
			result.done + result.skipped, p->n_experiments);
	if (r < 0)
		return r;
	print_summary(opt, p, &result);
	if (result.disturbed || result.failed)
		return lp_err_set(err, -EIO,
			"%u experiments are missing; the same command tries them again",
			result.disturbed + result.failed);
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	_cleanup_(plan_release) struct plan plan = {0};
	struct run_options *opt = values;
	int r = usage_check(n_args, args, opt, err);

	(void)data;
	if (r == 0)
		r = plan_choose(opt, &plan, err);
	if (r == 0 && opt->list && opt->json)
		r = list_json(&plan);
	else if (r == 0 && opt->list)
		list_text(&plan);
	else if (r == 0)
		r = run_it(opt, &plan, err);
	/* Missing experiments are not an error of usage or of the plan. */
	return r == -EINTR || r == -EIO ? EXIT_INTERNAL : command_exit_code(r);
}

static bool plan_choice(size_t i, struct command_choice *ret)
{
	if (plan_texts[i].name)
		*ret = (struct command_choice){plan_texts[i].name, plan_texts[i].summary};
	return plan_texts[i].name;
}

static const struct example examples[] = {
	{"lab run --plan quick -o runs", "run ten experiments, in 45 minutes"},
	{"lab run --plan paper --list", "print what would be run, and how long it would take"},
	{"lab run --plan campaign -o runs --only 'ddw-disk-*'", "run some of the experiments"},
	{NULL, NULL},
};

extern const struct command lab_verb_run;
const struct command lab_verb_run = {
	.name = "lab run",
	.summary = "run experiments and record them",
	.usage = "--plan PLAN -o DIR [OPTION...]",
	.description =
		"Brings a lab up, runs the experiments of a plan in it, and removes it. An "
		"experiment is a workload on all clients with four phases: warm-up, clean, "
		"fault, recovery. From the clean phase on, 'limpet record' records every server "
		"and client.\n\n"
		"    DIR/EXPERIMENT/       the recording; 'limpet diagnose' reads it\n"
		"    DIR/EXPERIMENT.json   what was done and when, throughput of each phase\n"
		"    DIR/truth.csv         which server had which fault; 'limpet score' reads "
		"it\n\n"
		"PLAN is a built-in plan (listed below; --list prints what is in it) or a file. "
		"In a file each line is one of these; '#' begins a comment:\n\n"
		"    servers 6                the lab: these five lines come before the\n"
		"    clients 6                first experiment; the defaults are those\n"
		"    fs gluster               of 'limpet lab up'\n"
		"    seed 1                   which servers are broken, and the disks\n"
		"    disk 512M                size of a server's disk\n"
		"    phases 10s 60s 120s 60s  warm-up, clean, fault, recovery\n"
		"    trace summary            system calls, too: none, summary, records\n"
		"    functions both           of servers, too: none, samples, calls, both\n"
		"    repeat 2                 run each line that follows twice\n"
		"    train ddw,ddr            without a fault, for 'limpet train'\n"
		"    run ddw,ddr none         without a fault, a control\n"
		"    run ddw disk-hog,slow-disk:4@s3\n"
		"    run ddr disk-busy+send-pktloss\n\n"
		"Commas separate alternatives: every workload with every fault. '+' joins "
		"faults that are active at once. ':' precedes a strength, '@' a server; a fault "
		"without a server gets a different one each time. 'phases', 'trace', "
		"'functions' and 'repeat' apply to the lines that follow. 'limpet help lab "
		"work' lists workloads, 'limpet lab inject --list' faults. The name of an "
		"experiment is WORKLOAD-FAULT-NUMBER, such as ddw-disk-hog-1.\n\n"
		"Experiments that are already in DIR are not run again, so the same command "
		"continues an interrupted run. An experiment during which this machine itself "
		"was too busy is not trusted: it is repeated, and if that does not help, it is "
		"kept as DIR/EXPERIMENT.disturbed and does not count. An experiment that fails "
		"is repeated once.\n\n"
		"The exit status is 0 if all experiments are there, 2 if the plan is wrong or "
		"this machine lacks something that a lab needs, and 3 if experiments are "
		"missing because the run was interrupted, or because some failed or were "
		"disturbed.",
	.options = options,
	.options_size = sizeof(struct run_options),
	.choices = "built-in plans",
	.choice = plan_choice,
	.examples = examples,
	.run = run,
};
