#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/html_file.h"
#include "cli/method_options.h"
#include "cli/mpi_team.h"
#include "cli/terminal.h"
#include "cli/time_options.h"

#include "base/cleanup.h"
#include "base/meant.h"
#include "base/time.h"
#include "base/words.h"
#include "detect/train/thresholds.h"
#include "engine/past.h"
#include "explain/state.h"
#include "import/dataset_team.h"
#include "report/progress.h"
#include "report/verdict_hourly.h"
#include "report/verdict_json.h"
#include "report/verdict_lines.h"
#include "report/verdict_text.h"
#include "trace/stack/stack_evidence.h"
#include <errno.h>
#include <limpet/diagnose.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct diagnose_options {
	struct method_options method;
	struct option_list components, metrics, groups, split_by, fixed, worse;
	const char *topology, *trained, *expect, *state, *html, *warn_at, *format, *colour;
	struct time_options times;
	int64_t hang_after_us, error_window_us;
	uint64_t top;
	bool json, hourly, verbose, quiet;
};

/* Nagios treats any failure of a plugin like this. */
#define EXIT_NAGIOS_UNKNOWN 3

#define AT(member) offsetof(struct diagnose_options, member)

static const struct option_def options[] = {
	{"metric", 'm', OPTION_LIST, AT(metrics), "NAME",
		"compare only these metrics; may be repeated or a list with commas [await, rd_sec, "
		"wr_sec, rxbyt, txbyt, rxerr, txerr, cwnd, retrans, unread, psi_cpu, of traces "
		"dread, dwrite, nsread, ncread, served, answer, and whatever was imported]"},
	{"components", 'c', OPTION_LIST, AT(components), "GLOB",
		"only components whose full name matches; may be repeated [all]"},
	{"group", 'g', OPTION_LIST, AT(groups), "GLOB",
		"only these peer groups; may be repeated ('limpet topology DATA' lists them) "
		"[all]"},
	{"topology", 't', OPTION_STRING, AT(topology), "FILE",
		"topology file: which components are peers, and what they share (see "
		"limpet-topology(1)) [components of one kind are peers]"},
	{"split-by", 0, OPTION_LIST, AT(split_by), "ATTRIBUTE",
		"split peer groups further, e.g. by observer: the disks of one host are peers"},
	TIME_OPTIONS(struct diagnose_options),
	METHOD_OPTIONS(struct diagnose_options),
	{"worse", 0, OPTION_PAIRS, AT(worse), "lower|higher METRIC",
		"which side of its peers is worse in a metric: 'lower bandwidth'; may be repeated "
		"[higher for times and errors; unknown metrics accuse no component]"},
	{"warn-at", 0, OPTION_STRING, AT(warn_at), "CERTAINTY",
		"how certain a warning must be; a lower value warns more often [1]"},
	{"threshold", 0, OPTION_LIST, AT(fixed), "[METRIC=]VALUE",
		"a fixed threshold, for a metric or for all; may be repeated [from the peers' own "
		"spread]"},
	{"thresholds", 0, OPTION_STRING, AT(trained), "FILE", "what 'limpet train' learnt"},
	{"hang-after", 0, OPTION_SPAN, AT(hang_after_us), "SPAN",
		"in logs of system calls: a client's call hangs after this time [30s]"},
	{"error-window", 0, OPTION_SPAN, AT(error_window_us), "SPAN",
		"in logs of system calls: an error of a server may cause one of a client up to "
		"this much later [3s]"},
	{"expect", 0, OPTION_STRING, AT(expect), "FILE",
		"file with the servers that must be there, one per line ('-': standard input); if "
		"one is missing, the verdict is UNKNOWN [those in the topology]"},
	{"state", 0, OPTION_STRING, AT(state), "FILE",
		"where 'limpet ack', 'mute' and 'clear' keep their notes [$LIMPET_STATE, or the "
		"user's own file]"},
	{"top", 'n', OPTION_UINT, AT(top), "N", "print at most N incidents [10]"},
	{"hourly", 0, OPTION_FLAG, AT(hourly), NULL,
		"print, per hour, the components that are anomalous most persistently"},
	{"html", 0, OPTION_STRING, AT(html), "FILE",
		"also write a report with plots, one self-contained file"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print JSON"},
	{"format", 'f', OPTION_STRING, AT(format), "FORMAT",
		"'text', 'json', 'oneline' (one line per incident, fields separated by tabs), or "
		"'nagios' (a plugin's output and exit status) [text]"},
	COLOUR_OPTION(AT(colour)),
	{"verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
		"also print every metric and component of an incident, the groups, and the method"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "no progress bar"},
	{NULL},
};

/* Options that were not given stay 0; the engine chooses. */
static int method_take(
	const struct diagnose_options *opt, struct lp_diagnose_options *to, struct lp_err *err)
{
	const struct method_options *m = &opt->method;
	const struct measure *measure;
	struct lp_params p;
	int r = method_options_choose(m, measures, &measure, &p, err);

	if (r < 0)
		return r;
	to->method = m->method;
	to->service_method = m->service;
	to->params = (struct lp_params){.win_size = m->win_size ? p.win_size : 0,
		.win_shift = m->win_shift || m->win_size ? p.win_shift : 0,
		.smooth = m->smooth ? p.smooth : 0,
		.k = m->k ? p.k : 0,
		.step_us = m->downsample_us};
	return 0;
}

DEFINE_CLEANUP(struct thresholds *, thresholds_free);

/* Thresholds are valid only for the method with which they were learnt. */
static int thresholds_agree(const struct diagnose_options *opt, struct lp_err *err)
{
	_cleanup_(thresholds_freep) struct thresholds *t = NULL;
	int r = opt->trained ? thresholds_read(opt->trained, &t, err) : 0;

	if (r < 0 || !t)
		return r;
	return method_options_agree(&opt->method, thresholds_method(t), thresholds_service(t),
		thresholds_params(t), opt->trained, err);
}

/* Everything that a run needs; released in one place. */
struct diagnose_run {
	struct words metrics, split_by;
	char *state;
	struct lp_warn warn;
	struct progress progress;
	struct lp_dataset *data;
	struct lp_verdict *verdict;
	struct mpi_team mpi;
	struct team *team; /* NULL: this process is alone */
};

static void run_release(struct diagnose_run *r)
{
	mpi_team_close(&r->mpi);
	lp_verdict_free(r->verdict);
	lp_dataset_close(r->data);
	words_release(&r->metrics);
	words_release(&r->split_by);
	free(r->state);
}

/* "0.8": must be above 0. */
static int warn_at_parse(const char *text, double *ret, struct lp_err *err)
{
	if (!text)
		return 0;
	if (!threshold_value_parse(text, ret) || !(*ret > 0))
		return lp_err_set(err, -EINVAL, "--warn-at: '%.64s' is not a number above 0", text);
	return 0;
}

static int run_prepare(struct diagnose_run *run, const struct diagnose_options *opt,
	struct lp_diagnose_options *to, struct lp_err *err)
{
	int r = words_split(&opt->metrics, &run->metrics, err);

	if (r < 0)
		return lp_err_prefix(err, "--metric");
	r = words_split(&opt->split_by, &run->split_by, err);
	if (r < 0)
		return lp_err_prefix(err, "--split-by");
	r = method_take(opt, to, err);
	if (r == 0)
		r = thresholds_agree(opt, err);
	if (r == 0)
		r = warn_at_parse(opt->warn_at, &to->warn_at, err);
	if (r == 0 && (opt->hang_after_us < 0 || opt->error_window_us < 0))
		r = lp_err_set(
			err, -EINVAL, "--hang-after and --error-window must be longer than 0");
	if (r < 0)
		return r;
	run->state = opt->state ? strdup(opt->state) : state_default_path();
	to->thresholds = opt->trained;
	to->worse = opt->worse.items;
	to->n_worse = opt->worse.n;
	to->fixed = opt->fixed.items;
	to->n_fixed = opt->fixed.n;
	to->topology = opt->topology;
	to->split_by = run->split_by.items;
	to->n_split = run->split_by.n;
	to->groups = opt->groups.items;
	to->n_groups = opt->groups.n;
	to->expect = opt->expect;
	to->state = run->state;
	to->metrics = run->metrics.items;
	to->n_metrics = run->metrics.n;
	to->components = opt->components.items;
	to->n_components = opt->components.n;
	to->hang_after_us = opt->hang_after_us;
	to->error_window_us = opt->error_window_us;
	to->warn = &run->warn;
	to->progress = progress_tell;
	to->progress_ctx = &run->progress;
	return 0;
}

/* The formats of a verdict, by the names of --format. */
enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_LINES, FORMAT_NAGIOS };

static int format_choose(const struct diagnose_options *opt, enum format *ret, struct lp_err *err)
{
	static const char *const names[] = {[FORMAT_TEXT] = "text",
		[FORMAT_JSON] = "json",
		[FORMAT_LINES] = "oneline",
		[FORMAT_NAGIOS] = "nagios",
		NULL};
	struct meant m;

	*ret = opt->json ? FORMAT_JSON : FORMAT_TEXT;
	if (!opt->format)
		return 0;
	for (size_t i = 0; names[i]; i++) {
		if (!strcmp(opt->format, names[i])) {
			*ret = (enum format)i;
			return 0;
		}
	}
	return lp_err_set(err, -EINVAL,
		"--format: '%.32s' is none of 'text', 'oneline', 'nagios' and 'json'%s",
		opt->format, meant_among(&m, opt->format, names));
}

static int text_print(
	const struct lp_verdict *v, const struct diagnose_options *opt, struct lp_err *err)
{
	struct verdict_text_options text = {.utf8 = terminal_utf8(),
		.verbose = opt->verbose,
		.top = (uint32_t)opt->top,
		.width = terminal_width(),
		.clock = {.utc = opt->times.utc, .now_us = clock_us(CLOCK_REALTIME)}};
	int r = terminal_colour(opt->colour, &text.colour, err);

	return r < 0 ? r : verdict_print_text(stdout, v, &text);
}

static int verdict_print(const struct lp_verdict *v, const struct diagnose_options *opt,
	enum format format, struct lp_err *err)
{
	int r = opt->html ? html_file_write(v, opt->html, (uint32_t)opt->top, err) : 0;

	if (r < 0)
		return r;
	if (opt->hourly)
		r = format == FORMAT_JSON ? verdict_print_hourly_json(stdout, v, (uint32_t)opt->top)
					  : verdict_print_hourly(stdout, v, (uint32_t)opt->top);
	else if (format == FORMAT_JSON)
		r = verdict_print_json(stdout, v);
	else if (format == FORMAT_LINES)
		r = verdict_print_lines(stdout, v);
	else if (format == FORMAT_NAGIOS)
		r = verdict_print_nagios(stdout, v);
	else
		r = text_print(v, opt, err);
	return r < 0 ? lp_err_sys(err, r, "cannot print the verdict") : 0;
}

/* If there is a verdict, it decides: unreadable files are among its reasons. */
static int exit_code(const struct lp_verdict *v, enum format format)
{
	static const int codes[] = {[LP_STATUS_OK] = EXIT_HEALTHY,
		[LP_STATUS_SUSPECTS] = EXIT_SUSPECTS,
		[LP_STATUS_UNKNOWN] = EXIT_UNKNOWN,
		[LP_STATUS_ABSENT] = EXIT_SUSPECTS,
		[LP_STATUS_WARNINGS] = EXIT_HEALTHY};

	return format == FORMAT_NAGIOS ? verdict_nagios_status(v) : codes[v->status];
}

/* No component matches the selection: add the nearest one to the reason. */
static void suggest_component(struct lp_verdict *v, struct lp_dataset *ds, const char *name)
{
	static const char start[] = "no component matches";

	for (uint32_t i = 0; i < v->n_unknown; i++) {
		struct strbuf sb = {0};
		char *text;

		if (strncmp(v->unknown[i], start, strlen(start)) != 0)
			continue;
		strbuf_puts(&sb, v->unknown[i]);
		data_add_nearest(&sb, ds, name);
		text = strbuf_take(&sb);
		if (text) { /* otherwise the reason is enough */
			free(v->unknown[i]);
			v->unknown[i] = text;
		}
	}
}

/* Resolve the times of the options, and open the data. In a team, the first process determines the
 * current time and reads standard input; the others print nothing. */
static int run_open(struct diagnose_run *run, struct diagnose_options *opt,
	const struct data_options *data, char **args, int n_args, struct lp_diagnose_options *how,
	struct lp_err *err)
{
	struct team *team = run->team;
	bool first = !team || !team->rank;
	int r = data_open(data, args, n_args, &run->warn, &run->data, err);

	if (r == 0 && first)
		r = time_options_settle(&opt->times, run->data, err);
	how->from_us = opt->times.since_us;
	how->to_us = opt->times.until_us;
	r = team_agree(team, r, err);
	if (r == 0)
		r = team_follow(team, &how->from_us, sizeof(how->from_us), err);
	if (r == 0)
		r = team_follow(team, &how->to_us, sizeof(how->to_us), err);
	if (r < 0 || !team)
		return r;
	if (!first)
		how->expect = how->state = NULL;
	lp_dataset_limit(run->data, how->from_us, how->to_us);
	lp_dataset_progress(run->data, how->progress, how->progress_ctx);
	r = dataset_join(run->data, team, err);
	return team_agree(team, r, err);
}

/* Diagnose. 1: another process of the team has the verdict. */
static int run_diagnose(struct diagnose_run *run, struct diagnose_options *opt,
	const struct data_options *data, char **args, int n_args, enum format *format,
	struct lp_err *err)
{
	struct lp_diagnose_options how = {0};
	struct lp_err past_err = {0};
	bool colour, first = !run->team || !run->team->rank;
	int r = run_prepare(run, opt, &how, err);

	if (r == 0)
		r = format_choose(opt, format, err);
	if (r == 0)
		r = terminal_colour(opt->colour, &colour, err);
	r = team_agree(run->team, r, err);
	if (!opt->quiet && first)
		progress_begin(&run->progress, stderr);
	if (r == 0)
		r = run_open(run, opt, data, args, n_args, &how, err);
	if (r == 0)
		r = lp_diagnose(run->data, &how, &run->verdict, err);
	if (!first) {
		*err = (struct lp_err){0}; /* the first process reports it */
		return 1;
	}
	mpi_team_close(&run->mpi);
	if (r == 0 && diagnose_past(run->data, &how, &run->verdict, &past_err) < 0)
		data_print_warning(NULL, past_err.text);
	progress_clear(&run->progress);
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	struct diagnose_options *opt = values;
	_cleanup_(run_release) struct diagnose_run run = {.warn = {.warn = data_print_once}};
	struct lp_err print_err = {0};
	enum format format = FORMAT_TEXT;
	int r = mpi_team_open(&run.mpi, err), printed;

	if (mpi_team_started() && !opt->colour)
		opt->colour = "never";
	if (r > 0)
		run.team = &run.mpi.team;
	if (run.team && run.team->rank)
		run.warn.warn = NULL;
	if (r >= 0) {
		r = run_diagnose(&run, opt, data, args, n_args, &format, err);
	} else if (!mpi_team_first()) {
		*err = (struct lp_err){0}; /* mpirun ends all processes if one fails, so only the
					    * first one fails */
		return EXIT_HEALTHY;
	}
	if (r > 0)
		return EXIT_HEALTHY;
	if (!run.verdict)
		return format == FORMAT_NAGIOS ? EXIT_NAGIOS_UNKNOWN : command_exit_code(r);
	if (opt->components.n && !run.verdict->n_components && !run.verdict->n_traced)
		suggest_component(run.verdict, run.data, opt->components.items[0]);
	*err = (struct lp_err){0}; /* the verdict has it */
	if (stack_evidence_read(run.verdict, run.data, &print_err) < 0)
		data_print_warning(NULL, print_err.text);
	printed = verdict_print(run.verdict, opt, format, &print_err);
	if (printed < 0)
		*err = print_err;
	return printed < 0 ? command_exit_code(printed) : exit_code(run.verdict, format);
}

static const struct example examples[] = {
	{"diagnose /var/lib/limpet", "what is wrong, in what was recorded here"},
	{"diagnose --html report.html --since 2011-05-09 DATA", "a report with plots"},
	{"diagnose --split-by observer /var/log/sysstat/sa15", "compare the disks of one host"},
	{"diagnose --topology site.yaml -m await --hourly DATA", "a daily list"},
	{"diagnose --method kl --thresholds trained.txt --json DATA", "a published method"},
	{NULL, NULL},
};

extern const struct command command_diagnose;
const struct command command_diagnose = {
	.name = "diagnose",
	.summary = "name the component that limps, and the cause",
	.usage = "[OPTION...] [DATA...]",
	.description =

		"Compares every component with its peers and names those that are slower or busier "
		"than their peers, or that stopped working: since when, in which metrics, for what "
		"cause, how severely, with what confidence, and what to do. DATA is an archive, a "
		"directory of archives, or anything that limpet imports (a sysstat file, CSV). "
		"Without DATA it reads the archives in this directory, or in /var/lib/limpet. "
		"Nothing needs to be configured or trained.\n\n"
		"The first line of the output begins with CRITICAL, WARNING, OK or UNKNOWN and "
		"says "
		"what is wrong. The evidence, what to do, and what was checked follow; -v adds the "
		"method.\n\n"
		"Thresholds come from the spread of the peers themselves. A component that is "
		"faster or less loaded than its peers, or slower only because it has more to do, "
		"is "
		"mentioned but not accused. A component that is slightly slow, but steadily and "
		"certainly, is a warning. With --thresholds or --threshold limpet follows the "
		"published methods exactly: a component that is anomalous in k of the last 2k-1 "
		"windows is a suspect.\n\n"
		"A single server has no peers. Its disks are compared with each other if there are "
		"at least three; otherwise each component is compared with its own past, if the "
		"data goes back far enough.\n\n"
		"Logs of system calls (limpet-trace(1)) need no peers: limpet names a server that "
		"passes an error on to a client (propagated-error), crashes (crash) or does not "
		"answer (server-hung), and a program that runs out of space, descriptors or memory "
		"(resource-exhausted). With --metric or --group these logs are not read.\n\n"
		"In recordings of limpet-stack(1), limpet compares layers of the same name on all "
		"servers by the time that a request takes in them (served), and the servers by the "
		"time that their clients wait for an answer (answer). It quotes the call of the "
		"application that waited longest.\n\n"
		"limpet looks at data in two ways at once. Windows of 30 seconds over the last "
		"half "
		"hour find faults that are short and severe; in large data only the end is "
		"examined "
		"in this way, and a note says so. Windows of 15 minutes over a day find faults "
		"that "
		"are long and mild. With --method, --service-method, --win-size, --win-shift, "
		"--smooth, --k, --downsample, --threshold or --thresholds all data is compared at "
		"once instead; data that is finer than 15 s and longer than two hours is then "
		"averaged to 15 s, unless --downsample says otherwise.\n\n"
		"If limpet cannot judge everything (too little data, no peers, recordings that do "
		"not overlap, a file that cannot be read, a missing server of the inventory) it "
		"says UNKNOWN and why.\n\n"
		"With many files, 'mpirun -n N limpet diagnose DATA...' divides the work among N "
		"processes, on one machine or on several that share the data: each reads a part of "
		"the files and compares a part of the peer groups. The first one prints the "
		"verdict, which is the same for every N.\n\n"
		"Exit status: 0 nothing is wrong (muted components and warnings do not count), 1 "
		"something is slow, failing or missing, 2 wrong usage, or none of the input can be "
		"read, 3 internal failure, 4 limpet cannot tell. With --format nagios: 0 OK, 1 "
		"WARNING, 2 CRITICAL, 3 UNKNOWN.",
	.options = options,
	.options_size = sizeof(struct diagnose_options),
	.takes_data = true,
	.computes = true,
	.in_team = true,
	.examples = examples,
	.run = run,
};
