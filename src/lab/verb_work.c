#include "cli/command.h"

#include "base/meant.h"
#include "base/time.h"
#include "lab/workload.h"
#include <errno.h>
#include <stdio.h>
#include <time.h>

struct work_options {
	const char *name;
	int64_t for_us;
	bool stop, json;
};

#define AT(member) offsetof(struct work_options, member)

static const struct option_def options[] = {
	{"name", 0, OPTION_STRING, AT(name), "NAME", "name of the lab [lab]"},
	{"for", 0, OPTION_SPAN, AT(for_us), "SPAN",
		"stop the workload after this time, and print the throughput"},
	{"stop", 0, OPTION_FLAG, AT(stop), NULL, "stop the running workload; needs no WORKLOAD"},
	{NULL},
};

static int choose(const char *name, const struct workload **ret, struct lp_err *err)
{
	char known[128] = "";
	size_t len = 0;
	const struct workload *w = workload_find(name);
	struct meant m = {.word = name};

	for (const struct workload *const *i = workloads; !w && *i; i++)
		meant_consider(&m, (*i)->name);
	for (const struct workload *const *i = workloads; !w && *i && len < sizeof(known); i++)
		len += (size_t)snprintf(
			known + len, sizeof(known) - len, "%s%s", len ? ", " : "", (*i)->name);
	if (!w)
		return lp_err_set(err, -EINVAL, "there is no workload '%s'%s (there are %s)", name,
			meant_question(&m), known);
	*ret = w;
	return 0;
}

static int start(const struct lab *lab, const struct workload *w, struct lp_err *err)
{
	int r = workload_check(w, err);
	if (r == 0)
		r = workload_prepare(lab, w, NULL, err);
	return r < 0 ? r : workload_start(lab, w, 0, err);
}

/* Run the workload for a time, and report its speed. Always stops it. */
static int measure(const struct lab *lab, int64_t us, bool json, struct lp_err *err)
{
	const struct timespec span = {us / US_PER_SEC, us % US_PER_SEC * 1000};
	uint64_t before = 0, after = 0;
	int r = workload_bytes(lab, &before, err);
	if (r == 0) {
		nanosleep(&span, NULL);
		r = workload_verify(lab, err);
	}
	if (r == 0)
		r = workload_bytes(lab, &after, err);
	int stopped = workload_stop(lab, r < 0 ? NULL : err);
	r = r < 0 ? r : stopped;
	if (r == 0)
		printf(json ? "{\"mb_per_s\": %.1f}\n" : "%.1f MB/s\n",
			(double)(after - before) / (double)us);
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct work_options *opt = values;
	const struct workload *w = NULL;
	struct lab lab;
	(void)data;
	if (n_args != (opt->stop ? 0 : 1) || opt->for_us < 0) {
		lp_err_set(err, -EINVAL, "name one WORKLOAD, or give --stop");
		return EXIT_USAGE;
	}
	if (!opt->stop && choose(args[0], &w, err) < 0)
		return EXIT_USAGE;
	int r = lab_load(opt->name ? opt->name : LAB_DEFAULT_NAME, &lab, err);
	if (r == 0 && opt->stop)
		r = workload_stop(&lab, err);
	else if (r == 0)
		r = start(&lab, w, err);
	if (r == 0 && opt->for_us)
		r = measure(&lab, opt->for_us, opt->json, err);
	return command_exit_code(r);
}

static bool workload_choice(size_t i, struct command_choice *ret)
{
	if (workloads[i])
		*ret = (struct command_choice){workloads[i]->name, workloads[i]->summary};
	return workloads[i];
}

static const struct example examples[] = {
	{"lab work ddw", "let all clients write, until 'limpet lab work --stop'"},
	{"lab work ddr --for 10s", "let them read for ten seconds, and print the throughput"},
	{NULL, NULL},
};

extern const struct command lab_verb_work;
const struct command lab_verb_work = {
	.name = "lab work",
	.summary = "let all clients of a lab work, or stop them",
	.usage = "[OPTION...] WORKLOAD | --stop",
	.description =
		"Starts a workload on all clients of a lab that is up, after making the files "
		"that it needs (which takes up to a minute the first time), and returns. The "
		"workload continues until it is stopped. A workload that is already running is "
		"stopped first.\n\n"
		"With --for, the command waits, stops the workload and prints how much all "
		"clients together sent and received over the network, in MB/s.",
	.options = options,
	.options_size = sizeof(struct work_options),
	.choices = "workloads",
	.choice = workload_choice,
	.examples = examples,
	.run = run,
};
