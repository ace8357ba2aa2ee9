/* Handles the events of a session. */
#include "base/hash.h"
#include "trace/session_state.h"
#include <endian.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

/* A log of this size is written immediately. */
#define LOG_BYTES_MAX ((size_t)4 << 20)
/* The number of reported descriptors to remember. */
#define TOLD_MAX 65536
/* The maximum number of programs to look up between two samples: thousands of new processes mostly
 * run the same programs. */
#define PROGRAMS_MAX 64
/* Calls that do not return are reported after config.stuck_ns, after this time, and at the end. */
#define STUCK_LONG_NS (30 * NS_PER_SEC)

const char *session_comm(void *ctx, pid_t pid)
{
	struct session *s = ctx;
	const char *name = names_get(&s->names, pid);

	return name ? name : descriptors_comm(s->descriptors, pid);
}

/* Write an event to the log, with wall-clock time. */
static int log_event(struct session *s, const struct trace_event *e)
{
	struct trace_event copy = *e;

	copy.start_ns += s->wall_offset_ns;
	return trace_log_add(spool_log(s->spool), &copy);
}

static int log_descriptor(struct session *s, const struct trace_descriptor *d)
{
	struct trace_descriptor copy = *d;

	copy.time_ns += s->wall_offset_ns;
	return trace_log_add_descriptor(spool_log(s->spool), &copy);
}

/* A change to a table of descriptors. Full records report all of them, summaries only those that
 * are looked up. */
int session_change(void *ctx, const struct trace_descriptor *d)
{
	struct session *s = ctx;

	if (!s->config->trace.records && d->change != TRACE_FD_SEEN)
		return 0;
	return log_descriptor(s, d);
}

static bool port_served(const struct session *s, uint16_t network_order)
{
	uint16_t port = be16toh(network_order);

	for (unsigned i = 0; i < s->config->trace.n_ports; i++) {
		if (s->config->trace.ports[i] == port)
			return true;
	}
	return false;
}

static bool is_server(const struct session *s, const struct descriptor *d)
{
	return d->accepted || (d->ends.family && port_served(s, d->ends.local_port));
}

/* Does it show the reason for a failure, or is it another event that summaries keep? */
static bool is_remarkable(const struct session *s, const struct trace_event *e)
{
	int error;

	if (e->what != TRACE_CALL && e->what != TRACE_ASYNC)
		return true;
	error = trace_event_errno(e);
	if (error && error != EAGAIN && error != EINPROGRESS && error != EINTR)
		return true;
	return e->dur_ns >= s->config->trace.slow_ns && !trace_event_waits(e);
}

/* The log of a summary does not follow descriptors, so report the name of this one, once. `id`
 * distinguishes it from other uses of the descriptor. */
static int tell_name(
	struct session *s, const struct trace_event *e, uint8_t file, const char *name, uint64_t id)
{
	int fd = trace_event_fd(e);
	uint64_t key = (uint64_t)(uint32_t)e->pid << 32 | (uint32_t)fd;
	struct trace_descriptor told = {.seq = e->seq,
		.time_ns = e->start_ns,
		.pid = e->pid,
		.fd = fd,
		.from = -1,
		.change = TRACE_FD_SEEN,
		.file = file,
		.name = name};
	uint32_t before;

	if (idmap_get(&s->told_fds, key, &before) && before == (uint32_t)(id & 0x7fffffff))
		return 0;
	if (s->told_fds.n >= TOLD_MAX) /* reporting it twice does no harm */
		idmap_clear(&s->told_fds);
	if (idmap_put(&s->told_fds, key, (uint32_t)(id & 0x7fffffff)) < 0)
		return -ENOMEM;
	return log_descriptor(s, &told);
}

static int tell_descriptor(
	struct session *s, const struct trace_event *e, const struct descriptor *d)
{
	return tell_name(s, e, d->file, d->name, d->id);
}

/* Does it wait for a request, like a server? */
static bool waits_for_request(
	const struct session *s, const struct trace_event *e, const struct descriptor *d)
{
	return d && e->file == TRACE_FILE_TCP && trace_event_call(e) == TRACE_CALL_READ &&
		is_server(s, d);
}

/* Remember it if it is among the slowest. */
static void note_slow(struct session *s, const struct trace_event *e, const struct descriptor *d)
{
	struct trace_stats *st = &s->stats;
	unsigned at = st->n_slow;
	struct trace_slow slow = {.event = *e};

	if (at == TRACE_SLOWEST && e->dur_ns <= st->slow[at - 1].event.dur_ns)
		return;
	if (trace_event_waits(e) || waits_for_request(s, e, d))
		return;
	slow.event.start_ns += s->wall_offset_ns;
	slow.event.text = NULL;
	slow.event.text_len = 0;
	snprintf(slow.file, sizeof(slow.file), "%.*s", (int)sizeof(slow.file) - 1,
		d && d->name ? d->name : "");
	snprintf(slow.comm, sizeof(slow.comm), "%s", session_comm(s, e->pid));
	if (at < TRACE_SLOWEST)
		st->n_slow++;
	else
		at--;
	for (; at && st->slow[at - 1].event.dur_ns < e->dur_ns; at--)
		st->slow[at] = st->slow[at - 1];
	st->slow[at] = slow;
}

static int note_process(struct session *s, pid_t pid)
{
	uint32_t at;

	if (!pid || idmap_get(&s->seen, (uint64_t)pid, &at))
		return 0;
	s->stats.processes++;
	return idmap_put(&s->seen, (uint64_t)pid, 0);
}

void session_program(struct session *s, pid_t pid)
{
	if (pid && s->config->trace.targets.n_comms && s->n_programs_asked < PROGRAMS_MAX) {
		s->n_programs_asked++;
		trace_programs_note(&s->programs, pid);
	}
}

/* Note new and ended processes. */
static int note_life(struct session *s, const struct trace_event *e)
{
	if (e->what == TRACE_EXIT)
		return session_exit(s, e->pid);
	if (e->what == TRACE_FORK && !(e->args[0] & CLONE_THREAD))
		return session_birth(s, (pid_t)e->ret);
	if (e->what != TRACE_EXEC)
		return 0;
	/* The start of a process that was found by name was not recorded. */
	return trace_rows_process(s->rows, e->pid, true);
}

/* Remember the names of processes that may be gone before they can be looked up. */
static int follow_name(struct session *s, const struct trace_event *e)
{
	const char *parent;

	if (e->what == TRACE_EXEC)
		return names_exec(&s->names, e);
	if (e->what != TRACE_FORK || e->args[0] & CLONE_THREAD)
		return 0;
	parent = session_comm(s, e->pid);
	return strcmp(parent, "?") != 0
		? names_set(&s->names, (pid_t)e->ret, parent, strlen(parent))
		: 0;
}

/* Follow descriptors and names. An ended process keeps its name until it is counted. */
static int follow(struct session *s, const struct trace_event *e)
{
	struct lp_err err = {0};

	return e->what == TRACE_EXIT ? 0 : descriptors_apply(s->descriptors, e, &err);
}

/* A call that has not returned yet. */
static int on_pending(struct session *s, const struct trace_event *e)
{
	int64_t elapsed =
		s->last_pending_ns ? clock_ns(CLOCK_MONOTONIC) - s->last_pending_ns : INT64_MAX / 2;
	int64_t before = e->dur_ns - elapsed; /* when it was last reported */
	bool due = s->at_end || (before < s->config->stuck_ns) ||
		(before < STUCK_LONG_NS && e->dur_ns >= STUCK_LONG_NS);
	struct descriptor d;
	int fd = trace_event_fd(e);
	bool open;

	if (trace_event_waits(e))
		return 0;
	open = fd >= 0 &&
		(s->counts ? descriptors_look(
				     s->descriptors, e->pid, fd, e->start_ns + e->dur_ns, &d)
			   : descriptors_get(s->descriptors, e->pid, fd, &d));
	if (waits_for_request(s, e, open ? &d : NULL))
		return 0;
	if (e->dur_ns >= s->config->stuck_ns) {
		s->stats.stuck++;
		if (trace_rows_stuck(s->rows, e->pid, e->dur_ns) < 0)
			return -ENOMEM;
	}
	if (!due)
		return 0;
	if (open && !s->counts && !s->config->trace.records && tell_descriptor(s, e, &d) < 0)
		return -ENOMEM;
	note_slow(s, e, open ? &d : NULL);
	return log_event(s, e);
}

/* Count an event, unless the backend does. `d` is NULL if its descriptor is unknown. */
static int count_event(struct session *s, const struct trace_event *e, const struct descriptor *d)
{
	struct tally_socket socket = {0};

	if (e->file != TRACE_FILE_TCP || !d)
		return tally_add(s->tally, e, NULL);
	socket.id = d->id;
	socket.ends = &d->ends;
	socket.serves = is_server(s, d);
	socket.blocks = d->blocks;
	return tally_add(s->tally, e, &socket);
}

/* Follow descriptors, count, and keep the selected events: for full records, and for all events of
 * ptrace. */
static int on_record(struct session *s, const struct trace_event *e)
{
	bool keep = s->config->trace.records || is_remarkable(s, e);
	int fd = trace_event_fd(e);
	struct descriptor d;
	bool open = fd >= 0 && descriptors_get(s->descriptors, e->pid, fd, &d);
	int r = count_event(s, e, open ? &d : NULL);

	if (r == 0 && (e->what == TRACE_CALL || e->what == TRACE_ASYNC))
		note_slow(s, e, open ? &d : NULL);
	if (r == 0 && keep && open && !s->config->trace.records)
		r = tell_descriptor(s, e, &d);
	if (r == 0 && keep)
		r = log_event(s, e);
	return r < 0 ? r : follow(s, e);
}

/* The backend reports the name of the descriptor at that time, which can no longer be looked up. */
static int on_named(struct session *s, const struct trace_event *e)
{
	char path[TRACE_TEXT_MAX + 1];
	struct trace_event plain = *e;
	struct descriptor d = {.file = e->file, .name = path};

	snprintf(path, sizeof(path), "%.*s", (int)e->text_len, e->text);
	plain.flags &= (uint8_t)~TRACE_FD_PATH;
	plain.text = NULL;
	plain.text_len = 0;
	note_slow(s, &plain, &d);
	if (tell_name(s, &plain, e->file, path, hash_bytes(path, strlen(path))) < 0)
		return -ENOMEM;
	return log_event(s, &plain);
}

/* An unusual event from a backend that counts the rest. */
static int on_exception(struct session *s, const struct trace_event *e)
{
	int fd = trace_event_fd(e);
	struct descriptor d;
	bool open;

	if (e->flags & TRACE_FD_PATH)
		return on_named(s, e);
	open = fd >= 0 && e->ret != -EBADF &&
		descriptors_look(s->descriptors, e->pid, fd, e->start_ns, &d);

	if (e->what == TRACE_CALL || e->what == TRACE_ASYNC)
		note_slow(s, e, open ? &d : NULL);
	return follow_name(s, e) < 0 ? -ENOMEM : log_event(s, e);
}

int session_event(void *ctx, const struct trace_event *e)
{
	struct session *s = ctx;
	uint32_t at;
	bool known = idmap_get(&s->seen, (uint64_t)e->pid, &at);
	int r = note_process(s, e->pid);

	if (r < 0)
		return r;
	if (!known || e->what == TRACE_EXEC)
		session_program(s, e->pid);
	if (e->what == TRACE_PENDING)
		return on_pending(s, e);
	/* Losses reported here need not be counted again. */
	if (e->what == TRACE_LOST)
		s->lost_told += (uint64_t)e->ret;
	s->stats.events++;
	r = note_life(s, e);
	if (r == 0)
		r = s->counts ? on_exception(s, e) : on_record(s, e);
	if (r == 0 && trace_log_waiting(spool_log(s->spool)) >= LOG_BYTES_MAX)
		r = spool_submit_log(
			s->spool, (e->start_ns + e->dur_ns + s->wall_offset_ns) / 1000);
	return r;
}
