#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/method_options.h"

#include "base/cleanup.h"
#include "base/words.h"
#include "detect/detect.h"
#include "explain/explain.h"
#include "report/progress.h"
#include "report/verdict_hourly.h"
#include "report/verdict_html.h"
#include "report/verdict_json.h"
#include "report/verdict_text.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct diagnose_options {
	struct method_options method;
	struct option_list components, metrics, groups, split_by, fixed;
	const char *topology, *trained, *state, *html;
	int64_t since_us, until_us;
	uint64_t top;
	bool json, hourly, verbose, quiet;
};

#define AT(member) offsetof(struct diagnose_options, member)

static const struct option_def options[] = {
	{"metric", 'm', OPTION_LIST, AT(metrics), "NAME",
		"compare only these metrics; may be repeated or a list with commas [await, rd_sec, "
		"wr_sec, rxbyt, txbyt, errors, cwnd, retrans, and whatever was imported]"},
	{"components", 'c', OPTION_LIST, AT(components), "GLOB",
		"only components whose full name matches; may be repeated [all]"},
	{"group", 'g', OPTION_LIST, AT(groups), "GLOB",
		"only these peer groups; may be repeated ('limpet topology DATA' lists them) "
		"[all]"},
	{"topology", 't', OPTION_STRING, AT(topology), "FILE",
		"what is attached to what, and who is whose peer (see limpet-topology(1)) [peers "
		"are of one kind; groups that the data shows are discovered]"},
	{"split-by", 0, OPTION_LIST, AT(split_by), "ATTRIBUTE",
		"split peer groups further, e.g. by observer: the disks of one host are peers"},
	{"since", 0, OPTION_TIME, AT(since_us), "TIME", "from this time on (2011-05-09T00:00:05Z)"},
	{"until", 0, OPTION_TIME, AT(until_us), "TIME", "up to this time"},
	METHOD_OPTIONS(struct diagnose_options),
	{"threshold", 0, OPTION_LIST, AT(fixed), "[METRIC=]VALUE",
		"a fixed threshold, for a metric or for all; may be repeated [from the peers' own "
		"spread]"},
	{"thresholds", 0, OPTION_STRING, AT(trained), "FILE", "what 'limpet train' learnt"},
	{"state", 0, OPTION_STRING, AT(state), "FILE",
		"what the operator acknowledged, muted or cleared [$LIMPET_STATE, or the user's "
		"own]"},
	{"top", 'n', OPTION_UINT, AT(top), "N", "tell of that many problems [10]"},
	{"hourly", 0, OPTION_FLAG, AT(hourly), NULL,
		"for each hour the components that are anomalous most persistently"},
	{"html", 0, OPTION_STRING, AT(html), "FILE",
		"also write a report with plots, one self-contained file"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{"verbose", 'v', OPTION_FLAG, AT(verbose), NULL, "every metric and component of a problem"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "no progress bar"},
	{NULL},
};

/* Everything that a run opens, released in one place. */
struct diagnosis {
	struct lp_warn warn;
	struct words metrics, split_by;
	struct topology *topology;
	struct thresholds *trained;
	struct fixed_thresholds fixed;
	struct operator_state *state;
	struct lp_dataset *data;
	struct progress progress;
	struct detect_options detect;
	struct lp_verdict *verdict;
	int read_result; /* 0, or -EBADMSG: some of the data is damaged */
	struct lp_err read_err;
};

static void diagnosis_release(struct diagnosis *d)
{
	lp_verdict_free(d->verdict);
	lp_dataset_close(d->data);
	state_close(d->state);
	fixed_thresholds_release(&d->fixed);
	thresholds_free(d->trained);
	topology_free(d->topology);
	words_release(&d->metrics);
	words_release(&d->split_by);
}

/* The method and its parameters; what was not given stays 0, for the engine to choose. */
static int method_choose(
	struct diagnosis *d, const struct diagnose_options *opt, struct lp_err *err)
{
	const struct method_options *m = &opt->method;
	struct lp_params *p = &d->detect.params;
	int r = method_options_choose(m, measures, &d->detect.measure, p, err);

	if (r == 0 && d->trained)
		r = method_options_agree(m, thresholds_method(d->trained),
			thresholds_params(d->trained), opt->trained, err);
	if (r < 0)
		return r;
	if (d->trained)
		d->detect.measure = NULL;
	p->win_size = m->win_size ? p->win_size : 0;
	p->win_shift = m->win_shift || m->win_size ? p->win_shift : 0;
	p->smooth = m->smooth ? p->smooth : 0;
	p->k = m->k ? p->k : 0;
	return 0;
}

static int state_load(struct diagnosis *d, const struct diagnose_options *opt, struct lp_err *err)
{
	_cleanup_free_ char *path = opt->state ? strdup(opt->state) : state_default_path();

	return path ? state_open(path, true, &d->state, err) : 0;
}

static int diagnosis_prepare(
	struct diagnosis *d, const struct diagnose_options *opt, struct lp_err *err)
{
	int r = words_split(&opt->metrics, &d->metrics, err);

	if (r == 0)
		r = words_split(&opt->split_by, &d->split_by, err);
	if (r == 0 && opt->topology)
		r = topology_read(opt->topology, &d->topology, err);
	if (r == 0 && opt->trained)
		r = thresholds_read(opt->trained, &d->trained, err);
	if (r == 0)
		r = fixed_thresholds_parse(opt->fixed.items, opt->fixed.n, &d->fixed, err);
	if (r == 0)
		r = method_choose(d, opt, err);
	if (r == 0)
		r = state_load(d, opt, err);
	if (r == 0 && opt->until_us && opt->until_us <= opt->since_us)
		r = lp_err_set(err, -EINVAL, "--until must be later than --since");
	return r;
}

/* The step of the grid: what was asked for, what was trained with, or what suits the data. */
static int step_choose(struct diagnosis *d, const struct diagnose_options *opt, int64_t *ret_us,
	struct lp_err *err)
{
	int64_t interval = 0, first = 0, last = 0;
	int r;

	*ret_us = opt->method.downsample_us;
	if (!*ret_us && d->trained)
		*ret_us = thresholds_params(d->trained)->step_us;
	if (*ret_us)
		return 0;
	r = lp_dataset_interval(d->data, &interval, err);
	if (r == 0)
		r = lp_dataset_span(d->data, &first, &last, err);
	if (r < 0)
		return r;
	if (opt->since_us > first)
		first = opt->since_us;
	if (opt->until_us && opt->until_us < last)
		last = opt->until_us;
	*ret_us = detect_step(interval, last > first ? last - first : 0);
	return 0;
}

/* Is the component in one of the groups that were asked for? Only these need to be read, where
 * groups do not depend on the data. */
static bool group_wanted(void *ctx, const char *component)
{
	const struct detect_options *o = &((struct diagnosis *)ctx)->detect;
	char *names[] = {(char *)component};
	struct lp_peer_group *groups = NULL;
	uint32_t n = 0;
	bool wanted = false;

	/* What goes wrong here is told when all of them are sorted. */
	if (topology_groups(
		    o->topology, names, 1, o->split_by, o->n_split, NULL, &groups, &n, NULL) < 0)
		return true;
	for (uint32_t i = 0; i < n; i++)
		wanted |= detect_group_wanted(o, groups[i].name);
	lp_peer_groups_free(groups, n);
	return wanted;
}

static int tables_read(struct diagnosis *d, const struct diagnose_options *opt,
	struct lp_table ***ret, uint32_t *ret_n, struct lp_err *err)
{
	struct lp_table_options range = {
		.components = opt->components.n ? opt->components.items : NULL,
		.n_components = opt->components.n,
		.metrics = d->metrics.n ? d->metrics.items : NULL,
		.n_metrics = d->metrics.n,
		.judged = true,
		.from_us = opt->since_us,
		.to_us = opt->until_us};
	int r = step_choose(d, opt, &range.step_us, err);

	if (r < 0)
		return r;
	if (opt->groups.n && (d->topology || d->split_by.n)) {
		range.wanted = group_wanted;
		range.wanted_ctx = d;
	}
	progress_tell(&d->progress, "reading", 0);
	d->read_result = lp_dataset_tables(d->data, &range, ret, ret_n, &d->read_err);
	if (d->read_result < 0 && d->read_result != -EBADMSG) {
		*err = d->read_err;
		return d->read_result;
	}
	if (*ret_n)
		return 0;
	free(*ret);
	if (d->read_result < 0) {
		*err = d->read_err;
		return d->read_result;
	}
	return lp_err_set(err, -ENOENT, "there is nothing to compare%s%s%s%s",
		d->metrics.n ? ": no component has a metric '" : " in this data",
		d->metrics.n ? d->metrics.items[0] : "", d->metrics.n ? "'" : "",
		opt->since_us || opt->until_us ? " in that time" : "");
}

static void detection_set(struct diagnosis *d, const struct diagnose_options *opt)
{
	d->detect.trained = d->trained;
	d->detect.fixed = &d->fixed;
	d->detect.topology = d->topology;
	d->detect.split_by = d->split_by.n ? d->split_by.items : NULL;
	d->detect.n_split = d->split_by.n;
	d->detect.groups = opt->groups.items;
	d->detect.n_groups = opt->groups.n;
	d->detect.warn = &d->warn;
	d->detect.progress = progress_tell;
	d->detect.progress_ctx = &d->progress;
}

static int diagnosis_run(
	struct diagnosis *d, const struct diagnose_options *opt, struct lp_err *err)
{
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r;

	detection_set(d, opt);
	r = tables_read(d, opt, &tables, &n, err);
	if (r < 0)
		return r;
	r = detect_run(tables, n, &d->detect, &d->verdict, err);
	return r < 0 ? r : explain_verdict(d->verdict, d->topology, d->state, err);
}

static int html_write(const struct lp_verdict *v, const char *path, struct lp_err *err)
{
	_cleanup_fclose_ FILE *f = fopen(path, "we");
	struct verdict_html_options html = {0};
	int r;

	if (!f)
		return lp_err_sys(err, -errno, "%s", path);
	r = verdict_write_html(f, v, &html);
	if (r == 0 && fflush(f) != 0)
		r = -errno;
	return r < 0 ? lp_err_sys(err, r, "%s", path) : 0;
}

static unsigned terminal_width(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int diagnosis_print(
	const struct diagnosis *d, const struct diagnose_options *opt, struct lp_err *err)
{
	struct verdict_text_options text = {.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.verbose = opt->verbose,
		.top = (uint32_t)opt->top,
		.width = terminal_width()};
	int r = opt->html ? html_write(d->verdict, opt->html, err) : 0;

	if (r < 0)
		return r;
	if (opt->hourly)
		r = opt->json ? verdict_print_hourly_json(stdout, d->verdict, (uint32_t)opt->top)
			      : verdict_print_hourly(stdout, d->verdict, (uint32_t)opt->top);
	else if (opt->json)
		r = verdict_print_json(stdout, d->verdict);
	else
		r = verdict_print_text(stdout, d->verdict, &text);
	return r < 0 ? lp_err_sys(err, r, "cannot print the verdict") : 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct diagnose_options *opt = values;
	_cleanup_(diagnosis_release) struct diagnosis d = {.warn = {.warn = data_print_warning}};
	int r = diagnosis_prepare(&d, opt, err);

	if (r == 0)
		r = data_open(data, args, n_args, &d.warn, &d.data, err);
	if (!opt->quiet)
		progress_begin(&d.progress, stderr);
	if (r == 0)
		r = diagnosis_run(&d, opt, err);
	progress_clear(&d.progress);
	if (r == 0)
		r = diagnosis_print(&d, opt, err);
	if (r < 0)
		return command_exit_code(r);
	if (d.read_result < 0) {
		*err = d.read_err;
		return command_exit_code(d.read_result);
	}
	return d.verdict->n_suspects ? EXIT_SUSPECTS : EXIT_HEALTHY;
}

static const struct example examples[] = {
	{"diagnose /var/lib/limpet", "who limps, in what was recorded"},
	{"diagnose --html report.html --since 2011-05-09 DATA", "a report with plots"},
	{"diagnose --split-by observer /var/log/sysstat/sa15", "the disks of one host are peers"},
	{"diagnose --topology site.yaml -m await --hourly DATA", "like an operator's daily list"},
	{"diagnose --method kl --thresholds trained.txt --json DATA", "as in the papers"},
	{NULL, NULL},
};

extern const struct command command_diagnose;
const struct command command_diagnose = {
	.name = "diagnose",
	.summary = "name the component that limps, and why",
	.usage = "[OPTION...] DATA...",
	.description =
		"Compares every component with its peers, window by window, and names those that "
		"are lastingly slower or busier than their peers, or that no longer do any work: "
		"since when, in which metrics, for what cause, how badly, how surely, and what to "
		"do next. DATA is an archive, a directory of archives, or anything that limpet "
		"imports (a sysstat file, CSV). Nothing needs to be configured or trained.\n\n"
		"Thresholds come from the peers' own spread. What is faster or less loaded than "
		"its peers, or slower only because it works harder, is reported, but nobody is "
		"accused of it. With --thresholds or --threshold the methods are those of the "
		"papers to the letter: whoever is anomalous in k of the last 2k-1 windows is a "
		"suspect.\n\n"
		"Where samples come more often than every 15 s for two hours or more, they are put "
		"on a grid of 15 s, with all the work in between (see --downsample).\n\n"
		"Exit status: 0 all is well, 1 there are suspects, 2 wrong usage or bad input, "
		"3 internal failure.",
	.options = options,
	.options_size = sizeof(struct diagnose_options),
	.takes_data = true,
	.examples = examples,
	.run = run,
};
