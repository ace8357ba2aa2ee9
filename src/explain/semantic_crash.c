/* Servers that died: their process ended by a signal, or clients lost the connections to them. */
#include "explain/semantic.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "explain/semantic_normal.h"
#include "explain/semantic_tell.h"
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* A process that was asked to end has this much time; a SIGKILL may follow. */
#define ORDERLY_NS (120 * NS_PER_SEC)
/* A handler of a fatal signal has this much time to record what happened. */
#define HANDLER_NS (10 * NS_PER_SEC)
/* A call that failed at most this long before the end may be its reason. */
#define REASON_NS (10 * NS_PER_SEC)
/* An archive that ends this much earlier than the others ended together with its server. */
#define ARCHIVE_ENDS_US INT64_C(10000000)

#define SURE_SIGNAL 0.95      /* the process died by a signal */
#define SURE_SIGNAL_FELT 0.98 /* it died by a signal, and clients noticed it */
#define SURE_EXIT_FELT 0.85   /* it ended with a status other than 0, and clients noticed it */
#define SURE_REFUSED                                                                               \
	0.75 /* only clients show it, and connections are refused where they were accepted before  \
	      */
#define SURE_RESET 0.6 /* only clients show it: they lost all connections at once */
#define SURE_MORE 0.05 /* added for each fact that agrees */
#define SURE_MOST 0.9  /* the maximum if only clients show it */

/* The complaints of clients about one port of a server. */
struct complaints {
	uint32_t server;
	uint16_t port;
	uint32_t n_refused, n_lost, n_closed; /* connects; connections with an error, and without */
	uint32_t clients[8], n_clients;	      /* processes, up to the number that matters */
	uint32_t example;		      /* the most important failure */
	int64_t first_ns, last_ns;
};

struct inquest {
	const struct traces *t;
	const struct semantic_options *options;
	struct semantic *s;
	int64_t window_ns;
	struct complaints *items;
	size_t n, cap;
	int64_t end_us; /* of all data */
};

/* Is this a call on a file of the mounted file system, with an error that means that the server is
 * gone? */
static bool is_felt(const struct traces *t, const struct traced_failure *f)
{
	return !f->eof && normal_is_lost_connection(f->error) && f->file != TRACE_FILE_TCP &&
		f->file != TRACE_FILE_SOCKET && f->file != TRACE_FILE_PIPE &&
		f->call != TRACE_CALL_CONNECT && f->call != TRACE_CALL_WAIT &&
		!traces_serves(t, f->process);
}

/* Did calls of a client on its files fail at about that time? */
static bool was_felt(const struct inquest *q, int64_t at_ns)
{
	for (size_t i = 0; i < q->t->n_failures; i++) {
		const struct traced_failure *f = &q->t->failures[i];

		if (is_felt(q->t, f) && f->last_ns >= at_ns - SEMANTIC_SKEW_NS &&
			f->first_ns <= at_ns + q->window_ns)
			return true;
	}
	return false;
}

/* The peer of the connection that failed; TRACES_NONE: it is not about a server. */
static uint32_t peer_of(const struct traces *t, const struct traced_failure *f)
{
	char local[END_MAX], remote[END_MAX];
	uint32_t host = t->processes[f->process].host;

	if (!ends_split(f->name, local, remote) || !*remote)
		return TRACES_NONE;
	for (uint32_t i = 0; i < t->n_peers; i++) {
		if (t->peers[i].host == host && !strcmp(t->peers[i].name, remote))
			return i;
	}
	return TRACES_NONE;
}

static struct complaints *complaints_of(struct inquest *q, uint32_t server, uint16_t port)
{
	for (size_t i = 0; i < q->n; i++) {
		if (q->items[i].server == server && q->items[i].port == port)
			return &q->items[i];
	}
	if (array_reserve(&q->items, &q->cap, q->n + 1, sizeof(*q->items)) < 0)
		return NULL;
	q->items[q->n] = (struct complaints){
		.server = server, .port = port, .example = TRACES_NONE, .first_ns = INT64_MAX};
	return &q->items[q->n++];
}

/* The strength of the evidence: a failed connect, then a broken connection, then a closed one. */
static int telling(const struct traced_failure *f)
{
	return f->error == ECONNREFUSED ? 2 : !f->eof;
}

static void note_client(struct complaints *c, uint32_t process)
{
	for (uint32_t i = 0; i < c->n_clients; i++) {
		if (c->clients[i] == process)
			return;
	}
	if (c->n_clients < ARRAY_SIZE(c->clients))
		c->clients[c->n_clients++] = process;
}

static void complain(struct inquest *q, struct complaints *c, uint32_t failure)
{
	const struct traced_failure *f = &q->t->failures[failure];

	if (f->eof)
		c->n_closed += f->n;
	else if (f->error == ECONNREFUSED)
		c->n_refused += f->n;
	else
		c->n_lost += f->n;
	note_client(c, f->process);
	if (c->example == TRACES_NONE || telling(f) > telling(&q->t->failures[c->example]))
		c->example = failure;
	if (f->first_ns < c->first_ns)
		c->first_ns = f->first_ns;
	if (f->last_ns > c->last_ns)
		c->last_ns = f->last_ns;
}

/* Collect the complaints of clients about each server. Accepted connections also break when clients
 * leave, which is normal. */
static int gather(struct inquest *q)
{
	for (uint32_t i = 0; i < q->t->n_failures; i++) {
		const struct traced_failure *f = &q->t->failures[i];
		uint32_t peer;
		struct complaints *c;

		if (f->file != TRACE_FILE_TCP || (!f->eof && !normal_is_lost_connection(f->error)))
			continue;
		peer = peer_of(q->t, f);
		if (peer == TRACES_NONE)
			continue;
		c = complaints_of(q, q->t->peers[peer].server, q->t->peers[peer].port);
		if (!c)
			return -ENOMEM;
		complain(q, c, i);
	}
	return 0;
}

static bool was_asked(const struct traced_process *p)
{
	int signal = p->died_ns && WIFSIGNALED(p->status) ? WTERMSIG(p->status) : 0;

	if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
		return true;
	return p->asked && (!p->died_ns || p->died_ns - p->asked_ns <= ORDERLY_NS);
}

/* The signal that ended a process; 0: none, or the process was asked to end. */
static int death_of(const struct traced_process *p)
{
	if (!p->died_ns)
		return 0;
	/* A process that aborts was not asked to end: daemons use SIGINT for many things. */
	if (WIFSIGNALED(p->status) && p->aborted && WTERMSIG(p->status) == p->signal)
		return p->signal;
	if (was_asked(p))
		return 0;
	if (WIFSIGNALED(p->status))
		return WTERMSIG(p->status);
	/* Its signal handler did its work and ended the process. */
	if (p->signal && WEXITSTATUS(p->status) && p->died_ns - p->signal_ns <= HANDLER_NS)
		return p->signal;
	return 0;
}

/* The complaints of clients about the program at the time of its end; NULL: none. */
static const struct complaints *felt_by_clients(
	const struct inquest *q, const struct traced_process *p)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct complaints *c = &q->items[i];
		uint32_t program = traces_server(q->t, c->server, c->port);

		if (c->server != p->host || (program != TRACES_NONE && program != p->program))
			continue;
		if (c->last_ns >= p->died_ns - SEMANTIC_SKEW_NS)
			return c;
	}
	return NULL;
}

/* "4 times refused, 2 connections broken, 1 closed; first: ..." */
static int tell_complaints(
	const struct inquest *q, struct semantic_finding *f, const struct complaints *c)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	uint32_t n = c->n_refused + c->n_lost + c->n_closed;

	if (c->example == TRACES_NONE)
		return 0;
	tell_failure(&sb, q->t, &q->t->failures[c->example]);
	if (n > 1) {
		strbuf_printf(&sb, ", one of %" PRIu32 " until ", n);
		tell_time(&sb, c->last_ns);
		strbuf_printf(&sb, " (%" PRIu32 " refused, %" PRIu32 " broken, %" PRIu32 " closed)",
			c->n_refused, c->n_lost, c->n_closed);
	}
	tell_extend(f, c->first_ns, c->last_ns);
	f->n += n;
	if (tell_failed_call(f, q->t, &q->t->failures[c->example]) < 0)
		return -ENOMEM;
	return tell_sentence(f, &sb);
}

/* The failures of clients on their files. */
static int tell_felt(const struct inquest *q, struct semantic_finding *f, int64_t at_ns)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	for (size_t i = 0; i < q->t->n_failures; i++) {
		const struct traced_failure *c = &q->t->failures[i];

		if (!is_felt(q->t, c) || c->last_ns < at_ns - SEMANTIC_SKEW_NS)
			continue;
		tell_extend(f, c->first_ns, c->last_ns);
		f->n += c->n;
		if (!sb.len)
			tell_failure(&sb, q->t, c);
		if (tell_failed_call(f, q->t, c) < 0)
			return -ENOMEM;
	}
	return sb.len ? tell_sentence(f, &sb) : 0;
}

static void add_end(struct strbuf *sb, const struct traced_process *p, int signal)
{
	char buf[SYSCALL_NAME_MAX];

	if (WIFSIGNALED(p->status))
		strbuf_printf(sb, " was killed by %s at ", signal_name(signal, buf));
	else if (signal)
		strbuf_printf(sb, " ended with status %d after %s at ", WEXITSTATUS(p->status),
			signal_name(signal, buf));
	else
		strbuf_printf(sb, " ended with status %d at ", WEXITSTATUS(p->status));
	tell_time(sb, p->died_ns);
}

/* Describe the end of a process, and the last call that failed before it. */
static int tell_death(const struct inquest *q, struct semantic_finding *f, uint32_t process,
	int signal, uint32_t reason)
{
	const struct traced_process *p = &q->t->processes[process];
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	char buf[SYSCALL_NAME_MAX];
	int r;

	tell_process(&sb, q->t, process);
	add_end(&sb, p, signal);
	if (reason != TRACES_NONE) {
		const struct traced_failure *c = &q->t->failures[reason];

		strbuf_puts(&sb, "; the last call that failed before: ");
		tell_call(&sb, c->nr, c->compat, c->name, c->fd);
		strbuf_printf(&sb, " with %s at ", errno_name(c->error, buf));
		tell_time(&sb, c->last_ns);
		if (tell_failed_call(f, q->t, c) < 0)
			return -ENOMEM;
	}
	r = tell_sentence(f, &sb);
	tell_extend(f, p->died_ns, p->died_ns);
	return r;
}

static int accuse_dead(struct inquest *q, uint32_t process, int signal)
{
	const struct traced_process *p = &q->t->processes[process];
	const struct complaints *c = felt_by_clients(q, p);
	bool felt = c || was_felt(q, p->died_ns);
	double sure = !signal ? SURE_EXIT_FELT : felt ? SURE_SIGNAL_FELT : SURE_SIGNAL;
	uint32_t reason =
		tell_last_failure(q->t, q->options, process, p->died_ns - REASON_NS, p->died_ns);
	struct semantic_finding *f =
		tell_accuse(q->s, tell_component(q->t, p->host, p->program, 0), &cause_crash, sure);
	int r;

	if (!f)
		return -ENOMEM;
	f->advice = tell_advice(q->t, process,
		reason == TRACES_NONE ? 0 : q->t->failures[reason].error, signal, &cause_crash);
	r = f->advice ? tell_death(q, f, process, signal, reason) : -ENOMEM;
	if (r == 0 && c)
		r = tell_complaints(q, f, c);
	return r < 0 ? r : tell_felt(q, f, p->died_ns);
}

/* Find servers that died. A server that exited with an error status counts only if clients noticed
 * it. */
static int find_dead(struct inquest *q)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < q->t->n_processes; i++) {
		const struct traced_process *p = &q->t->processes[i];
		int signal = death_of(p);

		if (!p->died_ns)
			continue;
		/* For a program without clients, only signals that indicate a fault of its own
		 * count. */
		if (!q->t->programs[p->program].serves && !traces_signal_is_fatal(signal))
			continue;
		if (signal)
			r = accuse_dead(q, i, signal);
		else if (!was_asked(p) && WEXITSTATUS(p->status) &&
			(felt_by_clients(q, p) || was_felt(q, p->died_ns)))
			r = accuse_dead(q, i, 0);
	}
	return r;
}

/* The state that the server's own trace shows: it was asked to end, it has died, or it
 * continued. */
enum own_view { VIEW_NONE, VIEW_ENDED, VIEW_GOES_ON };

static enum own_view view_of(const struct inquest *q, const struct complaints *c)
{
	const struct traces *t = q->t;
	int64_t later_ns = c->first_ns + q->window_ns;
	enum own_view view = VIEW_NONE;

	for (size_t i = 0; i < t->n_programs; i++) {
		if (t->programs[i].host == c->server && t->programs[i].serves &&
			t->programs[i].ended)
			return VIEW_ENDED;
	}
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct traced_process *p = &t->processes[i];
		const struct traced_program *program = &t->programs[p->program];

		if (p->host != c->server || !program->serves)
			continue;
		if (p->died_ns || p->asked)
			return VIEW_ENDED; /* already reported as dead, or ended normally */
		if (p->last_ns > later_ns || program->active_us > later_ns / 1000)
			view = VIEW_GOES_ON;
	}
	return view;
}

/* Did any client ever get an answer from this port, or from the same port of another server? Then
 * it is the port of the service. */
static bool was_serving(const struct inquest *q, const struct complaints *c)
{
	for (size_t i = 0; i < q->t->n_peers; i++) {
		if (q->t->peers[i].port == c->port && q->t->peers[i].first_answer_us)
			return true;
	}
	return false;
}

/* Did its archive end while other archives continued? */
static bool archive_ended(const struct inquest *q, uint32_t host)
{
	int64_t last_us = q->t->hosts[host].last_us;

	return last_us && q->end_us - last_us >= ARCHIVE_ENDS_US;
}

static int accuse_absent(struct inquest *q, const struct complaints *c, double sure)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	bool ended = archive_ended(q, c->server);
	struct semantic_finding *f;
	int r;

	sure += SURE_MORE * (c->n_clients > 1) + SURE_MORE * (c->n_clients > 3) +
		SURE_MORE * was_felt(q, c->first_ns) + SURE_MORE * ended;
	f = tell_accuse(q->s, tell_component(q->t, c->server, TRACES_NONE, c->port), &cause_crash,
		sure < SURE_MOST ? sure : SURE_MOST);
	if (!f)
		return -ENOMEM;
	f->advice = strdup(cause_crash.advice);
	r = f->advice ? tell_complaints(q, f, c) : -ENOMEM;
	if (r == 0)
		r = tell_felt(q, f, c->first_ns);
	if (ended)
		strbuf_printf(&sb, "the archive of %s ends while others continue",
			q->t->hosts[c->server].name);
	else if (!q->t->hosts[c->server].traced)
		strbuf_puts(&sb,
			"there is no trace of the server itself, which would show how it ended");
	return r == 0 && sb.len ? tell_sentence(f, &sb) : r;
}

static int note_lost(struct inquest *q, const struct complaints *c, const char *why)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	tell_failure(&sb, q->t, &q->t->failures[c->example]);
	strbuf_printf(&sb, "; %s", why);
	return tell_note(q->s, &sb);
}

/* Judge a server by the evidence of its clients alone. A closed connection means nothing, and a
 * single connection may break for any reason. The server is gone if it no longer answers, if
 * several connections broke, or if calls on files failed at the same time. */
static int judge_complaints(struct inquest *q, const struct complaints *c)
{
	enum own_view view = view_of(q, c);

	if (view == VIEW_ENDED || (!c->n_refused && !c->n_lost && !was_felt(q, c->first_ns)))
		return 0;
	if (view == VIEW_GOES_ON)
		return note_lost(q, c, "the server continues");
	if (!was_serving(q, c))
		return 0;
	if (c->n_refused)
		return accuse_absent(q, c, SURE_REFUSED);
	if (c->n_clients > 1 || was_felt(q, c->first_ns) || archive_ended(q, c->server))
		return accuse_absent(q, c, SURE_RESET);
	return note_lost(q, c, "a single broken connection does not accuse a server");
}

static bool is_accused(const struct inquest *q)
{
	for (uint32_t i = 0; i < q->s->n; i++) {
		if (!strcmp(q->s->findings[i].cause, cause_crash.name))
			return true;
	}
	return false;
}

/* The only server of a client that answered until about that time and not since, while others
 * continue; TRACES_NONE: none, or more than one. */
static uint32_t find_silenced(const struct traces *t, uint32_t host, int64_t at_us)
{
	uint32_t found = TRACES_NONE;
	bool others = false;

	for (uint32_t i = 0; i < t->n_peers; i++) {
		const struct traced_peer *p = &t->peers[i];

		if (p->host != host || !p->first_answer_us || p->first_answer_us > at_us)
			continue;
		if (p->last_answer_us > at_us + SEMANTIC_SKEW_NS / 1000) {
			others = true;
			continue;
		}
		if (found != TRACES_NONE)
			return TRACES_NONE;
		found = i;
	}
	return others ? found : TRACES_NONE;
}

/* Find a dead server if calls on files fail but no broken connection was recorded: a summary does
 * not show how a daemon notices it. It is the server that no longer answers. */
static int find_by_silence(struct inquest *q)
{
	for (uint32_t i = 0; i < q->t->n_failures; i++) {
		const struct traced_failure *f = &q->t->failures[i];
		uint32_t peer;
		struct complaints c;

		if (!is_felt(q->t, f))
			continue;
		peer = find_silenced(q->t, q->t->processes[f->process].host, f->first_ns / 1000);
		if (peer == TRACES_NONE)
			continue;
		c = (struct complaints){.server = q->t->peers[peer].server,
			.port = q->t->peers[peer].port,
			.n_clients = 1,
			.example = TRACES_NONE,
			.first_ns = f->first_ns};
		if (view_of(q, &c) == VIEW_NONE)
			return accuse_absent(q, &c, SURE_RESET);
	}
	return 0;
}

static void inquest_release(struct inquest *q)
{
	free(q->items);
}

int semantic_crashes(
	const struct traces *t, const struct semantic_options *options, struct semantic *s)
{
	_cleanup_(inquest_release) struct inquest q = {
		.t = t, .options = options, .s = s, .window_ns = options->error_window_us * 1000};
	int r = gather(&q);

	for (size_t i = 0; i < t->n_hosts; i++)
		q.end_us = t->hosts[i].last_us > q.end_us ? t->hosts[i].last_us : q.end_us;
	if (r == 0)
		r = find_dead(&q);
	for (size_t i = 0; r == 0 && i < q.n; i++)
		r = judge_complaints(&q, &q.items[i]);
	if (r == 0 && !is_accused(&q))
		r = find_by_silence(&q);
	return r;
}
