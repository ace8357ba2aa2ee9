#include "trace/session.h"

#include "base/cleanup.h"
#include "trace/ptrace_proc.h"
#include "trace/session_state.h"
#include "trace/targets.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* At the end, calls that have taken this long, and should not wait, are reported. */
#define STUCK_END_NS NS_PER_SEC
#define PROCESSES_MAX 65536

void trace_session_free(struct session *s)
{
	if (!s)
		return;
	if (s->state)
		s->backend->close(s->state);
	descriptors_free(s->descriptors);
	tally_free(s->tally);
	trace_rows_free(s->rows);
	free(s->ended);
	idmap_release(&s->ended_pids);
	idmap_release(&s->seen);
	idmap_release(&s->asked);
	idmap_release(&s->told_fds);
	names_release(&s->names);
	trace_programs_release(&s->programs);
	free(s);
}

struct session *trace_session_new(const struct trace_session_config *config)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->config = config;
	s->backend = config->backend;
	s->counts = !config->trace.records && config->backend->counts && config->backend->tally;
	s->stats.command_status = -ECHILD;
	s->descriptors = descriptors_new("/proc", session_change, s);
	s->tally = tally_new();
	s->rows = trace_rows_new(config->observer, session_comm, s);
	if (!s->descriptors || !s->tally || !s->rows) {
		trace_session_free(s);
		return NULL;
	}
	return s;
}

const struct trace_stats *trace_session_stats(const struct session *s)
{
	return &s->stats;
}

/* Note its name, while it can be read. */
static int note_name(struct session *s, pid_t pid)
{
	const char *name = descriptors_comm(s->descriptors, pid);

	return names_set(&s->names, pid, name, strlen(name));
}

/* The currently traced processes; the caller frees the array. */
static int list_processes(struct session *s, pid_t **ret, unsigned *ret_n, struct lp_err *err)
{
	pid_t *pids = calloc(PROCESSES_MAX, sizeof(*pids));
	unsigned n;

	if (!pids)
		return lp_err_sys(err, -ENOMEM, "cannot list the processes");
	n = s->backend->processes(s->state, pids, PROCESSES_MAX);
	*ret_n = n < PROCESSES_MAX ? n : PROCESSES_MAX;
	*ret = pids;
	return 0;
}

/* Read the existing processes and their open descriptors. */
static int read_processes(struct session *s, struct lp_err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	unsigned n = 0;
	int r = list_processes(s, &pids, &n, err);

	for (unsigned i = 0; r == 0 && i < n; i++) {
		s->stats.processes++;
		session_program(s, pids[i]);
		r = idmap_put(&s->seen, (uint64_t)pids[i], 0);
		if (r == 0)
			r = s->counts ? note_name(s, pids[i])
				      : descriptors_read(s->descriptors, pids[i], now_ns, err);
	}
	return r;
}

static int session_open(void *config, void **ret_state, struct lp_err *err)
{
	(void)err;
	*ret_state = config;
	return 0;
}

/* Report why a process with this name is not traced. */
static int note_disguise(void *ctx, pid_t pid)
{
	const struct session *s = ctx;
	const struct trace_targets *targets = &s->config->trace.targets;
	char path[PATH_MAX], name[32] = "?", user[64];
	ssize_t n;
	uid_t uid = 0;

	if (target_match(targets, pid) != TARGET_DISGUISE || !proc_uid(pid, &uid))
		return 0;
	n = proc_exe(pid, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	proc_comm(pid, name, sizeof(name));
	lp_warn_raise(s->config->warn,
		"process %d calls itself '%s' but runs %s (user %s): it is not traced; to "
		"trace it, use '-p %d'",
		(int)pid, name, n > 0 ? path : "something else",
		trace_user_name(uid, user, sizeof(user)), (int)pid);
	return 0;
}

static void tell_programs(struct session *s, bool at_end)
{
	if (s->config->programs && s->config->trace.targets.n_comms)
		s->config->programs(s->config->ctx, &s->programs, at_end);
}

/* Events arrive from here on. */
static int session_begin(void *state, struct collect_sink *sink, struct lp_err *err)
{
	struct session *s = state;
	const struct trace_session_config *c = s->config;
	const struct trace_sink events = {.event = session_event, .ctx = s};
	int r;

	s->spool = sink->spool;
	s->wall_offset_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	r = s->backend->open(&c->trace, &events, &s->state, err);
	if (r == 0)
		r = read_processes(s, err);
	s->start_ns = clock_ns(CLOCK_MONOTONIC);
	if (r < 0)
		return r;
	if (c->started)
		c->started(c->ctx, &s->stats);
	if (c->trace.targets.n_comms)
		proc_each("/proc", note_disguise, s);
	tell_programs(s, false);
	return 0;
}

static int session_descriptor(void *state)
{
	const struct session *s = state;

	return s->backend->descriptor ? s->backend->descriptor(s->state) : -1;
}

/* Deliver pending events. A wait that ends by a signal is not a failure. */
static int deliver(struct session *s, int timeout_ms, struct lp_err *err)
{
	int r = s->backend->poll(s->state, timeout_ms, err);

	s->stats.ended |= r == 1;
	return r < 0 && r != -EINTR ? r : 0;
}

static int session_serve(void *state, int timeout_ms, struct lp_err *err)
{
	struct session *s = state;
	int r = s->stats.ended ? 0 : deliver(s, timeout_ms, err);

	if (r == 0)
		r = session_relieve(s, err);
	return r < 0 ? r : s->stats.ended;
}

/* Note in the log the number of missing events that no event has reported. Only at the end, because
 * the backend may still deliver the event that reports them. */
static int note_lost(struct session *s, int64_t wall_ns)
{
	struct trace_event e = {.what = TRACE_LOST, .start_ns = wall_ns};

	s->stats.lost = s->backend->lost(s->state);
	if (!s->at_end || s->stats.lost <= s->lost_told)
		return 0;
	e.ret = (int64_t)(s->stats.lost - s->lost_told);
	s->lost_told = s->stats.lost;
	return trace_log_add(spool_log(s->spool), &e);
}

/* Report once per kind that there are more names than rows. */
static void note_folded(struct session *s, int64_t wall_ns)
{
	unsigned new = trace_rows_folded(s->rows) & ~s->folded_told;
	char text[80];

	for (unsigned k = 0; k < TRACE_ROWS_KINDS; k++) {
		if (!(new >> k & 1))
			continue;
		snprintf(text, sizeof(text), "kind=folded rows=%s into=other",
			trace_rows_schemas[k].kind);
		spool_event(s->spool, wall_ns / 1000, text);
		lp_warn_raise(s->config->warn,
			"too many rows of kind %s: the others are summed in one row, 'other'",
			trace_rows_schemas[k].kind);
	}
	s->folded_told |= new;
}

/* The listening sockets of a process are looked up when it appears, and once more when it has had
 * time to start. The number per sample is limited: a program that starts thousands of processes is
 * not a server. */
#define LISTENING_AGAIN 10
#define LISTENING_MAX 64

/* Records report all descriptors; summaries only these. */
static int note_listening(struct session *s, int64_t mono_ns, struct lp_err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	unsigned n = 0, looks = 0;
	int r;

	if (s->config->trace.records)
		return 0;
	r = list_processes(s, &pids, &n, err);
	for (unsigned i = 0; r == 0 && i < n && looks < LISTENING_MAX; i++) {
		uint32_t samples = 0;

		idmap_get(&s->asked, (uint64_t)pids[i], &samples);
		if (samples == 0 || samples == LISTENING_AGAIN) {
			looks++;
			r = descriptors_listening(s->descriptors, pids[i], mono_ns, err);
		}
		if (r == 0 && samples <= LISTENING_AGAIN)
			r = idmap_put(&s->asked, (uint64_t)pids[i], samples + 1);
	}
	return r;
}

/* If events were lost, some of them may have been ends of processes. */
static int look_for_missing(struct session *s, struct lp_err *err)
{
	_cleanup_free_ pid_t *pids = NULL;
	uint64_t lost = s->backend->lost(s->state);
	unsigned n = 0;
	int r;

	if (lost == s->lost_looked)
		return 0;
	/* These began before the list was made and are delivered after it, so they are kept. */
	r = deliver(s, 0, err);
	if (r == 0)
		r = list_processes(s, &pids, &n, err);
	if (r < 0)
		return r;
	r = n && n < PROCESSES_MAX ? session_miss(s, pids, n) : 0;
	if (r < 0)
		return lp_err_sys(err, r, "cannot continue tracing");
	s->lost_looked = lost;
	return 0;
}

/* Update the counts. The kernel also counts processes that it reported after the last delivery and
 * that may be gone, so first process their events and names. */
static int update_counts(struct session *s, struct lp_err *err)
{
	int r = session_count_ended(s);

	if (r < 0)
		return lp_err_sys(err, r, "cannot continue tracing");
	if (!s->counts)
		return 0;
	r = s->backend->tally(s->state, s->tally, err);
	return r < 0 ? r : deliver(s, 0, err);
}

/* Find pending calls, and update the counts. */
static int look(struct session *s, int64_t wall_ns, int64_t mono_ns, bool last, struct lp_err *err)
{
	int r = look_for_missing(s, err);

	if (r == 0)
		r = note_listening(s, mono_ns, err);
	s->at_end = last;
	if (last)
		s->last_pending_ns = 0;
	s->stats.stuck = 0;
	if (r == 0)
		r = s->backend->pending(s->state, last ? STUCK_END_NS : s->config->stuck_ns, err);
	s->last_pending_ns = mono_ns;
	if (r == 0)
		r = update_counts(s, err);
	if (r == 0 && note_lost(s, wall_ns) < 0)
		r = lp_err_sys(err, -ENOMEM, "cannot continue tracing");
	return r;
}

/* Detach from everything: from now on nothing is recorded. */
static void let_go(struct session *s)
{
	s->stats.command_status = s->backend->command_status(s->state);
	s->stats.lost = s->backend->lost(s->state);
	s->backend->close(TAKE_PTR(s->state));
}

/* Report sampled counts and, if they are complete, forget them. */
static void after_sample(struct session *s, int64_t wall_ns, int64_t mono_ns)
{
	session_forget(s, mono_ns);
	s->n_programs_asked = 0;
	note_folded(s, wall_ns);
	s->stats.calls = trace_rows_calls(s->rows);
	s->stats.errors = trace_rows_errors(s->rows);
	s->stats.elapsed_us = (mono_ns - s->start_ns) / 1000;
	if (s->config->progress)
		s->config->progress(s->config->ctx, &s->stats);
}

static int session_sample(
	void *state, const struct instant *at, struct collect_sink *sink, struct lp_err *err)
{
	struct session *s = state;
	int64_t wall_ns = at->wall_us * 1000, mono_ns = clock_ns(CLOCK_MONOTONIC);
	int r;

	if (!s->state) /* once more, for the data that did not fit into the last one */
		return trace_rows_fill(s->rows, s->tally, mono_ns, s->stats.lost, sink, err);
	s->wall_offset_ns = clock_ns(CLOCK_REALTIME) - mono_ns;
	r = look(s, wall_ns, mono_ns, at->last, err);
	if (r == 0)
		r = trace_rows_fill(s->rows, s->tally, mono_ns, s->stats.lost, sink, err);
	if (r == 0)
		after_sample(s, wall_ns, mono_ns);
	if (r < 0 || !at->last)
		return r;
	let_go(s);
	return trace_rows_behind(s->rows);
}

static void session_close(void *state)
{
	struct session *s = state;

	if (s && s->state)
		let_go(s);
}

const struct instrument instrument_syscalls = {
	.name = "syscalls",
	.at_ends = true,
	.open = session_open,
	.begin = session_begin,
	.descriptor = session_descriptor,
	.serve = session_serve,
	.sample = session_sample,
	.close = session_close,
};

static void tell_rows(const struct session *s)
{
	for (unsigned k = 0; s->config->row && k < TRACE_ROWS_KINDS; k++)
		trace_rows_each(s->rows, k, s->config->row, s->config->ctx);
}

DEFINE_CLEANUP(struct session *, trace_session_free);

int trace_session_run(const struct trace_session_config *config, struct ticker *ticker,
	struct trace_stats *ret_stats, struct lp_err *err)
{
	_cleanup_(trace_session_freep) struct session *s = trace_session_new(config);
	const struct loop_config loop = {
		.instruments = {{&instrument_syscalls, s}},
		.spool = {.dir = config->dir,
			.name = config->name,
			.path = config->path,
			.observer = config->observer,
			.meta = config->meta,
			.written = config->written,
			.written_ctx = config->written_ctx,
			.anew = true,
			.logs = true,
			.private = true},
		.interval_us = config->interval_us,
		.flush_us = config->flush_us,
		.duration_us = config->duration_us,
		.warn = config->warn,
	};
	struct loop_stats stats = {0};
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot start tracing");
	r = loop_run(&loop, ticker, &stats, err);
	tell_rows(s);
	tell_programs(s, true);
	*ret_stats = s->stats;
	ret_stats->spool = stats.spool;
	return r;
}
