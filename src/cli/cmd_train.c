#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/method_options.h"
#include "cli/terminal.h"
#include "cli/time_options.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "base/words.h"
#include "detect/params.h"
#include "detect/train/train.h"
#include "detect/train/train_weights.h"
#include "explain/score.h"
#include "explain/semantic.h"
#include "import/dataset.h"
#include "report/train_print.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct train_options {
	struct method_options method;
	struct option_list components, metrics, split_by, worse;
	const char *output, *topology, *labelled;
	struct time_options times;
	bool weights, json;
};

#define AT(member) offsetof(struct train_options, member)

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, AT(output), "FILE", "write the thresholds there"},
	{"metric", 'm', OPTION_LIST, AT(metrics), "NAME",
		"learn only these metrics; may be repeated or a list with commas [all that 'limpet "
		"diagnose' compares]"},
	{"components", 'c', OPTION_LIST, AT(components), "GLOB",
		"only components whose full name matches; may be repeated [all]"},
	{"topology", 't', OPTION_STRING, AT(topology), "FILE",
		"topology file: which components are peers (see limpet-topology(1))"},
	{"split-by", 0, OPTION_LIST, AT(split_by), "ATTRIBUTE",
		"split peer groups further, e.g. by observer: the disks of one host are peers"},
	{"worse", 0, OPTION_PAIRS, AT(worse), "lower|higher METRIC",
		"which side of its peers is worse in a metric: 'lower bandwidth'; kept with the "
		"thresholds; may be repeated [what archives say, and as for 'limpet diagnose']"},
	TIME_OPTIONS(struct train_options),
	METHOD_OPTIONS(struct train_options),
	{"weights", 0, OPTION_FLAG, AT(weights), NULL,
		"also learn how much each function counts: less if it varies among healthy "
		"servers"},
	{"labelled", 0, OPTION_STRING, AT(labelled), "FILE",
		"file that says which of the data has faults (the lab's truth.csv): learn from "
		"these which functions matter, and thresholds from the rest"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{NULL},
};

#define LABELS_MAX 16

/* DATA on one grid. */
struct training_run {
	char **paths; /* the strings belong to the command line */
	int n_paths;
	struct lp_dataset *data;
	struct weight_label labels[LABELS_MAX];
	unsigned n_labels;	   /* the number of its faults */
	int64_t first_us, last_us; /* 0: not known */
};

struct training {
	const struct train_options *opt;
	const struct data_options *data;
	struct time_options times; /* --last becomes --since when all runs are open */
	struct lp_warn warn;
	struct words metrics, split_by;
	struct topology *topology;
	struct hosts hosts;
	struct meanings meanings;
	struct detect_options detect;
	struct training_run *runs;
	int n_runs;
	struct trainer *trainer;
	struct score_truth truth;
	struct function_weights weights;
	struct thresholds *normal; /* only normal failures of all runs */
	bool traced;		   /* there are logs of system calls to learn from */
	struct train_result result;
	int read_result; /* 0, or -EBADMSG: some of the data is damaged */
	struct lp_err read_err;
};

static void run_release(struct training_run *r)
{
	lp_dataset_close(r->data);
	free(r->paths);
	*r = (struct training_run){0};
}

static void training_release(struct training *t)
{
	for (int i = 0; i < t->n_runs; i++)
		run_release(&t->runs[i]);
	free(t->runs);
	train_result_release(&t->result);
	trainer_free(t->trainer);
	score_truth_release(&t->truth);
	function_weights_release(&t->weights);
	thresholds_free(t->normal);
	topology_free(t->topology);
	hosts_release(&t->hosts);
	meanings_release(&t->meanings);
	words_release(&t->metrics);
	words_release(&t->split_by);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int run_open(struct training *t, struct training_run *r, struct lp_err *err)
{
	int failed = data_open(t->data, r->paths, r->n_paths, &t->warn, &r->data, err);

	if (failed < 0)
		return failed;
	time_options_limit(&t->times, r->data);
	return lp_dataset_span(r->data, &r->first_us, &r->last_us, err);
}

/* --last refers to the end of the run that ends last. */
static int runs_settle(struct training *t, struct lp_err *err)
{
	int64_t end_us = 0;
	int r = 0;

	if (!t->times.last_us)
		return 0;
	for (int i = 0; r == 0 && i < t->n_runs; i++) {
		int64_t own_us = 0;

		r = time_options_end(&t->times, t->runs[i].data, &own_us, err);
		end_us = own_us > end_us ? own_us : end_us;
	}
	t->times.since_us = end_us - t->times.last_us;
	t->times.last_us = 0;
	for (int i = 0; i < t->n_runs; i++)
		time_options_limit(&t->times, t->runs[i].data);
	return r;
}

/* Each directory is a run; all files together are one run. */
static int runs_make(struct training *t, char **args, int n_args, struct lp_err *err)
{
	struct training_run *files = NULL;

	if (n_args < 1)
		return lp_err_set(err, -EINVAL,
			"name the data to learn from: directories or files of a time without "
			"faults");
	t->runs = calloc((size_t)n_args, sizeof(*t->runs));
	for (int i = 0; t->runs && i < n_args; i++) {
		bool directory = is_directory(args[i]);
		struct training_run *r = !directory && files ? files : &t->runs[t->n_runs++];

		if (!r->paths)
			r->paths = calloc((size_t)n_args, sizeof(*r->paths));
		if (!r->paths)
			return lp_err_sys(err, -ENOMEM, "cannot train");
		r->paths[r->n_paths++] = args[i];
		if (!directory)
			files = r;
	}
	return t->runs ? 0 : lp_err_sys(err, -ENOMEM, "cannot train");
}

static bool runs_overlap(const struct training_run *a, const struct training_run *b)
{
	return a->last_us && b->last_us && a->first_us <= b->last_us && b->first_us <= a->last_us;
}

/* Runs at the same time are joined: they are the directories of several observers. */
static int runs_join(struct training *t, struct lp_err *err)
{
	for (int i = 0; i < t->n_runs; i++) {
		for (int k = i + 1; k < t->n_runs; k++) {
			struct training_run *a = &t->runs[i], *b = &t->runs[k];
			int r;

			if (!runs_overlap(a, b))
				continue;
			for (int p = 0; p < b->n_paths; p++) /* there is room for all arguments */
				a->paths[a->n_paths++] = b->paths[p];
			run_release(b);
			*b = t->runs[--t->n_runs];
			t->runs[t->n_runs] = (struct training_run){0};
			lp_dataset_close(a->data);
			a->data = NULL;
			r = run_open(t, a, err);
			if (r < 0)
				return r;
			k = i; /* it is longer now */
		}
	}
	return 0;
}

/* One step for all runs: the given one, or the right one for the longest run. */
static int step_choose(struct training *t, struct lp_err *err)
{
	int64_t interval = 0, span = 0;

	for (int i = 0; i < t->n_runs && !t->detect.params.step_us; i++) {
		int64_t own;
		int r = lp_dataset_interval(t->runs[i].data, &own, err);

		if (r < 0)
			return r;
		interval = own > interval ? own : interval;
		own = span_between(t->runs[i].first_us, t->runs[i].last_us);
		span = own > span ? own : span;
	}
	if (!t->detect.params.step_us)
		t->detect.params.step_us = detect_step(interval, span);
	return 0;
}

static int training_prepare(struct training *t, char **args, int n_args, struct lp_err *err)
{
	const struct train_options *opt = t->opt;
	int r = opt->output
		? 0
		: lp_err_set(err, -EINVAL, "-o FILE is needed: where to write the thresholds");

	if (r == 0)
		r = time_options_check(&t->times, err);
	if (r == 0)
		r = method_options_choose(
			&opt->method, measures, &t->detect.measure, &t->detect.params, err);
	if (r == 0)
		r = service_method_parse(
			opt->method.service, t->detect.measure, &t->detect.service, err);
	if (r == 0)
		r = words_split(&opt->metrics, &t->metrics, err);
	if (r == 0)
		r = words_split(&opt->split_by, &t->split_by, err);
	if (r == 0)
		r = runs_make(t, args, n_args, err);
	if (r == 0 && opt->topology)
		r = topology_read(opt->topology, &t->topology, err);
	if (r == 0)
		r = topology_attributes_check(t->topology, t->split_by.items, t->split_by.n, err);
	for (int i = 0; i < t->n_runs && r == 0; i++)
		r = run_open(t, &t->runs[i], err);
	if (r == 0)
		r = runs_settle(t, err);
	if (r == 0)
		r = runs_join(t, err);
	return r < 0 ? r : step_choose(t, err);
}

/* Read the tables of a run; damage is reported, and the intact data is used. */
static int run_tables(struct training *t, const struct training_run *run,
	struct lp_table ***ret_tables, uint32_t *ret_n, struct lp_err *err)
{
	struct lp_table_options range = {
		.components = t->opt->components.n ? t->opt->components.items : NULL,
		.n_components = t->opt->components.n,
		.metrics = t->metrics.n ? t->metrics.items : NULL,
		.n_metrics = t->metrics.n,
		.judged = true,
		.from_us = t->times.since_us,
		.to_us = t->times.until_us,
		.step_us = t->detect.params.step_us};
	struct lp_err here = {0};
	int r = lp_dataset_tables(run->data, &range, ret_tables, ret_n, &here);

	if (r == -EBADMSG) {
		t->read_result = r;
		t->read_err = here;
	} else if (r < 0) {
		*err = here;
		return r;
	}
	if (!t->opt->method.win_size && !t->opt->method.win_shift)
		params_in_time(t->detect.measure, *ret_tables, *ret_n, &t->detect.params);
	return 0;
}

static int run_empty(const struct training *t, const struct training_run *run, struct lp_err *err)
{
	_cleanup_(strbuf_release) struct strbuf nearest = {0};
	const char *when = t->times.since_us || t->times.until_us ? " in that time" : "";

	if (!t->metrics.n)
		return lp_err_set(err, -ENOENT, "there is nothing to learn from in %s%s",
			run->paths[0], when);
	data_add_nearest_metric(&nearest, run->data, t->metrics.items[0], false);
	return lp_err_set(err, -ENOENT,
		"there is nothing to learn from in %s: no component has a metric '%s'%s%s",
		run->paths[0], t->metrics.items[0], when, nearest.text ? nearest.text : "");
}

/* Learn thresholds from one run. */
static int run_learn(struct training *t, struct training_run *run, struct lp_err *err)
{
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r = run_tables(t, run, &tables, &n, err);

	if (r < 0)
		return r;
	if (n)
		return trainer_add(t->trainer, tables, n, err);
	free(tables);
	return t->traced ? 0 : run_empty(t, run, err);
}

/* Does the truth contain a run in this directory? */
static int path_labels(const struct training *t, struct training_run *run, const char *path,
	bool *known, struct lp_err *err)
{
	char name[PATH_MAX];
	size_t len;

	snprintf(name, sizeof(name), "%s", path);
	for (len = strlen(name); len > 1 && name[len - 1] == '/'; len--)
		name[len - 1] = '\0';
	for (size_t i = 0; i < t->truth.n; i++) {
		const struct score_fault *f = &t->truth.faults[i];

		if (fnmatch(f->verdict, path_basename(name), 0) != 0)
			continue;
		*known = true;
		if (!f->component[0])
			continue;
		if (run->n_labels == LABELS_MAX)
			return lp_err_set(err, -EINVAL, "%s: more than %d faults in %s",
				t->opt->labelled, LABELS_MAX, path);
		run->labels[run->n_labels++] =
			(struct weight_label){f->component, f->start_us, f->end_us};
	}
	return 0;
}

static int runs_label(struct training *t, struct lp_err *err)
{
	int r = score_truth_read(t->opt->labelled, &t->truth, err);

	for (int i = 0; r == 0 && i < t->n_runs; i++) {
		struct training_run *run = &t->runs[i];
		bool known = false;

		for (int p = 0; r == 0 && p < run->n_paths; p++)
			r = path_labels(t, run, run->paths[p], &known, err);
		if (r == 0 && !known)
			r = lp_err_set(err, -ENOENT, "%s has no row for %s", t->opt->labelled,
				run->paths[0]);
	}
	return r;
}

/* Learn the weights of functions before the thresholds, which depend on them. */
static int weights_learn(struct training *t, struct lp_err *err)
{
	struct weight_learner *l = weight_learner_new(&t->detect);
	int r = l ? 0 : lp_err_sys(err, -ENOMEM, "cannot train");

	for (int i = 0; r == 0 && i < t->n_runs; i++) {
		struct lp_table **tables = NULL;
		uint32_t n = 0;

		r = run_tables(t, &t->runs[i], &tables, &n, err);
		if (r == 0)
			r = weight_learner_add(
				l, tables, n, t->runs[i].labels, t->runs[i].n_labels, err);
	}
	if (r == 0 && weight_learner_finish(l, &t->weights) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot train");
	weight_learner_free(l);
	if (r == 0 && !t->weights.n)
		lp_warn_raise(&t->warn,
			"no weights were learnt: there are no functions that take enough time");
	t->detect.weights = &t->weights;
	return r;
}

/* Add the weights to the thresholds. */
static int weights_join(struct training *t, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->weights.n; i++)
		r = function_weights_add(thresholds_weights(t->result.thresholds),
			t->weights.items[i].metric, t->weights.items[i].function,
			t->weights.items[i].value);
	return r < 0 ? lp_err_sys(err, r, "cannot train") : 0;
}

/* Learn which calls normally fail, if system calls were traced. */
static int run_learn_failures(struct training *t, struct training_run *run, struct lp_err *err)
{
	struct lp_err here = {0};
	bool any = false;
	int r = semantic_train(run->data, &t->hosts, t->times.since_us, t->times.until_us, &t->warn,
		t->normal, &any, &here);

	t->traced = t->traced || any;
	if (r == -EBADMSG) {
		t->read_result = r;
		t->read_err = here;
		return 0;
	}
	if (r < 0)
		*err = here;
	return r;
}

/* Add the normal failures to the thresholds; there may be no thresholds. */
static int failures_join(struct training *t, struct lp_err *err)
{
	const struct threshold_normal *normals;
	size_t n;
	int r = 0;

	if (!t->result.thresholds) {
		t->result.thresholds = t->normal;
		t->normal = NULL;
		return 0;
	}
	normals = thresholds_normals(t->normal, &n);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = thresholds_add_normal(
			t->result.thresholds, normals[i].role, normals[i].call, normals[i].error);
	return r < 0 ? lp_err_sys(err, r, "cannot train") : 0;
}

/* The result of all runs. Traces alone, without peers, are also useful. */
static int training_finish(struct training *t, struct lp_err *err)
{
	struct lp_err here = {0};
	int r = trainer_finish(t->trainer, &t->result, &here);

	if (r == -ENODATA && t->traced) {
		lp_warn_raise(&t->warn, "%s; only normal failures of calls were learnt", here.text);
		r = 0;
	}
	if (r < 0) {
		*err = here;
		return r;
	}
	r = failures_join(t, err);
	if (r == 0)
		r = meanings_copy(thresholds_meanings(t->result.thresholds), &t->meanings, err);
	return r;
}

/* The meaning of metrics: from archives, and from the user, who has precedence. */
static int meanings_gather(struct training *t, struct lp_err *err)
{
	int r = 0;

	for (int i = 0; i < t->n_runs && r == 0; i++)
		r = dataset_meanings(t->runs[i].data, &t->meanings, err);
	if (r == 0)
		r = meanings_parse(&t->meanings, t->opt->worse.items, t->opt->worse.n, err);
	t->detect.meanings = &t->meanings;
	return r;
}

static int training_run(struct training *t, struct lp_err *err)
{
	int r = 0;

	for (int i = 0; i < t->n_runs && r == 0; i++)
		r = dataset_hosts(t->runs[i].data, &t->hosts, err);
	if (r == 0)
		r = meanings_gather(t, err);
	if (r < 0)
		return r;
	t->detect.hosts =
		t->opt->components.n || topology_has_groups(t->topology) ? NULL : &t->hosts;
	t->detect.topology = t->topology;
	t->detect.split_by = t->split_by.n ? t->split_by.items : NULL;
	t->detect.n_split = t->split_by.n;
	t->detect.warn = &t->warn;
	r = trainer_new(&t->detect, &t->trainer, err);
	t->normal = thresholds_new(t->detect.measure->name, &t->detect.params);
	if (r == 0 && !t->normal)
		r = lp_err_sys(err, -ENOMEM, "cannot train");
	if (r == 0 && t->opt->labelled)
		r = runs_label(t, err);
	if (r == 0 && (t->opt->weights || t->opt->labelled))
		r = weights_learn(t, err);
	for (int i = 0; i < t->n_runs && r == 0; i++) {
		if (!t->runs[i].n_labels)
			r = run_learn_failures(t, &t->runs[i], err);
	}
	for (int i = 0; i < t->n_runs && r == 0; i++) {
		if (!t->runs[i].n_labels)
			r = run_learn(t, &t->runs[i], err);
	}
	if (r == 0)
		r = training_finish(t, err);
	if (r == 0)
		r = weights_join(t, err);
	return r < 0 ? r : thresholds_write(t->result.thresholds, t->opt->output, err);
}

static int training_print(const struct training *t)
{
	struct train_print_options opt = {.file = t->opt->output,
		.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.utf8 = terminal_utf8()};

	return t->opt->json ? train_print_json(stdout, &t->result, &opt)
			    : train_print_text(stdout, &t->result, &opt);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct train_options *opt = values;
	_cleanup_(training_release) struct training t = {
		.opt = opt, .times = opt->times, .data = data, .warn = {.warn = data_print_once}};
	int r = training_prepare(&t, args, n_args, err);

	if (r == 0)
		r = training_run(&t, err);
	if (r == 0 && training_print(&t) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot print the summary");
	if (r == 0 && t.read_result < 0) {
		*err = t.read_err;
		r = t.read_result;
	}
	return command_exit_code(r);
}

static const struct example examples[] = {
	{"train /var/lib/limpet -o site.thresholds", "learn what is normal here"},
	{"train run1 run2 run3 --method kl -o lab.thresholds", "several runs without faults"},
	{"train --labelled runs/truth.csv runs/*/ -o lab.thresholds",
		"from experiments of the lab: which functions matter, and thresholds"},
	{"diagnose --thresholds site.thresholds DATA", "use what was learnt"},
	{NULL, NULL},
};

extern const struct command command_train;
const struct command command_train = {
	.name = "train",
	.summary = "learn thresholds from data without faults",
	.usage = "[OPTION...] DATA... -o FILE",
	.description =

		"Learns for each component and metric how far it may be from its peers: the "
		"smallest multiple of 0.1 at which 'limpet diagnose' would have found nothing in "
		"this data, times 2. For vectors of functions it is the smallest such whole "
		"number, times 2. For congestion windows the factor is 1, with one threshold for "
		"all connections of a direction; for service times of calls it is the worst "
		"second, times 2. The result is a text file; docs/thresholds.md describes it.\n\n"
		"Each directory is a separate run, and all files together are one run. "
		"Runs whose times overlap are joined; others may be far apart.\n\n"
		"From logs of system calls (limpet-trace(1)) it learns which calls of servers and "
		"clients fail normally, and how.\n\n"
		"If functions were recorded (limpet-record(1), profile and calls), --weights "
		"learns "
		"how much each function counts in a comparison of servers: the inverse of how much "
		"healthy servers differ in it. With --labelled, functions that separated a faulty "
		"server from its peers count twice as much, and functions that only accused "
		"healthy "
		"servers count half. Both are lines of the file and may be edited.\n\n"
		"Good training data comes from a load that takes the system to its limits, without "
		"any fault. Warnings say if the data itself shows a lasting asymmetry (with a "
		"plot), is too short, lacks a component, or comes from too light a load. Training "
		"is optional: without it, thresholds come from the peers.",
	.options = options,
	.options_size = sizeof(struct train_options),
	.takes_data = true,
	.computes = true,
	.examples = examples,
	.run = run,
};
