#include "explain/semantic_traces.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "model/endpoints.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More failures are no use to anybody. */
#define FAILURES_MAX 1000000
#define SLOW_MAX 4096
#define ANSWERS_APART_US INT64_C(2000000)
/* Who waits for less is served, if slowly. */
#define SILENCE_US INT64_C(1000000)
#define KEY_BYTES 320
#define COMM_UNKNOWN "?"

static void names_free(struct traces *t)
{
	for (size_t i = 0; i < t->n_hosts; i++)
		free(t->hosts[i].name);
	for (size_t i = 0; i < t->n_programs; i++)
		free(t->programs[i].comm);
	for (size_t i = 0; i < t->n_failures; i++)
		free(t->failures[i].name);
	for (size_t i = 0; i < t->n_slow; i++)
		free(t->slow[i].name);
	for (size_t i = 0; i < t->n_peers; i++) {
		free(t->peers[i].name);
		free(t->peers[i].address);
		free(t->peers[i].silences);
		free(t->peers[i].answers);
	}
}

void traces_release(struct traces *t)
{
	names_free(t);
	free(t->hosts);
	free(t->programs);
	free(t->processes);
	free(t->failures);
	free(t->slow);
	free(t->peers);
	free(t->ports);
	free(t->tallies);
	free(t->pair_list);
	free(t->wants);
	strmap_release(&t->by_host);
	strmap_release(&t->by_program);
	strmap_release(&t->by_process);
	strmap_release(&t->by_peer);
	strmap_release(&t->by_tally);
	strmap_release(&t->pairs);
	*t = (struct traces){0};
}

/* Room for one more in an array of the traces, and its number under a key. */
#define TRACES_ROOM(t, items, n, cap)                                                              \
	((t)->n >= TRACES_NONE                                                                     \
			? -ENOMEM                                                                  \
			: array_reserve(&(t)->items, &(t)->cap, (t)->n + 1, sizeof(*(t)->items)))

int traces_host(struct traces *t, const char *name, uint32_t *ret)
{
	char *copy;

	if (strmap_get(&t->by_host, name, ret))
		return 0;
	copy = strdup(name);
	if (!copy || TRACES_ROOM(t, hosts, n_hosts, cap_hosts) < 0 ||
		strmap_put(&t->by_host, name, (uint32_t)t->n_hosts) < 0) {
		free(copy);
		return -ENOMEM;
	}
	t->hosts[t->n_hosts] = (struct traced_host){.name = copy};
	*ret = (uint32_t)t->n_hosts++;
	return 0;
}

int traces_program(struct traces *t, uint32_t host, const char *comm, uint32_t *ret)
{
	char key[KEY_BYTES], *copy;

	snprintf(key, sizeof(key), "%u %s", host, comm);
	if (strmap_get(&t->by_program, key, ret))
		return 0;
	copy = strdup(comm);
	if (!copy || TRACES_ROOM(t, programs, n_programs, cap_programs) < 0 ||
		strmap_put(&t->by_program, key, (uint32_t)t->n_programs) < 0) {
		free(copy);
		return -ENOMEM;
	}
	t->programs[t->n_programs] = (struct traced_program){.host = host, .comm = copy};
	*ret = (uint32_t)t->n_programs++;
	return 0;
}

static void process_key(char key[KEY_BYTES], uint32_t host, int32_t pid)
{
	snprintf(key, KEY_BYTES, "%u %d", host, pid);
}

/* A process that nobody has heard of, under the number of one that may have ended. */
static int process_add(
	struct traces *t, uint32_t host, int32_t pid, const char *comm, uint32_t *ret)
{
	char key[KEY_BYTES];
	uint32_t program;
	struct traced_process *p;

	process_key(key, host, pid);
	if (traces_program(t, host, comm, &program) < 0 ||
		TRACES_ROOM(t, processes, n_processes, cap_processes) < 0 ||
		strmap_put(&t->by_process, key, (uint32_t)t->n_processes) < 0)
		return -ENOMEM;
	p = &t->processes[t->n_processes];
	*p = (struct traced_process){
		.host = host, .program = program, .pid = pid, .parent = TRACES_NONE};
	for (size_t i = 0; i < ARRAY_SIZE(p->recent); i++)
		p->recent[i] = TRACES_NONE;
	*ret = (uint32_t)t->n_processes++;
	return 0;
}

int traces_process(struct traces *t, uint32_t host, int32_t pid, uint32_t *ret)
{
	char key[KEY_BYTES];

	process_key(key, host, pid);
	return strmap_get(&t->by_process, key, ret) ? 0
						    : process_add(t, host, pid, COMM_UNKNOWN, ret);
}

int traces_name_process(struct traces *t, uint32_t host, int32_t pid, const char *comm)
{
	uint32_t process, program;
	char key[KEY_BYTES];

	process_key(key, host, pid);
	if (!strmap_get(&t->by_process, key, &process))
		return process_add(t, host, pid, comm, &process);
	if (traces_program(t, host, comm, &program) < 0)
		return -ENOMEM;
	t->processes[process].program = program;
	return 0;
}

int traces_peer(struct traces *t, uint32_t host, const char *name, uint32_t *ret)
{
	char key[KEY_BYTES], address[END_MAX];
	_cleanup_free_ char *copy = strdup(name), *own = NULL;
	uint16_t port = 0;

	snprintf(key, sizeof(key), "%u %s", host, name);
	if (strmap_get(&t->by_peer, key, ret))
		return 0;
	if (!end_parse(name, address, sizeof(address), &port))
		snprintf(address, sizeof(address), "%.*s", (int)sizeof(address) - 1, name);
	own = strdup(address);
	if (!copy || !own || TRACES_ROOM(t, peers, n_peers, cap_peers) < 0 ||
		strmap_put(&t->by_peer, key, (uint32_t)t->n_peers) < 0)
		return -ENOMEM;
	t->peers[t->n_peers] = (struct traced_peer){.host = host,
		.server = TRACES_NONE,
		.name = TAKE_PTR(copy),
		.address = TAKE_PTR(own),
		.port = port};
	*ret = (uint32_t)t->n_peers++;
	return 0;
}

/* The process of an event. A number may be given again to another process after a while. */
static int event_process(
	struct traces *t, uint32_t host, const struct trace_event *e, uint32_t *ret)
{
	const struct traced_process *p;
	int r = traces_process(t, host, e->pid, ret);

	if (r < 0)
		return r;
	p = &t->processes[*ret];
	if (p->died_ns && e->what != TRACE_EXIT && e->start_ns > p->died_ns + NS_PER_SEC)
		return process_add(t, host, e->pid, COMM_UNKNOWN, ret);
	return 0;
}

static const struct syscall_info *event_info(const struct trace_event *e)
{
	return e->flags & TRACE_COMPAT ? syscall_get_compat(e->nr) : syscall_get(e->nr);
}

/* What the call was about, as far as the event itself tells; NULL: it does not, or no memory. */
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
		return strndup(e->text, e->text_len); /* of two the first */
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

/* Count it with one of the latest failures of the process, if it is the same. */
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
	return 0;
}

/* For training: that this call of this program fails so. */
static int pair_keep(struct traces *t, uint32_t process, const struct trace_event *e, int error)
{
	uint32_t program = t->processes[process].program, known;
	char key[KEY_BYTES];

	if (!t->gather || e->flags & TRACE_COMPAT)
		return 0;
	snprintf(key, sizeof(key), "%u %u %d", program, e->nr, error);
	if (strmap_get(&t->pairs, key, &known))
		return 0;
	if (TRACES_ROOM(t, pair_list, n_pairs, cap_pairs) < 0 || strmap_put(&t->pairs, key, 0) < 0)
		return -ENOMEM;
	t->pair_list[t->n_pairs++] = (struct traced_pair){program, e->nr, (uint16_t)error};
	return 0;
}

/* A tracer tells of a call that goes on as often as it is asked: the last word counts. */
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
	t->slow[t->n_slow++] = (struct traced_slow){.process = process,
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
	return 0;
}

/* Everybody fails so all day long: not even worth keeping. */
static bool is_chatter(int error)
{
	return error == EAGAIN || error == EINPROGRESS || error == EINTR;
}

static bool is_accept(const struct trace_event *e)
{
	const struct syscall_info *info = event_info(e);

	return info && !strncmp(info->name, "accept", 6);
}

/* Does it take as long as it takes, by design? Locks of files are waited for with fcntl. */
static bool waits(const struct trace_event *e)
{
	const struct syscall_info *info = event_info(e);

	return trace_event_call(e) == TRACE_CALL_WAIT || is_accept(e) ||
		(info && !strncmp(info->name, "fcntl", 5));
}

static int add_call(struct traces *t, uint32_t process, const struct trace_event *e)
{
	int error = e->what == TRACE_PENDING ? 0 : trace_event_errno(e);
	unsigned call = trace_event_call(e);
	int r = 0;

	if (is_accept(e) && e->file == TRACE_FILE_TCP)
		t->programs[t->processes[process].program].serves = true;
	if (error && !is_chatter(error)) {
		r = pair_keep(t, process, e, error);
		if (r == 0)
			r = failure_keep(t, process, e, (uint16_t)error);
	} else if (e->what == TRACE_CALL && !error && call == TRACE_CALL_READ &&
		e->file == TRACE_FILE_TCP && e->ret == 0) {
		r = failure_keep(t, process, e, 0);
	}
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

/* "/usr/sbin/glusterfsd" runs as "glusterfsd"; names have 15 bytes at most. */
static int add_exec(struct traces *t, uint32_t host, const struct trace_event *e)
{
	char path[TRACE_TEXT_MAX], comm[16];
	const char *slash;

	if (!e->text || !e->text_len)
		return 0;
	snprintf(path, sizeof(path), "%.*s", (int)e->text_len, e->text);
	slash = strrchr(path, '/');
	snprintf(comm, sizeof(comm), "%.15s", slash ? slash + 1 : path);
	return *comm ? traces_name_process(t, host, e->pid, comm) : 0;
}

/* A child is what its parent is until it executes something else. */
static int add_fork(struct traces *t, uint32_t host, uint32_t parent, const struct trace_event *e)
{
	uint32_t child;

	if (e->args[0] & CLONE_THREAD || e->ret <= 0 || e->ret > INT32_MAX)
		return 0;
	if (traces_process(t, host, (int32_t)e->ret, &child) < 0)
		return -ENOMEM;
	if (!strcmp(t->programs[t->processes[child].program].comm, COMM_UNKNOWN))
		t->processes[child].program = t->processes[parent].program;
	t->processes[child].parent = parent;
	t->processes[child].born_ns = e->start_ns + e->dur_ns;
	return 0;
}

static void now_extend(struct traces *t, int64_t at_ns)
{
	t->now_ns = at_ns > t->now_ns ? at_ns : t->now_ns;
}

int traces_add_event(struct traces *t, uint32_t host, const struct trace_event *e)
{
	struct traced_process *p;
	uint32_t process;
	int r;

	t->n_events++;
	now_extend(t, e->start_ns + e->dur_ns);
	t->hosts[host].traced = true;
	if (e->what == TRACE_LOST) {
		t->n_lost += e->ret > 0 ? (uint64_t)e->ret : 0;
		return 0;
	}
	r = event_process(t, host, e, &process);
	if (r < 0)
		return r;
	p = &t->processes[process];
	if (e->start_ns + e->dur_ns > p->last_ns)
		p->last_ns = e->start_ns + e->dur_ns;
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
		return add_exec(t, host, e);
	case TRACE_FORK:
		return add_fork(t, host, process, e);
	default:
		return 0;
	}
}

int traces_end_silence(struct traces *t, uint32_t peer)
{
	struct traced_peer *p = &t->peers[peer];
	struct traced_span span = p->silence;

	p->silence = (struct traced_span){0};
	if (!span.to_us || span.to_us - span.from_us < SILENCE_US)
		return 0;
	if (array_reserve(&p->silences, &p->cap_silences, p->n_silences + 1, sizeof(*p->silences)) <
		0)
		return -ENOMEM;
	p->silences[p->n_silences++] = span;
	return 0;
}

/* An answer came at that time. */
static int answer_note(struct traced_peer *p, int64_t wall_us)
{
	struct traced_span *last = p->n_answers ? &p->answers[p->n_answers - 1] : NULL;

	p->first_answer_us = p->first_answer_us ? p->first_answer_us : wall_us;
	p->last_answer_us = wall_us;
	if (last && wall_us - last->to_us <= ANSWERS_APART_US) {
		last->to_us = wall_us;
		return 0;
	}
	if (array_reserve(&p->answers, &p->cap_answers, p->n_answers + 1, sizeof(*p->answers)) < 0)
		return -ENOMEM;
	p->answers[p->n_answers++] = (struct traced_span){wall_us, wall_us};
	return 0;
}

int traces_add_sample(struct traces *t, uint32_t peer, int64_t wall_us, int64_t requests,
	int64_t responses, int64_t waiting_us)
{
	struct traced_peer *p = &t->peers[peer];
	bool answered = responses > p->responses;
	int r = answered || waiting_us <= 0 ? traces_end_silence(t, peer) : 0;

	now_extend(t, wall_us * 1000);
	if (r == 0 && answered)
		r = answer_note(p, wall_us);
	if (waiting_us > 0 && !p->silence.to_us)
		p->silence.from_us = wall_us - waiting_us;
	if (waiting_us > 0)
		p->silence.to_us = wall_us;
	p->requests = requests;
	p->responses = responses;
	p->last_us = wall_us;
	return r;
}

/* "glusterfsd:openat:EMFILE": names of programs have no colon. */
static bool tally_parse(
	const char *name, char comm[KEY_BYTES], uint16_t *ret_nr, uint16_t *ret_error)
{
	char *call, *error;
	int nr;

	snprintf(comm, KEY_BYTES, "%s", name);
	call = strchr(comm, ':');
	error = call ? strchr(call + 1, ':') : NULL;
	if (!error)
		return false;
	*call++ = '\0';
	*error++ = '\0';
	nr = syscall_number(call);
	*ret_nr = (uint16_t)nr;
	*ret_error = (uint16_t)errno_number(error);
	return nr >= 0 && *ret_error;
}

/* The tally of that name, which may be new; NULL in `*ret`: it is none. */
static int tally_find(
	struct traces *t, uint32_t host, const char *name, int64_t value, struct traced_tally **ret)
{
	char key[KEY_BYTES], comm[KEY_BYTES];
	struct traced_tally new = {.value = value};
	uint32_t number;

	*ret = NULL;
	snprintf(key, sizeof(key), "%u %s", host, name);
	if (strmap_get(&t->by_tally, key, &number)) {
		*ret = &t->tallies[number];
		return 0;
	}
	if (!tally_parse(name, comm, &new.nr, &new.error))
		return 0;
	if (traces_program(t, host, comm, &new.program) < 0 ||
		TRACES_ROOM(t, tallies, n_tallies, cap_tallies) < 0 ||
		strmap_put(&t->by_tally, key, (uint32_t)t->n_tallies) < 0)
		return -ENOMEM;
	*ret = &t->tallies[t->n_tallies++];
	**ret = new;
	return 0;
}

int traces_add_tally(
	struct traces *t, uint32_t host, const char *name, int64_t wall_us, int64_t value)
{
	struct traced_tally *tally;
	int r = tally_find(t, host, name, value, &tally);

	now_extend(t, wall_us * 1000);
	if (r < 0 || !tally)
		return r;
	if (value > tally->value) {
		tally->n += (uint64_t)(value - tally->value);
		tally->first_us = tally->first_us ? tally->first_us : wall_us;
		tally->last_us = wall_us;
	}
	tally->value = value;
	return 0;
}
