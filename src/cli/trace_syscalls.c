#include "cli/command.h"
#include "cli/data_options.h"
#include "cli/observer.h"
#include "cli/trace_closing.h"
#include "cli/trace_output.h"

#include "base/cleanup.h"
#include "base/meant.h"
#include "base/time.h"
#include "base/words.h"
#include "trace/ports.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define INTERVAL_MIN_US (US_PER_SEC / 10)
#define INTERVAL_MAX_US (60 * US_PER_SEC)
/* Runs up to this long record every call by default. */
#define RECORDS_MAX_US (60 * US_PER_SEC)
#define RING_MIN ((uint64_t)64 << 10)
#define RING_MAX ((uint64_t)1 << 30)
#define PIDS_MAX WORDS_MAX

struct syscalls_options {
	const char *cgroup, *backend, *output, *name;
	int64_t interval_us, flush_us, duration_us, slow_us, stuck_us;
	uint64_t ring_bytes;
	struct option_list pids, comms, users, ports;
	struct send_options send;
	bool summary, records, quiet, json, exit_status;
};

#define AT(member) offsetof(struct syscalls_options, member)

static const struct option_def options[] = {
	{"pid", 'p', OPTION_LIST, AT(pids), "PID",
		"trace this process, its threads and the processes that it starts from now on; "
		"separate several with commas, or repeat the option"},
	{"comm", 0, OPTION_LIST, AT(comms), "NAME",
		"trace all processes that were or will be started under this name "
		"(/proc/PID/comm); a process that gave itself the name later is listed, but not "
		"traced"},
	{"user", 0, OPTION_LIST, AT(users), "USER",
		"with --comm: trace only processes of this user (name or number); separate "
		"several with commas"},
	{"cgroup", 0, OPTION_STRING, AT(cgroup), "PATH",
		"trace all processes of this control group (its directory, version 1 or 2) and of "
		"those below it"},
	{"records", 0, OPTION_FLAG, AT(records), NULL,
		"log every call [the default if --duration is at most a minute]"},
	{"summary", 0, OPTION_FLAG, AT(summary), NULL,
		"count calls, and log only those that failed or were slow, signals, starts and "
		"ends of processes [the default otherwise]"},
	{"backend", 0, OPTION_STRING, AT(backend), "NAME",
		"bpf (from inside the kernel, needs root), ptrace (stops the process at "
		"every call: at least ten times slower), or auto: the first that works here "
		"[auto]"},
	{"output", 'o', OPTION_STRING, AT(output), "PATH",
		"directory of the archives NAME-syscalls-TIME.lpa, or a file that ends in .lpa "
		"and does not exist yet [.]"},
	{"name", 'n', OPTION_STRING, AT(name), "NAME",
		"name of this server in component and file names [the host name]"},
	{"duration", 'd', OPTION_SPAN, AT(duration_us), "SPAN",
		"stop after this time [when no process is left]"},
	{"interval", 'i', OPTION_SPAN, AT(interval_us), "SPAN",
		"time between samples of the counts, 100ms to 1m, aligned to the wall clock [1s]"},
	{"slow", 0, OPTION_SPAN, AT(slow_us), "SPAN",
		"with --summary: log calls that take at least this long, unless they wait by "
		"design [1s]"},
	{"stuck", 0, OPTION_SPAN, AT(stuck_us), "SPAN",
		"report a call that has not returned after this time, unless it waits by design "
		"[5s]"},
	{"ports", 0, OPTION_LIST, AT(ports), "PORTS",
		"local TCP ports on which the traced processes serve, separated by commas [all "
		"on which a process in their network namespaces listens]"},
	{"ring", 0, OPTION_BYTES, AT(ring_bytes), "SIZE",
		"size of the buffer for events between the kernel and limpet, 64K to 1G [16M]"},
	{"flush", 0, OPTION_SPAN, AT(flush_us), "SPAN",
		"write to disk this often; a crash loses at most this much [10s; with --send 1s]"},
	SEND_OPTIONS(AT(send)),
	{"exit-status", 0, OPTION_FLAG, AT(exit_status), NULL,
		"exit with the status of COMMAND (128 plus the number of the signal that ended it) "
		"if the trace is good"},
	{"quiet", 'q', OPTION_FLAG, AT(quiet), NULL, "print nothing but errors"},
	{"json", 0, OPTION_FLAG, AT(json), NULL, "print the closing summary as JSON"},
	{NULL},
};

/* The parsed options; everything that the configuration points to. */
struct trace_request {
	struct words pids, comms, users, ports;
	pid_t pid_numbers[PIDS_MAX];
	uid_t user_numbers[WORDS_MAX];
	uint16_t port_numbers[WORDS_MAX];
	struct trace_output output;
	char meta[OBSERVER_META_MAX + 256];
	struct trace_session_config config;
};

static void request_release(struct trace_request *q)
{
	words_release(&q->pids);
	words_release(&q->comms);
	words_release(&q->users);
	words_release(&q->ports);
}

static int pids_parse(struct trace_request *q, struct lp_err *err)
{
	for (unsigned i = 0; i < q->pids.n; i++) {
		char *end;
		unsigned long pid = strtoul(q->pids.items[i], &end, 10);

		if (*end || end == q->pids.items[i] || pid < 1 || pid > INT32_MAX)
			return lp_err_set(err, -EINVAL, "--pid: '%s' is not the id of a process",
				q->pids.items[i]);
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			return lp_err_set(err, -ESRCH, "there is no process %lu", pid);
		if ((pid_t)pid == getpid())
			return lp_err_set(err, -EINVAL, "limpet cannot trace itself");
		q->pid_numbers[i] = (pid_t)pid;
	}
	return 0;
}

static int user_parse(const char *text, uid_t *ret, struct lp_err *err)
{
	/* cppcheck-suppress getpwnamCalled ; there is one thread so far */
	const struct passwd *entry = getpwnam(text);
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!entry && (*end || !isdigit((unsigned char)*text) || number >= UINT32_MAX))
		return lp_err_set(err, -EINVAL, "--user: there is no user '%s'", text);
	*ret = entry ? entry->pw_uid : (uid_t)number;
	return 0;
}

static int users_parse(struct trace_request *q, const struct option_list *list, struct lp_err *err)
{
	int r = words_split(list, &q->users, err);

	if (r == 0 && q->users.n && !q->comms.n)
		return lp_err_set(err, -EINVAL, "--user goes with --comm");
	for (unsigned i = 0; r == 0 && i < q->users.n; i++)
		r = user_parse(q->users.items[i], &q->user_numbers[i], err);
	return r;
}

static int cgroup_check(const char *path, struct lp_err *err)
{
	struct stat st;

	if (!path)
		return 0;
	if (stat(path, &st) < 0)
		return lp_err_sys(err, -errno, "--cgroup: %s", path);
	if (!S_ISDIR(st.st_mode))
		return lp_err_set(err, -ENOTDIR, "--cgroup: %s is not a directory", path);
	return 0;
}

/* Fill in the processes to trace. */
static int targets_fill(struct trace_request *q, const struct syscalls_options *opt, int n_args,
	char **args, struct lp_err *err)
{
	struct trace_targets *t = &q->config.trace.targets;
	int r = words_split(&opt->pids, &q->pids, err);

	if (r == 0)
		r = words_split(&opt->comms, &q->comms, err);
	if (r == 0)
		r = users_parse(q, &opt->users, err);
	if (r == 0)
		r = pids_parse(q, err);
	if (r == 0)
		r = cgroup_check(opt->cgroup, err);
	if (r < 0)
		return r;
	if (n_args) {
		args[n_args] = NULL; /* args has room: it also contained the name of the command */
		t->command = args;
	}
	t->pids = q->pid_numbers;
	t->n_pids = q->pids.n;
	t->comms = q->comms.items;
	t->n_comms = q->comms.n;
	t->uids = q->user_numbers;
	t->n_uids = q->users.n;
	t->cgroup = opt->cgroup;
	if (!t->n_pids && !t->n_comms && !t->cgroup && !t->command)
		return lp_err_set(err, -EINVAL,
			"nothing to trace: give --pid, --comm, --cgroup or -- COMMAND "
			"(see 'limpet help trace syscalls')");
	return 0;
}

static int numbers_check(const struct syscalls_options *opt, struct lp_err *err)
{
	if (opt->interval_us &&
		(opt->interval_us < INTERVAL_MIN_US || opt->interval_us > INTERVAL_MAX_US))
		return lp_err_set(err, -EINVAL, "--interval must be from 100ms to 1m");
	if (opt->ring_bytes && (opt->ring_bytes < RING_MIN || opt->ring_bytes > RING_MAX))
		return lp_err_set(err, -EINVAL, "--ring must be from 64K to 1G");
	if (opt->summary && opt->records)
		return lp_err_set(err, -EINVAL, "--summary and --records exclude each other");
	return 0;
}

static int ports_fill(
	struct trace_request *q, const struct syscalls_options *opt, struct lp_err *err)
{
	struct trace_config *t = &q->config.trace;
	int r = words_split(&opt->ports, &q->ports, err);

	if (r == 0)
		r = observer_ports(&q->ports, q->port_numbers, err);
	t->ports = q->port_numbers;
	t->n_ports = q->ports.n
		? q->ports.n
		: trace_ports_find("/proc", &t->targets, q->port_numbers, WORDS_MAX);
	return r;
}

static int64_t span_or(int64_t given_us, int64_t otherwise_us)
{
	return given_us ? given_us : otherwise_us;
}

/* Fill in where the archive goes. */
static int output_fill(
	struct trace_request *q, const struct syscalls_options *opt, struct lp_err *err)
{
	struct trace_session_config *c = &q->config;
	int r = trace_output_choose(opt->output, opt->name, "syscalls", &q->output, err);

	c->observer = q->output.name;
	c->name = q->output.file_name;
	c->dir = q->output.dir;
	c->path = q->output.path;
	return r;
}

static int backend_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	meant_consider(&m, "auto");
	for (const struct trace_backend *const *i = trace_backends; *i; i++)
		meant_consider(&m, (*i)->name);
	if (!strcmp(name, "bpf"))
		return lp_err_set(err, -EOPNOTSUPP,
			"--backend: limpet was built without bpf, which needs libbpf and clang "
			"(meson -Dtrace=enabled says what is missing)");
	return lp_err_set(err, -EINVAL,
		"--backend: there is no backend '%s'%s (see 'limpet help trace syscalls')", name,
		meant_question(&m));
}

/* The requested backend, or the best one that works. */
static int backend_choose(
	const char *name, bool quiet, const struct trace_backend **ret, struct lp_err *err)
{
	const struct trace_backend *b;
	struct lp_err why = {0};

	if (name && strcmp(name, "auto") != 0) {
		b = trace_backend_find(name);
		if (!b)
			return backend_unknown(name, err);
		*ret = b;
		return b->probe(err) < 0 ? lp_err_prefix(err, "%s", name) : 0;
	}
	b = trace_backend_choose(&why);
	if (!b) {
		*err = why;
		return why.code ? why.code
				: lp_err_set(err, -EOPNOTSUPP, "limpet was built without tracers");
	}
	if (b != trace_backends[0] && !quiet)
		fprintf(stderr, "limpet trace syscalls: %s: %s; continuing with %s\n",
			trace_backends[0]->name, why.text, b->name);
	*ret = b;
	return 0;
}

/* Fill in the description of the archive. */
static void meta_fill(struct trace_request *q)
{
	struct trace_session_config *c = &q->config;
	size_t len;

	observer_meta(true, q->meta);
	len = strlen(q->meta);
	snprintf(q->meta + len, sizeof(q->meta) - len,
		"trace=syscalls\nbackend=%s\nmode=%s\nslow_us=%" PRId64 "\nstuck_us=%" PRId64
		"\nunseen=%s\n",
		c->backend->name, c->trace.records ? "records" : "summary", c->trace.slow_ns / 1000,
		c->stuck_ns / 1000, c->backend->unseen ? c->backend->unseen() : "");
	c->meta = q->meta;
}

static int request_fill(struct trace_request *q, const struct syscalls_options *opt, int n_args,
	char **args, struct lp_err *err)
{
	struct trace_session_config *c = &q->config;
	int r = numbers_check(opt, err);

	if (r == 0)
		r = targets_fill(q, opt, n_args, args, err);
	if (r == 0)
		r = ports_fill(q, opt, err);
	if (r == 0)
		r = output_fill(q, opt, err);
	if (r == 0)
		r = backend_choose(opt->backend, opt->quiet, &c->backend, err);
	if (r < 0)
		return r;
	c->trace.records = opt->records ||
		(!opt->summary && opt->duration_us && opt->duration_us <= RECORDS_MAX_US);
	c->trace.slow_ns = span_or(opt->slow_us, US_PER_SEC) * 1000;
	c->trace.ring_bytes = opt->ring_bytes;
	c->interval_us = span_or(opt->interval_us, US_PER_SEC);
	c->flush_us = span_or(opt->flush_us, 10 * US_PER_SEC);
	c->duration_us = opt->duration_us;
	c->stuck_ns = span_or(opt->stuck_us, 5 * US_PER_SEC) * 1000;
	meta_fill(q);
	return 0;
}

/* The exit status of the command, as a shell reports it. */
static int command_code(int status)
{
	if (status < 0)
		return EXIT_HEALTHY;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

DEFINE_CLEANUP(struct ticker *, ticker_free);

static int trace(const struct syscalls_options *opt, struct trace_request *q,
	struct trace_stats *stats, struct lp_err *err)
{
	_cleanup_(closing_release) struct closing closing = {.config = &q->config,
		.quiet = opt->quiet,
		.live = !opt->quiet && !opt->json && isatty(STDERR_FILENO)};
	_cleanup_(ticker_freep) struct ticker *ticker = NULL;
	struct lp_warn warn = {.warn = data_print_warning};
	struct trace_session_config *c = &q->config;
	struct spool_config spool = {
		.dir = c->dir, .name = c->name, .path = c->path, .observer = c->observer};
	struct sender *sender = NULL;
	int r = trace_send_begin(&opt->send, &spool, &c->flush_us, &warn, &sender, err);

	if (r < 0)
		return r;
	c->written = spool.written;
	c->written_ctx = spool.written_ctx;
	c->warn = &warn;
	c->started = closing_started;
	c->progress = closing_progress;
	c->row = closing_row;
	c->programs = closing_programs;
	c->ctx = &closing;
	r = ticker_system(&ticker, err);
	if (r == 0)
		r = trace_session_run(c, ticker, stats, err);
	send_options_end(sender, &opt->send, opt->quiet);
	c->warn = NULL;
	c->ctx = NULL;
	if (r < 0)
		return r;
	if (opt->json)
		r = closing_print_json(&closing, stats, err);
	else if (!opt->quiet)
		closing_print(&closing, stats, stderr);
	if (r == 0 && (stats->spool.samples_lost || stats->spool.records_lost))
		r = lp_err_set(err, -EIO,
			"%" PRIu64 " samples and %" PRIu64 " records could not be written",
			stats->spool.samples_lost, stats->spool.records_lost);
	return r;
}

static int run(
	int n_args, char **args, void *values, const struct data_options *data, struct lp_err *err)
{
	const struct syscalls_options *opt = values;
	_cleanup_(request_release) struct trace_request q = {0};
	struct trace_stats stats = {.command_status = -ECHILD};
	int r = request_fill(&q, opt, n_args, args, err);

	(void)data;
	if (r == 0)
		r = trace(opt, &q, &stats, err);
	if (r < 0 || !opt->exit_status)
		return trace_exit_code(r);
	return command_code(stats.command_status);
}

static const struct example examples[] = {
	{"trace syscalls --comm glusterfsd -o traces",
		"trace a file server until Ctrl-C, as a summary"},
	{"trace syscalls -p 812 -d 30s -o calls.lpa",
		"log every call for half a minute, into one file"},
	{"trace syscalls --cgroup /sys/fs/cgroup/system.slice/gluster.service",
		"trace all processes of a service"},
	{"trace syscalls --records -- dd if=/mnt/file of=/dev/null",
		"trace a command from its first call to its last"},
	{"show --calls calls.lpa", "print what was traced, like strace"},
	{NULL, NULL},
};

extern const struct command trace_command_syscalls;
const struct command trace_command_syscalls = {
	.name = "trace syscalls",
	.summary = "trace the system calls of processes",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =

		"Traces processes, their threads and the processes that they start, and writes "
		"an archive. For each second, it has the number of reads and writes of files, "
		"how long they took, how many failed, and how long it took to read whole "
		"requests and responses. It also has two logs, of system calls and of "
		"descriptors. With --records, the log of system calls has every call. With "
		"--summary, it has only calls that failed or were slow, signals, and starts and "
		"ends of processes; all other calls are counted in the kernel. This costs "
		"least, and can run permanently.\n\n"
		"Tracing ends when no process is left, after --duration, or on SIGINT, SIGTERM "
		"or SIGHUP; then limpet prints a summary. The traced processes do not notice "
		"the beginning or the end of tracing, and a COMMAND that is still running "
		"continues. If events arrive faster than limpet can read them, it counts and "
		"reports those that are lost. Archives, and directories made for them, can be "
		"read only by their owner, because they contain paths and addresses.\n\n"
		"The backend bpf needs root (CAP_BPF and CAP_PERFMON) and a kernel with BTF. "
		"ptrace needs the right to trace the process (the same user, and no restriction "
		"by kernel.yama.ptrace_scope), slows it down a lot, and does not see "
		"io_uring.\n\n"
		"The exit status is 0 if the trace is good, 2 if there is nothing to trace or "
		"tracing is not permitted, 3 if tracing failed or the trace could not be "
		"written. The status of COMMAND is printed, and returned with --exit-status.",
	.options = options,
	.options_size = sizeof(struct syscalls_options),
	.examples = examples,
	.run = run,
};
