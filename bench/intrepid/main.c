/* Writes the recordings of a simulated storage system like Intrepid's.
 *
 *     gen_intrepid -o DIR [OPTION...]
 *
 * DIR/archives gets a file a server a day; beside it are topology.yaml (and attachments.csv),
 * events.csv, a line for each planted event with the parts that are right answers and how late the
 * thesis was, and truth.csv for `limpet score`.
 */
#include "base/cleanup.h"
#include "base/time.h"
#include "intrepid.h"
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char usage[] =
	"usage: gen_intrepid -o DIR [OPTION...]\n"
	"  -o, --output DIR       where everything goes; must not have archives yet\n"
	"  -d, --days N           how long [1]\n"
	"  -s, --step SPAN        time between samples [1s]\n"
	"  -a, --arrays N         how many, of 8 servers and 72 LUNs each [16]\n"
	"      --start TIME       the first sample [2011-04-17T00:00:05Z]\n"
	"      --seed N           another seed, another system [1]\n"
	"      --columns WHICH    all, or await-only: requests, sectors and times [all]\n"
	"      --quiet            no transient asymmetries, no work of servers, no lost samples\n"
	"  -p, --plant EVENT      KIND@START+DURATION:PART[:KEY=VALUE,...], as often as you like\n"
	"  -e, --events FILE      a file of such events, one a line\n"
	"Kinds of events:\n";

static void help(FILE *f)
{
	fputs(usage, f);
	for (int k = 0; k < N_EVENT_KINDS; k++)
		fprintf(f, "  %-20s %s\n", event_defs[k].name, event_defs[k].help);
	fputs("KEYs: luns=N and servers=N, how many are affected; factor=X, how much slower.\n", f);
}

enum { OPT_START = 256, OPT_SEED, OPT_COLUMNS, OPT_QUIET };

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"days", required_argument, NULL, 'd'},
	{"step", required_argument, NULL, 's'},
	{"arrays", required_argument, NULL, 'a'},
	{"start", required_argument, NULL, OPT_START},
	{"seed", required_argument, NULL, OPT_SEED},
	{"columns", required_argument, NULL, OPT_COLUMNS},
	{"quiet", no_argument, NULL, OPT_QUIET},
	{"plant", required_argument, NULL, 'p'},
	{"events", required_argument, NULL, 'e'},
	{"help", no_argument, NULL, 'h'},
	{NULL},
};

static int take_columns(struct intrepid *sys, const char *text, struct lp_err *err)
{
	sys->all_columns = !strcmp(text, "all");
	if (!sys->all_columns && strcmp(text, "await-only") != 0)
		return lp_err_set(err, -EINVAL, "--columns is all or await-only, not '%s'", text);
	return 0;
}

/* A number from 1 to `max`. */
static int take_number(const char *text, long max, long *ret, struct lp_err *err)
{
	char *end;

	*ret = strtol(text, &end, 10);
	if (!*text || *end || *ret < 1 || *ret > max)
		return lp_err_set(err, -EINVAL, "'%s' is not a number from 1 to %ld", text, max);
	return 0;
}

static int take_option(struct intrepid *sys, int option, const char *arg, struct lp_err *err)
{
	long n = 0;
	int r = 0;

	switch (option) {
	case 'o':
		sys->dir = arg;
		return 0;
	case 'd':
		r = take_number(arg, 1000, &n, err);
		sys->n_days = n;
		return r;
	case 's':
		return span_parse(arg, &sys->step_us, err);
	case 'a':
		r = take_number(arg, ARRAYS_MAX, &n, err);
		sys->n_arrays = (unsigned)n;
		return r;
	case OPT_START:
		return time_parse(arg, &sys->start_us, err);
	case OPT_SEED:
		r = take_number(arg, INT32_MAX, &n, err);
		sys->seed = (uint64_t)n;
		return r;
	case OPT_COLUMNS:
		return take_columns(sys, arg, err);
	case OPT_QUIET:
		sys->quiet = true;
		return 0;
	default:
		return 0; /* events: when the system is known */
	}
}

static int take_event(struct intrepid *sys, int option, const char *arg, struct lp_err *err)
{
	if (option == 'p')
		return event_parse(sys, arg, err);
	return option == 'e' ? events_read(sys, arg, err) : 0;
}

/* Read the options twice: events depend on all others. */
static int take_options(struct intrepid *sys, int argc, char **argv, struct lp_err *err)
{
	int option, r = 0;

	for (int pass = 0; pass < 2; pass++) {
		optind = 1;
		while (r == 0 &&
			(option = getopt_long(argc, argv, "o:d:s:a:p:e:h", options, NULL)) != -1) {
			if (option == 'h') {
				help(stdout);
				exit(0);
			}
			if (option == '?')
				return lp_err_set(err, -EINVAL, "see gen_intrepid --help");
			r = pass ? take_event(sys, option, optarg, err)
				 : take_option(sys, option, optarg, err);
		}
	}
	if (r == 0 && (!sys->dir || optind < argc))
		r = lp_err_set(err, -EINVAL, "-o DIR is needed, and nothing but options");
	if (r == 0 && (sys->step_us <= 0 || US_PER_DAY % sys->step_us))
		r = lp_err_set(err, -EINVAL, "a day must be a whole number of steps");
	sys->steps_a_day = r == 0 ? US_PER_DAY / sys->step_us : 0;
	return r;
}

static int make_dirs(const struct intrepid *sys, struct lp_err *err)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/archives", sys->dir);
	if ((mkdir(sys->dir, 0777) < 0 && errno != EEXIST) ||
		(mkdir(path, 0777) < 0 && errno != EEXIST))
		return lp_err_sys(err, -errno, "cannot create %s", path);
	return 0;
}

static int simulate(const struct intrepid *sys, struct lp_err *err)
{
	int r = 0;

#pragma omp parallel for schedule(dynamic, 1)
	for (unsigned a = 0; a < sys->n_arrays; a++) {
		struct lp_err here = {0};
		int got = array_simulate(sys, a, &here);

#pragma omp critical
		if (got < 0 && r == 0) {
			r = got;
			*err = here;
		}
	}
	return r;
}

int main(int argc, char **argv)
{
	struct intrepid sys = {.n_arrays = 16,
		.step_us = US_PER_SEC,
		.n_days = 1,
		.seed = 1,
		.all_columns = true,
		.start_us = INT64_C(1302998405) * US_PER_SEC};
	struct lp_err err = {0};
	int r = take_options(&sys, argc, argv, &err);

	if (r == 0)
		r = make_dirs(&sys, &err);
	if (r == 0)
		r = load_make(&sys, &err);
	if (r == 0)
		r = layout_write(&sys, &err);
	if (r == 0)
		r = simulate(&sys, &err);
	for (int set = 0; set < 2; set++) {
		free(sys.reads[set]);
		free(sys.writes[set]);
	}
	free(sys.events);
	free(sys.work);
	if (r < 0)
		fprintf(stderr, "gen_intrepid: %s\n", err.text);
	return r < 0 ? 2 : 0;
}
