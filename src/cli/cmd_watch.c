#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/stop.h"
#include "cli/terminal.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "explain/state.h"
#include "model/quantity.h"
#include "report/flow.h"
#include "report/incident.h"
#include "report/verdict_text.h"
#include "serve/feed.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LOOK_US 500000			     /* between two scans of the directory */
#define PAST_US (INT64_C(3600) * US_PER_SEC) /* how much existing data is used */
#define ROWS_DEFAULT 24

struct watch_options {
	const char *topology, *expect, *state, *colour;
	int64_t past_us, end_after_us;
	bool verbose, utc;
};

#define AT(member) offsetof(struct watch_options, member)

static const struct option_def options[] = {
	{"topology", 't', OPTION_STRING, AT(topology), "FILE",
		"topology file: which components are peers, and what they share (see "
		"limpet-topology(1))"},
	{"expect", 0, OPTION_STRING, AT(expect), "FILE",
		"the servers that must be there, one per line [those that the topology lists]"},
	{"state", 0, OPTION_STRING, AT(state), "FILE",
		"where 'limpet ack', 'mute' and 'clear' keep their notes [$LIMPET_STATE, or the "
		"user's own]"},
	{"past", 0, OPTION_SPAN, AT(past_us), "SPAN",
		"begin with this much of the existing data [1h]"},
	{"for", 0, OPTION_SPAN, AT(end_after_us), "SPAN", "end after this time [never]"},
	COLOUR_OPTION(AT(colour)),
	{"utc", 0, OPTION_FLAG, AT(utc), NULL, "UTC instead of local time (TZ)"},
	{"verbose", 'v', OPTION_FLAG, AT(verbose), NULL,
		"also print every metric and component of an incident, the groups, and the method"},
	{NULL},
};

/* The state of the command. */
struct watch {
	const char *dir;
	const struct watch_options *opt;
	struct lp_diagnose_options how;
	struct feed_options feeding;
	struct lp_warn warn;
	char *state;
	struct clocks clocks; /* that turned out to be wrong */
	struct feed *feed;
	struct lp_verdict *verdict;
	bool screen; /* the output is a terminal, which is redrawn */
	bool colour;
	char last[512]; /* the last output, if there is no screen */
};

/* How much of the existing data it begins with. */
static int64_t past_us(const struct watch *w)
{
	return w->opt->past_us ? w->opt->past_us : PAST_US;
}

static void watch_release(struct watch *w)
{
	lp_verdict_free(w->verdict);
	feed_free(w->feed);
	clocks_release(&w->clocks);
	free(w->state);
}

static unsigned screen_rows(void)
{
	struct winsize size;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row ? size.ws_row
									   : ROWS_DEFAULT;
}

/* "limpet watch DIR   12:34:56, data up to 12:34:50 (6 s ago), 12 servers report" */
static void head_print(const struct watch *w, int64_t now_us)
{
	const struct clock_style clock = {.utc = w->opt->utc, .now_us = now_us};
	int64_t mark_us = feed_watermark_us(w->feed);
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	char span[QUANTITY_TEXT_MAX];

	strbuf_printf(&sb, "limpet watch %s   ", w->dir);
	clock_add(&sb, &clock, now_us);
	if (mark_us != INT64_MIN) {
		strbuf_puts(&sb, ", data up to ");
		clock_add(&sb, &clock, mark_us);
		strbuf_printf(&sb, " (%s ago)",
			quantity_format_span(span_between(mark_us, now_us), span));
	}
	flow_print_line(stdout, "%s   Ctrl-C ends", sb.text ? sb.text : "");
}

/* Print the verdict, as many lines as fit on the screen. */
static int verdict_draw(const struct watch *w, unsigned rows, int64_t now_us)
{
	const struct verdict_text_options text = {.colour = w->colour,
		.utf8 = terminal_utf8(),
		.verbose = w->opt->verbose,
		.width = terminal_width(),
		.clock = {.utc = w->opt->utc, .now_us = now_us}};
	_cleanup_free_ char *all = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&all, &size);
	int r = out ? verdict_print_text(out, w->verdict, &text) : -ENOMEM;

	if (out && fclose(out) != 0)
		r = r < 0 ? r : -ENOMEM;
	for (char *at = all; r == 0 && rows > 1 && *at; rows--) {
		size_t len = strcspn(at, "\n");

		printf("%.*s\n", (int)len, at);
		at += len + (at[len] == '\n');
	}
	return r;
}

/* There is no recent data yet. */
static void wait_print(const struct watch *w)
{
	char span[QUANTITY_TEXT_MAX];

	quantity_format_span(past_us(w), span);
	printf("Waiting for data of the last %s or newer ...\n", span);
	flow_print_line(
		stdout, "('limpet diagnose %s' judges all data; --past begins earlier)", w->dir);
}

static int screen_draw(struct watch *w, int64_t now_us)
{
	int r = 0;

	fputs("\033[H\033[J", stdout);
	head_print(w, now_us);
	fputc('\n', stdout);
	if (w->verdict)
		r = verdict_draw(w, screen_rows() - 2, now_us);
	else
		wait_print(w);
	fflush(stdout);
	return r;
}

/* Without a screen, print a line whenever something has changed. */
static int line_draw(struct watch *w, int64_t now_us)
{
	const struct lp_verdict *v = w->verdict;
	const struct clock_style clock = {.utc = w->opt->utc, .now_us = now_us};
	_cleanup_(strbuf_release) struct strbuf sb = {0}, at = {0};

	if (!v)
		return 0;
	strbuf_printf(&sb, "%s  ", incident_state_name(v->status));
	if (v->n_incidents)
		incident_add_what(&sb, v, &v->incidents[0]);
	else if (v->n_unknown)
		strbuf_puts(&sb, v->unknown[0]);
	else if (v->n_warnings)
		incident_add_warning(&sb, v, &v->warnings[0]);
	else
		strbuf_puts(&sb, "nothing is slow, failing or missing");
	if (v->n_incidents > 1)
		strbuf_printf(&sb, "; %u more", v->n_incidents - 1);
	if (!sb.text || !strncmp(sb.text, w->last, sizeof(w->last) - 1))
		return sb.failed ? -ENOMEM : 0;
	snprintf(w->last, sizeof(w->last), "%s", sb.text);
	clock_add(&at, &clock, feed_watermark_us(w->feed));
	flow_print_line(stdout, "%s  %s", at.text ? at.text : "", sb.text);
	fflush(stdout);
	return 0;
}

static int feed_begin(struct watch *w, struct lp_err *err)
{
	lp_verdict_free(w->verdict);
	w->verdict = NULL;
	feed_free(w->feed);
	w->feed = NULL;
	w->feeding = (struct feed_options){.dir = w->dir,
		.diagnose = &w->how,
		.clocks = &w->clocks,
		.from_us = clock_us(CLOCK_REALTIME) - past_us(w),
		.warn = &w->warn};
	return feed_new(&w->feeding, &w->feed, err);
}

/* Read new data; make a verdict if one is due. */
static int look(struct watch *w, int64_t now_us, struct lp_err *err)
{
	struct lp_verdict *v = NULL;
	int r = feed_read(w->feed, INT64_MAX, now_us, err);

	if (r == -ESTALE) { /* an observer has a longer interval: start again */
		*err = (struct lp_err){0};
		return feed_begin(w, err);
	}
	if (r >= 0)
		r = feed_advance(w->feed, now_us, err);
	if (r < 0 || !feed_due(w->feed))
		return r < 0 ? r : 0;
	r = feed_verdict(w->feed, &v, err);
	if (r == -EAGAIN) { /* clocks are wrong: start again with what is known of them */
		*err = (struct lp_err){0};
		return feed_begin(w, err);
	}
	if (r < 0)
		return r;
	lp_verdict_free(w->verdict);
	w->verdict = v;
	return 0;
}

static int watch_on(struct watch *w, struct lp_err *err)
{
	int64_t begun_us = clock_us(CLOCK_MONOTONIC);
	int r = 0;

	while (r == 0 && !stop_signal) {
		int64_t now_us = clock_us(CLOCK_REALTIME);
		struct timespec nap = {.tv_nsec = LOOK_US * 1000};

		r = look(w, now_us, err);
		if (r == 0)
			r = w->screen ? screen_draw(w, now_us) : line_draw(w, now_us);
		if (w->opt->end_after_us &&
			clock_us(CLOCK_MONOTONIC) - begun_us >= w->opt->end_after_us)
			break;
		if (r == 0)
			nanosleep(&nap, NULL);
	}
	return r < 0 && !err->code ? lp_err_sys(err, r, "cannot print the verdict") : r;
}

static int exit_status(const struct lp_verdict *v)
{
	if (!v)
		return EXIT_UNKNOWN;
	return v->status == LP_STATUS_OK || v->status == LP_STATUS_WARNINGS ? EXIT_HEALTHY
		: v->status == LP_STATUS_UNKNOWN			    ? EXIT_UNKNOWN
									    : EXIT_SUSPECTS;
}

static int directory_check(const char *path, struct lp_err *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return lp_err_set(err, -ENOTDIR,
			"%s is not a directory: 'limpet watch' follows the archives of a "
			"directory, 'limpet diagnose' reads files",
			path);
	if (access(path, R_OK | X_OK) < 0)
		return lp_err_sys(err, -errno, "cannot read %s", path);
	return 0;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct watch_options *opt = values;
	_cleanup_(watch_release) struct watch w = {.opt = opt,
		.dir = n_args ? args[0] : "/var/lib/limpet",
		.warn = {.warn = data_print_warning},
		.screen = isatty(STDOUT_FILENO)};
	int r = terminal_colour(opt->colour, &w.colour, err);

	(void)data;
	if (r == 0 && n_args > 1)
		r = lp_err_set(err, -EINVAL, "name one directory");
	if (r == 0)
		r = directory_check(w.dir, err);
	if (r < 0)
		return EXIT_USAGE;
	w.state = opt->state ? strdup(opt->state) : state_default_path();
	w.how = (struct lp_diagnose_options){.topology = opt->topology,
		.expect = opt->expect,
		.state = w.state,
		.bounded = true,
		.warn = &w.warn};
	stop_catch();
	r = feed_begin(&w, err);
	if (r == 0)
		r = watch_on(&w, err);
	return r < 0 ? command_exit_code(r) : exit_status(w.verdict);
}

static const struct example examples[] = {
	{"watch", "the archives that 'limpet record' or a collector writes on this host"},
	{"watch /srv/limpet --expect servers.txt", "for a directory that rsync fills"},
	{NULL, NULL},
};

extern const struct command command_watch;
const struct command command_watch = {
	.name = "watch",
	.summary = "show the verdict of a directory as it grows",
	.usage = "[OPTION...] [DIR]",
	.description =
		"Follows the archives in a directory [/var/lib/limpet] while recorders, rsync or a "
		"collector write them, and shows the verdict of 'limpet diagnose' on one screen, "
		"redrawn whenever a window is complete. Where the output is not a terminal it "
		"prints a line whenever the verdict changes.\n\n"
		"For many servers, alerts and a history of incidents, use limpet-serve(1).\n\n"
		"Ctrl-C ends it. The exit status is that of the last verdict: 0 all is well, 1 "
		"something is wrong, 2 wrong usage or the directory cannot be read, 4 cannot tell.",
	.options = options,
	.options_size = sizeof(struct watch_options),
	.computes = true,
	.examples = examples,
	.run = run,
};
