/* Keeps relevant events: calls that failed or took too long, signals, new and ended processes. */
#include "explain/semantic_traces.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "explain/semantic_normal.h"
#include "model/endpoints.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More failures would not help. */
#define FAILURES_MAX 1000000
#define SLOW_MAX 4096

static const struct syscall_info *event_info(const struct trace_event *e)
{
	return e->flags & TRACE_COMPAT ? syscall_get_compat(e->nr) : syscall_get(e->nr);
}

/* The name of the object of a call, from the event itself; NULL: the event does not have it, or out
 * of memory. */
static char *event_name(const struct trace_event *e)
{
	const struct syscall_info *info = event_info(e);
	char ends_text[ENDPOINTS_TEXT_MAX];
	struct trace_endpoints ends;

	if (!info || !e->text || !e->text_len)
		return NULL;
	switch (info->capture) {
	case CAPTURE_PATH0:
	case CAPTURE_PATH1:
	case CAPTURE_PATHS_01:
	case CAPTURE_PATHS_13:
	case CAPTURE_PATHS_02:
		return strndup(e->text, e->text_len); /* if there are two, the first */
	case CAPTURE_ENDPOINTS:
		if (!endpoints_of_event(e, &ends) || !endpoints_connected(&ends))
			return NULL;
		return strdup(endpoints_name(&ends, ends_text));
	default:
		return NULL;
	}
}

static bool is_same(
	const struct traced_failure *f, const struct trace_event *e, uint16_t error, int64_t at_ns)
{
	bool compat = e->flags & TRACE_COMPAT;

	return f->nr == e->nr && f->error == error && f->compat == compat &&
		at_ns - f->first_ns < TRACES_SAME_NS && f->first_ns - at_ns < TRACES_SAME_NS;
}

/* Count it with a recent failure of the process, if that is the same. */
static bool failure_joins(
	struct traces *t, struct traced_process *p, const struct trace_event *e, uint16_t error)
{
	int64_t at_ns = e->start_ns + e->dur_ns;

	for (size_t i = 0; i < ARRAY_SIZE(p->recent); i++) {
		struct traced_failure *f;

		if (p->recent[i] == TRACES_NONE)
			continue;
		f = &t->failures[p->recent[i]];
		if (!is_same(f, e, error, at_ns))
			continue;
		f->n++;
		if (at_ns > f->last_ns)
			f->last_ns = at_ns;
		return true;
	}
	return false;
}

/* `error` 0: the other end has closed the connection. */
static int failure_keep(
	struct traces *t, uint32_t process, const struct trace_event *e, uint16_t error)
{
	struct traced_process *p = &t->processes[process];
	struct traced_failure *f;

	if (failure_joins(t, p, e, error))
		return 0;
	if (t->n_failures >= FAILURES_MAX) {
		t->overflow = true;
		return 0;
	}
	if (TRACES_ROOM(t, failures, n_failures, cap_failures) < 0)
		return -ENOMEM;
	f = &t->failures[t->n_failures];
	*f = (struct traced_failure){.process = process,
		.first_ns = e->start_ns + e->dur_ns,
		.last_ns = e->start_ns + e->dur_ns,
		.n = 1,
		.nr = e->nr,
		.error = error,
		.eof = !error,
		.compat = e->flags & TRACE_COMPAT,
		.call = (uint8_t)trace_event_call(e),
		.file = e->file,
		.fd = trace_event_fd(e),
		.name = event_name(e)};
	p->recent[p->n_failures++ % ARRAY_SIZE(p->recent)] = (uint32_t)t->n_failures++;
	return traces_name_failure(t, f);
}

/* For training: note that this call of this program fails with this errno. */
static int pair_keep(struct traces *t, uint32_t process, const struct trace_event *e, int error)
{
	uint32_t known;
	char key[TRACES_KEY_MAX];

	if (!t->gather || e->flags & TRACE_COMPAT)
		return 0;
	snprintf(key, sizeof(key), "%u %u %d", process, e->nr, error);
	if (strmap_get(&t->pairs, key, &known))
		return 0;
	if (TRACES_ROOM(t, pair_list, n_pairs, cap_pairs) < 0 || strmap_put(&t->pairs, key, 0) < 0)
		return -ENOMEM;
	t->pair_list[t->n_pairs++] = (struct traced_pair){process, e->nr, (uint16_t)error};
	return 0;
}

/* A tracer reports a pending call repeatedly. The last report counts. */
static int slow_keep(struct traces *t, uint32_t process, const struct trace_event *e)
{
	struct traced_slow *s;

	for (size_t i = t->n_slow; i-- > 0;) {
		s = &t->slow[i];
		if (s->process != process || s->tid != e->tid || s->nr != e->nr ||
			llabs(s->start_ns - e->start_ns) > TRACES_SAME_NS)
			continue;
		if (e->dur_ns > s->dur_ns)
			s->dur_ns = e->dur_ns;
		s->pending = s->pending && e->what == TRACE_PENDING;
		return 0;
	}
	if (t->n_slow >= SLOW_MAX) {
		t->overflow = true;
		return 0;
	}
	if (TRACES_ROOM(t, slow, n_slow, cap_slow) < 0)
		return -ENOMEM;
	s = &t->slow[t->n_slow++];
	*s = (struct traced_slow){.process = process,
		.tid = e->tid,
		.start_ns = e->start_ns,
		.dur_ns = e->dur_ns,
		.nr = e->nr,
		.compat = e->flags & TRACE_COMPAT,
		.pending = e->what == TRACE_PENDING,
		.call = (uint8_t)trace_event_call(e),
		.file = e->file,
		.fd = trace_event_fd(e),
		.name = event_name(e)};
	return traces_name_slow(t, s);
}

/* Failures that all programs have all the time are not kept. */
static bool is_chatter(int error)
{
	return error == EAGAIN || error == EINPROGRESS || error == EINTR;
}

static bool is_accept(const struct trace_event *e)
{
	const struct syscall_info *info = event_info(e);

	return info && !strncmp(info->name, "accept", 6);
}

/* Is waiting normal for this call? Programs wait for file locks with fcntl. */
static bool waits(const struct trace_event *e)
{
	const struct syscall_info *info = event_info(e);

	return trace_event_call(e) == TRACE_CALL_WAIT || is_accept(e) ||
		(info && !strncmp(info->name, "fcntl", 5));
}

/* Does a read show the end of a connection? */
static bool is_eof(const struct trace_event *e)
{
	return e->what == TRACE_CALL && trace_event_call(e) == TRACE_CALL_READ &&
		e->file == TRACE_FILE_TCP && e->ret == 0;
}

/* Can the failure accuse a program? Others are not kept. */
static bool is_worth_keeping(const struct trace_event *e, int error)
{
	return error && !is_chatter(error) &&
		(normal_is_lost_connection(error) ||
			!normal_builtin(error, trace_event_call(e), e->file));
}

static int event_errno(const struct trace_event *e)
{
	return e->what == TRACE_PENDING ? 0 : trace_event_errno(e);
}

static int add_call(struct traces *t, uint32_t process, const struct trace_event *e)
{
	int error = event_errno(e), r = 0;

	if (is_accept(e) && e->file == TRACE_FILE_TCP)
		t->processes[process].seen.serves = true;
	if (error && !is_chatter(error))
		r = pair_keep(t, process, e, error);
	if (r == 0 && (is_worth_keeping(e, error) || is_eof(e)))
		r = failure_keep(t, process, e, (uint16_t)error);
	if (r == 0 && e->dur_ns >= t->hang_ns && !waits(e))
		r = slow_keep(t, process, e);
	return r;
}

bool traces_signal_is_fatal(int signal)
{
	switch (signal) {
	case SIGSEGV:
	case SIGABRT:
	case SIGBUS:
	case SIGFPE:
	case SIGILL:
	case SIGSYS:
	case SIGXFSZ:
	case SIGXCPU:
		return true;
	default:
		return false;
	}
}

static void add_signal(struct traced_process *p, const struct trace_event *e)
{
	if (traces_signal_is_fatal(e->nr)) {
		p->signal = e->nr;
		p->signal_ns = e->start_ns;
		p->aborted = e->args[0] == (uint64_t)e->pid;
	} else if (e->nr == SIGTERM || e->nr == SIGINT) {
		p->asked = e->nr;
		p->asked_ns = e->start_ns;
	}
}

/* "/usr/sbin/glusterfsd" runs as "glusterfsd". Names have at most 15 bytes. */
static int add_exec(struct traces *t, uint32_t host, uint32_t process, const struct trace_event *e)
{
	struct traced_process *p = &t->processes[process];
	struct traced_seen *seen = &t->programs[p->program].seen;
	char path[TRACE_TEXT_MAX], comm[16];
	const char *slash;

	if (!e->text || !e->text_len)
		return 0;
	snprintf(path, sizeof(path), "%.*s", (int)e->text_len, e->text);
	slash = strrchr(path, '/');
	snprintf(comm, sizeof(comm), "%.15s", slash ? slash + 1 : path);
	if (!*comm)
		return 0;
	/* Its activity so far belongs to another program. */
	seen->serves = seen->serves || p->seen.serves;
	seen->listens = seen->listens || p->seen.listens;
	seen->talks = seen->talks || p->seen.talks;
	p->seen = (struct traced_seen){0};
	return traces_name_process(t, host, e->pid, comm);
}

/* A child runs the program of its parent until it executes another one. */
static int add_fork(struct traces *t, uint32_t host, uint32_t parent, const struct trace_event *e)
{
	uint32_t child;

	if (e->args[0] & CLONE_THREAD || e->ret <= 0 || e->ret > INT32_MAX)
		return 0;
	if (traces_process_at(t, host, (int32_t)e->ret, e->start_ns, &child) < 0)
		return -ENOMEM;
	if (!strcmp(t->programs[t->processes[child].program].comm, TRACES_COMM_UNKNOWN))
		t->processes[child].program = t->processes[parent].program;
	if (!t->processes[child].files)
		t->processes[child].files = file_table_share(t->processes[parent].files);
	t->processes[child].parent = parent;
	t->processes[child].born_ns = e->start_ns + e->dur_ns;
	return 0;
}

static bool call_matters(const struct traces *t, const struct trace_event *e)
{
	int error = event_errno(e);

	return (is_accept(e) && e->file == TRACE_FILE_TCP) || is_eof(e) ||
		is_worth_keeping(e, error) || (t->gather && error && !is_chatter(error)) ||
		(e->dur_ns >= t->hang_ns && !waits(e));
}

bool traces_event_matters(const struct traces *t, const struct trace_event *e)
{
	switch (e->what) {
	case TRACE_CALL:
	case TRACE_ASYNC:
	case TRACE_PENDING:
		return call_matters(t, e);
	case TRACE_SIGNAL:
		return traces_signal_is_fatal(e->nr) || e->nr == SIGTERM || e->nr == SIGINT;
	case TRACE_FORK:
		return !(e->args[0] & CLONE_THREAD);
	default:
		return true;
	}
}

int traces_add_event(struct traces *t, uint32_t host, const struct trace_event *e)
{
	int64_t at_ns = e->start_ns + e->dur_ns;
	struct traced_process *p;
	uint32_t process;
	int r;

	traces_extend(t, at_ns);
	t->hosts[host].traced = true;
	traces_see_host(t, host, at_ns / 1000);
	if (e->what == TRACE_LOST) {
		t->n_lost += e->ret > 0 ? (uint64_t)e->ret : 0;
		return 0;
	}
	r = e->what == TRACE_EXIT ? traces_process(t, host, e->pid, &process)
				  : traces_process_at(t, host, e->pid, e->start_ns, &process);
	if (r < 0)
		return r;
	p = &t->processes[process];
	if (at_ns > p->last_ns)
		p->last_ns = at_ns;
	switch (e->what) {
	case TRACE_CALL:
	case TRACE_ASYNC:
	case TRACE_PENDING:
		return add_call(t, process, e);
	case TRACE_SIGNAL:
		add_signal(p, e);
		return 0;
	case TRACE_EXIT:
		p->died_ns = e->start_ns;
		p->status = (int32_t)e->ret;
		return 0;
	case TRACE_EXEC:
		return add_exec(t, host, process, e);
	case TRACE_FORK:
		return add_fork(t, host, process, e);
	default:
		return 0;
	}
}
