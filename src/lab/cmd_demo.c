#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/html_file.h"
#include "cli/lab_program.h"
#include "cli/program.h"
#include "cli/stop.h"
#include "cli/terminal.h"

#include "base/cleanup.h"
#include "base/time.h"
#include "lab/demo_page.h"
#include "lab/run_state.h"
#include "lab/tool.h"
#include "report/progress.h"
#include "report/verdict_text.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <limpet/diagnose.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

#define NAME_DEFAULT "demo"
#define SERVERS 5U
#define CLIENTS 4U
#define DISK_BYTES (UINT64_C(768) << 20)
#define WORKLOAD "ddw"
#define FAULT_DEFAULT "slow-disk:6"
#define REPORT_DEFAULT "limpet-demo.html"
#define CLEAN_S 30U
#define LOOK_S 5
#define PATIENCE_S 120

struct demo_options {
	bool live, page;
	const char *fault, *on, *name, *html, *listen;
	int64_t stay_us;
};

#define AT(member) offsetof(struct demo_options, member)

static const struct option_def options[] = {
	{"live", 0, OPTION_FLAG, AT(live), NULL, "build a cluster and break it (needs root)"},
	{"page", 0, OPTION_FLAG, AT(page), NULL,
		"also run a collector and show everything on its page, until Ctrl-C"},
	{"listen", 0, OPTION_STRING, AT(listen), "ADDR:PORT",
		"let the collector listen there [127.0.0.1 and a free port]"},
	{"stay", 0, OPTION_SPAN, AT(stay_us), "SPAN",
		"keep the page for this time after the server has been found [until Ctrl-C]"},
	{"fault", 0, OPTION_STRING, AT(fault), "FAULT[:STRENGTH]",
		"the fault to inject ('limpet lab inject --list' shows all) [slow-disk:6]"},
	{"on", 0, OPTION_STRING, AT(on), "SERVER", "the server to break, s1 to s5 [one at random]"},
	{"name", 0, OPTION_STRING, AT(name), "NAME", "name of the lab [demo]"},
	{"html", 0, OPTION_STRING, AT(html), "FILE",
		"write the report there [" REPORT_DEFAULT ", in this directory]"},
	{NULL},
};

/* The state while it runs. */
struct demo {
	const struct demo_options *opt;
	struct demo_page page;
	struct run_config config;
	struct plan_run run;
	struct fault_spec spec;
	char dir[LAB_PATH_MAX]; /* the recording, in the directory of the lab, which is removed with
				 * it */
	int64_t broken_us;	/* when the fault began, by a steady clock */
	const char *html;	/* the path of the report */
};

static int fault_choose(struct demo *d, const struct demo_options *opt, struct lp_err *err)
{
	unsigned pick = 0;
	int r = fault_parse(opt->fault ? opt->fault : FAULT_DEFAULT, &d->spec, err);

	if (r < 0)
		return r;
	if (getrandom(&pick, sizeof(pick), 0) < 0)
		pick = (unsigned)time(NULL);
	if (opt->on)
		snprintf(d->spec.on, sizeof(d->spec.on), "%.7s", opt->on);
	else if (!*d->spec.on)
		snprintf(d->spec.on, sizeof(d->spec.on), "s%u", pick % SERVERS + 1);
	if (!lab_node(&d->run.lab, d->spec.on) || d->spec.on[0] != 's')
		return lp_err_set(err, -EINVAL, "there is no server '%.16s' (there are s1 to s%u)",
			opt->on ? opt->on : d->spec.on, SERVERS);
	return 0;
}

static int demo_init(struct demo *d, const struct demo_options *opt, struct lp_err *err)
{
	struct lab_config c;
	int r;

	d->opt = opt;
	d->config.stop = &stop_signal;
	d->run.config = &d->config;
	lab_config_init(&c);
	if (opt->name && strlen(opt->name) >= sizeof(c.name))
		return lp_err_set(err, -EINVAL, "--name: '%.64s' is too long", opt->name);
	snprintf(c.name, sizeof(c.name), "%s", opt->name ? opt->name : NAME_DEFAULT);
	c.n_servers = SERVERS;
	c.n_clients = CLIENTS;
	c.disk_bytes = DISK_BYTES;
	r = lab_init(&d->run.lab, &c, err);
	if (r == 0)
		r = fault_choose(d, opt, err);
	program_path("limpet", d->run.limpet);
	d->run.fs = fs_find(c.fs);
	if (opt->page)
		d->run.flush = "1s";
	lab_path(&d->run.lab, d->dir, "recording");
	return r;
}

static int nap(unsigned seconds, struct lp_err *err)
{
	for (unsigned i = 0; i < 5 * seconds; i++) {
		const struct timespec ts = {.tv_nsec = 200000000};

		if (stop_signal)
			return run_stopped_err(err);
		nanosleep(&ts, NULL);
	}
	return 0;
}

static int build(struct demo *d, struct lp_err *err)
{
	struct progress p;
	int r;

	printf("Building a cluster on this machine: %u servers, %u clients, %s.\n", SERVERS,
		CLIENTS, d->run.lab.config.fs);
	fflush(stdout);
	progress_begin(&p, stderr);
	r = lab_up(&d->run.lab, progress_tell, &p, err);
	progress_clear(&p);
	return r;
}

static int page_open(struct demo *d, struct lp_err *err)
{
	int r = demo_page_start(&d->run.lab, d->run.limpet, d->dir, d->opt->listen, &d->page, err);

	if (r < 0)
		return r;
	printf("\n    Open %s/ in a browser.\n\n", d->page.url);
	fflush(stdout);
	return 0;
}

/* Keep the page open until the user stops it. This is the normal end. */
static void page_stay(const struct demo *d)
{
	printf("\n"
	       "The page also opens an incident, once the fault has persisted for a while.");
	if (d->opt->stay_us)
		printf("\nThe page stays for %" PRId64 " s: %s/\n", d->opt->stay_us / US_PER_SEC,
			d->page.url);
	else
		printf("\nThe page stays at %s/ until Ctrl-C.\n", d->page.url);
	fflush(stdout);
	nap(d->opt->stay_us ? (unsigned)(d->opt->stay_us / US_PER_SEC) : UINT_MAX / 5, NULL);
}

static int work(struct demo *d, struct lp_err *err)
{
	const struct workload *w = workload_find(WORKLOAD);
	int r = w ? workload_check(w, err)
		  : lp_err_set(err, -ENOENT, "there is no workload " WORKLOAD);

	if (r == 0)
		r = workload_prepare(&d->run.lab, w, &stop_signal, err);
	if (r == 0)
		r = workload_start(&d->run.lab, w, 0, err);
	if (r == 0)
		r = run_record_start(&d->run, PLAN_FUNCTIONS_NONE, d->dir, err);
	if (r == 0 && d->opt->page)
		r = page_open(d, err);
	if (r < 0)
		return r;
	printf("All clients write now; every server and client is recorded. %u s without a "
	       "fault ...\n",
		CLEAN_S);
	fflush(stdout);
	return nap(CLEAN_S, err);
}

static int break_one(struct demo *d, struct lp_err *err)
{
	int r = fault_inject(&d->run.lab, &d->spec, err);

	if (r < 0)
		return r;
	d->broken_us = run_monotonic_us();
	printf("Broken: %s on %s (%s). The diagnosis does not know.\n", d->spec.fault->name,
		d->spec.on, d->spec.fault->summary);
	fflush(stdout);
	return 0;
}

DEFINE_CLEANUP(struct lp_verdict *, lp_verdict_free);
DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

/* The verdict on the recordings so far; archives that still grow are read up to their current
 * end. */
static int look(const struct demo *d, struct lp_verdict **ret, struct lp_err *err)
{
	_cleanup_(lp_dataset_closep) struct lp_dataset *data = NULL;
	const struct lp_diagnose_options how = {0};
	const char *paths[] = {d->dir};
	int r = lp_dataset_open(paths, 1, NULL, NULL, NULL, &data, err);

	return r < 0 ? r : lp_diagnose(data, &how, ret, err);
}

/* Is this server named, and no other? */
static bool names(const struct lp_verdict *v, const char *server)
{
	size_t len = strlen(server);

	for (uint32_t i = 0; i < v->n_suspects; i++) {
		const char *name = v->components[v->suspects[i].component]->text;

		if (strncmp(name, server, len) != 0 || name[len] != '/')
			return false;
	}
	return v->n_suspects > 0;
}

/* Diagnose repeatedly until a server is named. 1: the right one; 0: another one. */
static int watch_it(const struct demo *d, struct lp_err *err)
{
	struct verdict_text_options text = {.utf8 = terminal_utf8(),
		.width = terminal_width(),
		.clock = {.now_us = clock_us(CLOCK_REALTIME)}};

	terminal_colour(NULL, &text.colour, err);
	for (;;) {
		_cleanup_(lp_verdict_freep) struct lp_verdict *v = NULL;
		long after_s = (long)((run_monotonic_us() - d->broken_us) / US_PER_SEC);
		int r = look(d, &v, err);

		if (r < 0)
			return r;
		if (v->n_suspects) {
			printf("%4ld s: named.\n\n", after_s);
			r = verdict_print_text(stdout, v, &text);
			if (r == 0)
				r = html_file_write(v, d->html, 0, err);
			return r < 0 ? r : names(v, d->spec.on);
		}
		printf("%4ld s: no verdict yet\n", after_s);
		fflush(stdout);
		if (after_s > PATIENCE_S)
			return 0;
		r = nap(LOOK_S, err);
		if (r < 0)
			return r;
	}
}

static int live(struct demo *d, struct lp_err *err)
{
	struct lp_err later = {0};
	int r = build(d, err);

	if (r < 0)
		return r;
	r = work(d, err);
	if (r == 0)
		r = break_one(d, err);
	if (r == 0)
		r = watch_it(d, err);
	if (r >= 0 && d->opt->page)
		page_stay(d);
	demo_page_stop(&d->page);
	printf("\nRemoving the cluster.\n");
	fflush(stdout);
	if (lab_down(d->run.lab.config.name, r < 0 ? &later : err) < 0 && r >= 0)
		return -EIO;
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct demo_options *opt = values;
	struct demo *d;
	int r;

	(void)args;
	(void)data;
	if (n_args || !opt->live) {
		lp_err_set(err, -EINVAL,
			"use 'limpet demo --live' (as root): it builds a small cluster on this "
			"machine, breaks a server and names it; 'make demo' in the source tree "
			"needs no root");
		return EXIT_USAGE;
	}
	d = calloc(1, sizeof(*d));
	if (!d)
		return command_exit_code(lp_err_sys(err, -ENOMEM, "cannot start"));
	stop_catch();
	r = demo_init(d, opt, err);
	d->html = opt->html ? opt->html : REPORT_DEFAULT;
	if (r == 0)
		r = live(d, err);
	if (r > 0)
		printf("The report with plots is kept in %s.\n", d->html);
	if (r >= 0)
		printf(r ? "%s was broken, and %s was named.\n"
			 : "%s was broken, and %s alone was not named: a defect, please report "
			   "it.\n",
			d->spec.on, d->spec.on);
	free(d);
	return r < 0 ? command_exit_code(r) : r ? EXIT_HEALTHY : EXIT_INTERNAL;
}

static const struct example examples[] = {
	{"demo --live", "build a cluster, make a disk slow, find its server"},
	{"demo --live --page", "show the same in a browser while it happens"},
	{"demo --live --fault receive-pktloss:10 --on s2", "inject another fault"},
	{NULL, NULL},
};

extern const struct command command_demo;
const struct command command_demo = {
	.name = "demo",
	.summary = DEMO_SUMMARY,
	.usage = "--live [OPTION...]",
	.description =
		"Builds a small parallel file system on this machine ('limpet lab'), lets "
		"clients write, records every server and client, breaks one server, and "
		"diagnoses the recording every few seconds until it finds a server, which takes "
		"about a minute. With --page, a collector ('limpet serve') reads the same "
		"recording, and limpet prints the address of its page, which shows the servers, "
		"the incident and the plots as it happens. At the end, also after Ctrl-C, "
		"everything but the report is removed. The demonstration needs root and what a "
		"lab needs, and touches nothing that it did not make. To keep the recordings of "
		"such experiments, use 'limpet lab run'.\n\n"
		"The exit status is 0 if the verdict named the server that was broken, 3 if it "
		"did not.",
	.options = options,
	.options_size = sizeof(struct demo_options),
	.examples = examples,
	.run = run,
};
