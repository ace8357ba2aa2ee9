#include "cli/calls_options.h"
#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/observer.h"
#include "cli/profile_options.h"
#include "cli/send_options.h"

#include "base/cleanup.h"
#include "base/meant.h"
#include "base/time.h"
#include "collect/recorder.h"
#include "trace/netns.h"
#include "trace/probes/probes.h"
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INTERVAL_MIN_US (US_PER_SEC / 10)
#define INTERVAL_MAX_US (3600 * US_PER_SEC)
/* The instruments that are not collectors, but are selected like them. */
#define PROFILE "profile"
#define CALLS "calls"
#define KERNEL "kernel"
#define TCP_MAX_DEFAULT 256
#define TCP_MAX_MOST 65536

struct record_options {
	const char *output, *name, *root, *cgroup;
	int64_t interval_us, duration_us, flush_us, keep_age_us;
	uint64_t keep_bytes, tcp_max;
	struct option_list disks, nets, collect, ports, kernel;
	struct profile_options profile;
	struct calls_choice calls;
	struct send_options send;
	bool partitions, loops, own_network, quiet, json;
	bool counts_calls; /* not an option: such an instrument is active */
};

#define AT(member) offsetof(struct record_options, member)

static const struct option_def options[] = {
	{"output", 'o', OPTION_STRING, AT(output), "DIR", "directory for the archives [.]"},
	{"interval", 'i', OPTION_SPAN, AT(interval_us), "SPAN",
		"time between samples, 100ms to 1h, aligned to the wall clock, so that all "
		"servers sample at the same instants [1s; that of a recorded tree; 10s for "
		"profile alone]"},
	{"duration", 'd', OPTION_SPAN, AT(duration_us), "SPAN", "stop after this time [never]"},
	{"name", 'n', OPTION_STRING, AT(name), "NAME",
		"name of this server in component and file names [the host name]"},
	{"collect", 0, OPTION_LIST, AT(collect), "LIST",
		"collectors to run, separated by commas [all but beegfs, cgroup, nvme, profile, "
		"calls and kernel]"},
	{"disks", 0, OPTION_LIST, AT(disks), "GLOBS",
		"disks to record, separated by commas; !GLOB excludes [all whole disks]"},
	{"partitions", 0, OPTION_FLAG, AT(partitions), NULL, "also record partitions"},
	{"loops", 0, OPTION_FLAG, AT(loops), NULL, "also record loop and RAM disks"},
	{"nets", 0, OPTION_LIST, AT(nets), "GLOBS",
		"interfaces to record, separated by commas; !GLOB excludes [all but lo]"},
	{"ports", 0, OPTION_LIST, AT(ports), "PORTS",
		"TCP ports of the file system, separated by commas: only their connections are "
		"recorded [all connections]"},
	{"tcp-max", 0, OPTION_UINT, AT(tcp_max), "N",
		"record at most N remote addresses per direction, and all others as one [256]"},
	{"cgroup", 0, OPTION_STRING, AT(cgroup), "PATH",
		"record the CPU of this control group as the server's, for servers in "
		"containers; also runs the collector cgroup"},
	PROFILE_OPTIONS(AT(profile)),
	CALLS_OPTIONS(AT(calls)),
	{"own-network", 0, OPTION_FLAG, AT(own_network), NULL,
		"with profile, calls and kernel: record only processes in limpet's own network "
		"namespace, as in a container"},
	{"kernel-functions", 0, OPTION_LIST, AT(kernel), "GLOB",
		"functions of the kernel that the collector 'kernel' counts in addition to "
		"tracepoints, if permitted; may be given several times [none]"},
	{"flush", 0, OPTION_SPAN, AT(flush_us), "SPAN",
		"write to disk this often, and at least every 600 samples; a crash or power "
		"failure loses at most this much [10s; with --send 1s, and 10s for a power "
		"failure]"},
	{"keep", 0, OPTION_SPAN, AT(keep_age_us), "SPAN",
		"delete archives older than this; if the clock has jumped, only after a day of "
		"archives has confirmed the new time [never]"},
	{"keep-bytes", 0, OPTION_BYTES, AT(keep_bytes), "SIZE",
		"delete the oldest archives when all of them together are larger than this "
		"[never]"},
	SEND_OPTIONS(AT(send)),
	{"root", 0, OPTION_STRING, AT(root), "DIR",
		"read DIR/proc and DIR/sys instead of the running system's; or, if DIR has "
		"directories named by time (20240301T120000Z), replay those moments"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "print nothing but errors"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the closing summary as JSON"},
	{NULL},
};

static bool is_named(const struct words *w, const char *name)
{
	for (unsigned i = 0; i < w->n; i++) {
		if (!strcmp(w->items[i], name))
			return true;
	}
	return false;
}

static int collector_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (unsigned i = 0; collectors[i]; i++)
		meant_consider(&m, collectors[i]->name);
	return lp_err_set(err, -EINVAL,
		"--collect: there is no collector '%s'%s (see 'limpet help record')", name,
		meant_question(&m));
}

/* Choose the named collectors, or all that need no option, each once and in their usual order. */
static int collectors_choose(
	const struct words *w, bool cgroup, struct recorder_config *c, struct lp_err *err)
{
	unsigned n = 0;

	for (unsigned i = 0; i < w->n; i++) {
		if (!collector_find(w->items[i]) && strcmp(w->items[i], PROFILE) != 0 &&
			strcmp(w->items[i], CALLS) != 0 && strcmp(w->items[i], KERNEL) != 0)
			return collector_unknown(w->items[i], err);
	}
	c->named = w->n > 0;
	for (unsigned i = 0; collectors[i] && n + 1 < RECORDER_COLLECTORS_MAX; i++) {
		const struct collector *it = collectors[i];
		bool asked = !it->on_request || (cgroup && !strcmp(it->name, "cgroup"));

		if (w->n ? is_named(w, it->name) : asked)
			c->collectors[n++] = collectors[i];
	}
	return 0;
}

static int numbers_check(struct record_options *opt, struct lp_err *err)
{
	if (!opt->flush_us)
		opt->flush_us = opt->send.url ? SEND_FLUSH_US : 10 * US_PER_SEC;
	if (opt->interval_us &&
		(opt->interval_us < INTERVAL_MIN_US || opt->interval_us > INTERVAL_MAX_US))
		return lp_err_set(err, -EINVAL, "--interval must be from 100ms to 1h");
	if (opt->tcp_max > TCP_MAX_MOST)
		return lp_err_set(err, -EINVAL, "--tcp-max must be at most %d", TCP_MAX_MOST);
	return 0;
}

/* The system's clock or, for a recorded tree of several moments, that of the tree. */
static int ticker_choose(const struct record_options *opt, struct proc_root *root,
	struct ticker **ret, struct lp_err *err)
{
	char proc[4096];
	struct stat st;

	root->dir = opt->root ? opt->root : "";
	if (!opt->root)
		return ticker_system(ret, err);
	snprintf(proc, sizeof(proc), "%s/proc", opt->root);
	if (stat(proc, &st) == 0)
		return ticker_system(ret, err);
	return ticker_replay(opt->root, root, ret, err);
}

/* The given interval, else that of a recorded tree, else one second.
 */
static int64_t interval_choose(const struct record_options *opt, const struct ticker *ticker,
	const struct recorder_config *c)
{
	if (opt->interval_us)
		return opt->interval_us;
	if (c->n_beside && !c->collectors[0])
		return opt->counts_calls ? CALLS_INTERVAL_US : PROFILE_INTERVAL_US;
	return ticker && ticker->interval_us ? ticker->interval_us : US_PER_SEC;
}

static void print_summary(const struct record_options *opt, const struct loop_stats *st)
{
	if (opt->json) {
		printf("{\"samples\":%" PRIu64 ",\"samples_written\":%" PRIu64
		       ",\"samples_lost\":%" PRIu64 ",\"instants_missed\":%" PRIu64
		       ",\"components\":%" PRIu64 ",\"files\":%" PRIu64 ",\"last_file\":",
			st->samples, st->spool.samples_written, st->spool.samples_lost, st->late,
			st->components, st->spool.files);
		json_t *path = json_string(st->spool.path);
		json_dumpf(path, stdout, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
		json_decref(path);
		printf("}\n");
		return;
	}
	if (opt->quiet)
		return;
	fprintf(stderr, "recorded %" PRIu64 " samples of %" PRIu64 " components into %s",
		st->samples, st->components, st->spool.path[0] ? st->spool.path : "no file");
	if (st->late)
		fprintf(stderr, "; %" PRIu64 " instants were missed", st->late);
	fprintf(stderr, "\n");
}

static int record(struct recorder_config *config, const struct record_options *opt,
	struct ticker *ticker, struct lp_err *err)
{
	struct loop_stats stats;
	struct sender *sender = NULL;
	char span[TIME_TEXT_MAX];
	int r = send_options_begin(&opt->send, &config->spool, config->collect.observer, INT64_MIN,
		config->warn, &sender, err);

	if (r < 0)
		return r;
	if (!opt->quiet)
		fprintf(stderr, "recording %s every %s into %s%s%s; Ctrl-C stops\n",
			config->collect.observer, span_format(config->interval_us, span),
			config->spool.dir, sender ? ", and sending it to " : "",
			sender ? opt->send.url : "");
	r = recorder_run(config, ticker, &stats, err);
	send_options_end(sender, &opt->send, opt->quiet);
	if (r < 0)
		return r;
	print_summary(opt, &stats);
	if (stats.spool.samples_lost)
		return lp_err_set(err, -EIO, "%" PRIu64 " samples could not be written",
			stats.spool.samples_lost);
	return 0;
}

/* Check the options of the profile, and begin to sample functions if `asked`. If that is
 * impossible, collectors continue without it.
 */
static int profile_begin(const struct record_options *opt, bool asked, const char *observer,
	struct recorder_config *c, struct profile **ret, struct lp_err *err)
{
	struct profile_config config = {.observer = observer};
	struct lp_err here = {0}, why = {0};
	int r = profile_options_apply(&opt->profile, &config, err);

	if (r < 0 || !asked)
		return r;
	if (opt->root)
		return lp_err_set(
			err, -EINVAL, "--collect: a recorded tree has no CPUs to profile");
	if (opt->own_network && !netns_of("/proc", 0, &config.netns))
		return lp_err_sys(err, -errno, "--own-network");
	/* If it is the only instrument, also sample the time after the last instant. */
	config.at_ends = !c->collectors[0];
	config.interval_us =
		opt->interval_us > PROFILE_INTERVAL_US ? opt->interval_us : PROFILE_INTERVAL_US;
	if (!c->collectors[0] && opt->interval_us)
		config.interval_us = opt->interval_us;
	r = profile_new(&config, ret, &why, &here);
	if (r < 0 && r != -EINVAL && c->collectors[0]) {
		lp_warn_raise(c->warn, "without " PROFILE ": %s", here.text);
		return 0;
	}
	if (r < 0) {
		*err = here;
		return lp_err_prefix(err, PROFILE);
	}
	if (why.code)
		lp_warn_raise(c->warn, PROFILE ": %s; continuing with %s", why.text,
			profile_sampler(*ret));
	c->beside[c->n_beside++] = (struct loop_instrument){profile_instrument(*ret), *ret};
	return 0;
}

/* Begin to read the counts of programs, in the same way. */
static int calls_begin(struct record_options *opt, const char *observer, struct recorder_config *c,
	struct calls **ret, struct lp_err *err)
{
	struct calls_config config = {
		.observer = observer, .interval_us = opt->interval_us, .warn = c->warn};
	struct lp_err here = {0};
	int r = calls_options_apply(&opt->calls, &config, err);

	if (r < 0)
		return r;
	if (opt->root)
		return lp_err_set(
			err, -EINVAL, "--collect: a recorded tree has no programs that count");
	if (opt->own_network && !netns_of("/proc", 0, &config.netns))
		return lp_err_sys(err, -errno, "--own-network");
	r = calls_new(&config, ret, &here);
	if (r < 0 && c->collectors[0]) {
		lp_warn_raise(c->warn, "without " CALLS ": %s", here.text);
		return 0;
	}
	if (r < 0) {
		*err = here;
		return lp_err_prefix(err, CALLS);
	}
	opt->counts_calls = true;
	c->beside[c->n_beside++] = (struct loop_instrument){calls_instrument(*ret), *ret};
	return 0;
}

/* Find functions of the kernel that can be counted; if there are none, tracepoints. */
static int kernel_open(const struct record_options *opt, struct probes_config *config,
	struct probe_places *places, struct probes **ret, struct lp_err *err)
{
	struct lp_err why = {0};
	int r = opt->kernel.n ? probe_places_find_kernel(places, "/proc/kallsyms",
					opt->kernel.items, opt->kernel.n, err)
			      : 0;

	if (r < 0)
		return r;
	config->places = places->n ? places : NULL;
	r = probes_new(config, ret, &why);
	if (r == -EOPNOTSUPP && config->places) {
		lp_warn_raise(config->warn, KERNEL ": %s", why.text);
		config->places = NULL;
		return probes_new(config, ret, err);
	}
	if (r < 0)
		*err = why;
	return r;
}

/* Begin to count events of the kernel, in the same way. */
static int kernel_begin(struct record_options *opt, const char *observer, struct recorder_config *c,
	struct probe_places *places, struct probes **ret, struct lp_err *err)
{
	struct probes_config config = {.observer = observer,
		.tracepoints = true,
		.interval_us = opt->interval_us,
		.warn = c->warn};
	struct lp_err here = {0};
	int r;

	if (opt->root)
		return lp_err_set(err, -EINVAL, "--collect: a recorded tree has no kernel");
	if (opt->own_network && !netns_of("/proc", 0, &config.netns))
		return lp_err_sys(err, -errno, "--own-network");
	r = kernel_open(opt, &config, places, ret, &here);
	if (r < 0 && c->collectors[0]) {
		lp_warn_raise(c->warn, "without " KERNEL ": %s", here.text);
		return 0;
	}
	if (r < 0) {
		*err = here;
		return lp_err_prefix(err, KERNEL);
	}
	opt->counts_calls = true;
	c->beside[c->n_beside++] = (struct loop_instrument){probes_instrument(*ret), *ret};
	return 0;
}

DEFINE_CLEANUP(struct probes *, probes_free);
DEFINE_CLEANUP(struct ticker *, ticker_free);
DEFINE_CLEANUP(struct calls *, calls_free);
DEFINE_CLEANUP(struct profile *, profile_free);

static int run_checked(struct record_options *opt, struct lp_err *err)
{
	_cleanup_(words_release) struct words disks = {0};
	_cleanup_(words_release) struct words nets = {0};
	_cleanup_(words_release) struct words names = {0};
	_cleanup_(words_release) struct words ports = {0};
	_cleanup_(profile_freep) struct profile *profile = NULL;
	_cleanup_(calls_freep) struct calls *calls = NULL;
	_cleanup_(probe_places_release) struct probe_places places = {0};
	_cleanup_(probes_freep) struct probes *probes = NULL;
	_cleanup_(ticker_freep) struct ticker *ticker = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct proc_root root = {0};
	struct recorder_config c = {.warn = &warn};
	uint16_t port_numbers[WORDS_MAX];
	char name[OBSERVER_NAME_MAX], meta[OBSERVER_META_MAX];
	int r = numbers_check(opt, err);

	if (r == 0)
		r = observer_name(opt->name, name, err);
	if (r == 0)
		r = words_split(&opt->disks, &disks, err);
	if (r == 0)
		r = words_split(&opt->nets, &nets, err);
	if (r == 0)
		r = words_split(&opt->collect, &names, err);
	if (r == 0)
		r = words_split(&opt->ports, &ports, err);
	if (r == 0)
		r = observer_ports(&ports, port_numbers, err);
	if (r == 0)
		r = collectors_choose(&names, opt->cgroup != NULL, &c, err);
	if (r == 0)
		r = ticker_choose(opt, &root, &ticker, err);
	if (r == 0)
		r = profile_begin(opt, is_named(&names, PROFILE), name, &c, &profile, err);
	if (r == 0 && is_named(&names, CALLS))
		r = calls_begin(opt, name, &c, &calls, err);
	if (r == 0 && is_named(&names, KERNEL))
		r = kernel_begin(opt, name, &c, &places, &probes, err);
	if (r < 0)
		return r;
	observer_meta(!opt->root, meta); /* the addresses of a recorded tree are unknown */
	c.collect = (struct collect_config){.observer = name,
		.root = &root,
		.disks = disks.items,
		.n_disks = disks.n,
		.nets = nets.items,
		.n_nets = nets.n,
		.partitions = opt->partitions,
		.loops = opt->loops,
		.ports = port_numbers,
		.n_ports = ports.n,
		.cgroup = opt->cgroup,
		.tcp_max = opt->tcp_max ? (unsigned)opt->tcp_max : TCP_MAX_DEFAULT};
	c.spool = (struct spool_config){.dir = opt->output ? opt->output : ".",
		.name = name,
		.keep_age_us = opt->keep_age_us,
		.keep_bytes = opt->keep_bytes,
		.meta = meta};
	c.interval_us = interval_choose(opt, ticker, &c);
	c.flush_us = opt->flush_us;
	c.duration_us = opt->duration_us;
	return record(&c, opt, ticker, err);
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	(void)data;
	if (n_args) {
		lp_err_set(err, -EINVAL, "unexpected argument '%s' (see 'limpet help record')",
			args[0]);
		return EXIT_USAGE;
	}
	return command_exit_code(run_checked(values, err));
}

static const struct example examples[] = {
	{"record -o /var/lib/limpet --keep 30d", "record this server permanently"},
	{"record --duration 10m --interval 100ms", "look closely for ten minutes"},
	{"record --disks 'dm-*' --ports 6800,6801", "record only multipath devices and two ports"},
	{"record --collect diskstats,tcp,profile -o DIR",
		"record what the CPUs do, and disks and connections"},
	{"record -o /var/lib/limpet --keep 7d --send https://collector:9700",
		"also send it to a collector"},
	{"record --root case-1234 -o out", "turn a recorded tree of /proc into an archive"},
	{NULL, NULL},
};

extern const struct command command_record;
const struct command command_record = {
	.name = "record",
	.summary = "record this server's disks, network and load",
	.usage = "[OPTION...] [-o DIR]",
	.description =

		"Samples the counters of the kernel at aligned instants and appends them to an "
		"archive, DIR/NAME-20110509T000005Z.lpa. A new archive begins every day at "
		"00:00:05 UTC, and earlier if thousands of interfaces or addresses have come "
		"and gone. The recorder needs no privileges, changes nothing on the system, and "
		"costs a fraction of a millisecond per sample.\n\n"
		"If it is killed or loses power, it loses at most the last ten seconds "
		"(--flush) and continues the same file when it starts again. If the disk is "
		"full or gone, it keeps sampling, reports the problem once, counts the lost "
		"samples, and resumes writing when it can. On SIGTERM, SIGINT and SIGHUP, it "
		"writes the rest and exits.\n\n"
		"With --send it also sends the archive to a collector ('limpet serve'), every "
		"second. Nothing is lost while the collector cannot be reached: later, the "
		"recorder sends the missing part from its archives, unless --keep or "
		"--keep-bytes has deleted it. Recording never waits for the network.\n\n"
		"Three collectors record functions, so that 'limpet diagnose' can compare "
		"servers by them. 'profile' samples the functions that the CPUs execute, sums "
		"the samples every ten seconds (or every --interval, if that is longer or "
		"profile runs alone), and needs root; see limpet-trace-samples(1). 'calls' "
		"reads the counts of programs that were built with 'limpet cc'; see "
		"limpet-trace-calls(1). 'kernel' counts tracepoints of the kernel "
		"(retransmissions, disk requests, context switches) and, with "
		"--kernel-functions, calls and times of its functions; it needs root and limpet "
		"built with BPF.",
	.options = options,
	.options_size = sizeof(struct record_options),
	.takes_collectors = true,
	.examples = examples,
	.run = run,
};
