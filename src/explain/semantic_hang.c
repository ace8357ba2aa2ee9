/* Servers that hang: calls of clients that take too long or never return, and a server that has not
 * answered the last request. */
#include "explain/semantic.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "explain/semantic_tell.h"
#include "model/quantity.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A server may wait for another one; follow this many steps. */
#define STEPS_MAX 8
/* A call of the server that failed at most this long before may be the reason. */
#define REASON_NS (60 * NS_PER_SEC)

#define SURE_SILENT 0.75 /* a call on a file hangs, and one server is silent */
#define SURE_REQUEST 0.7 /* the same, for a call that itself waits for the answer */
#define SURE_STUCK 0.6	 /* no server is silent, but a thread of a server is stuck */
#define SURE_SEVERAL 0.8 /* factor: several servers are silent */
#define SURE_MORE 0.08	 /* added for each fact that agrees */
#define SURE_MOST 0.97

/* The evidence against one server. */
struct hung {
	uint32_t host;
	uint16_t port;
	uint32_t n; /* calls of clients that hang */
	uint32_t first_call;
	uint32_t clients[8], n_clients; /* hosts, up to the number that matters */
	bool on_files, alone, silent;
	uint32_t stuck; /* a stuck call of the server; TRACES_NONE: none */
	uint32_t peer;	/* the silent peer; TRACES_NONE: none */
	int64_t silent_from_us, silent_to_us;
	int64_t first_ns, last_ns;
};

struct hanging {
	const struct traces *t;
	const struct semantic_options *options;
	struct semantic *s;
	struct hung *items;
	size_t n, cap;
	uint32_t *silent; /* peers that one call waits for */
	size_t n_silent;
};

static bool is_file(uint8_t file)
{
	return file == TRACE_FILE_STORAGE || file == TRACE_FILE_DIRECTORY;
}

/* Is it a call on a file, which should return soon? */
static bool is_file_call(const struct traced_slow *c)
{
	switch (c->call) {
	case TRACE_CALL_READ:
	case TRACE_CALL_WRITE:
		return is_file(c->file);
	case TRACE_CALL_SYNC:
	case TRACE_CALL_OPEN:
	case TRACE_CALL_META:
		return is_file(c->file) || c->file == TRACE_FILE_NONE;
	default:
		return false;
	}
}

/* Does it read the answer to a request? */
static bool is_request(const struct traced_slow *c)
{
	return c->file == TRACE_FILE_TCP &&
		(c->call == TRACE_CALL_READ || c->call == TRACE_CALL_WRITE);
}

static int64_t overlap_us(const struct traced_span *s, const struct traced_slow *c)
{
	int64_t from = c->start_ns / 1000, to = (c->start_ns + c->dur_ns) / 1000;

	from = s->from_us > from ? s->from_us : from;
	to = s->to_us < to ? s->to_us : to;
	return to > from ? to - from : 0;
}

/* How long a peer was silent during a call. */
static int64_t silence_during(
	const struct traced_peer *p, const struct traced_slow *c, struct traced_span *ret)
{
	int64_t best = 0;

	struct traced_span span;

	for (size_t i = 0; traces_silence(p, i, &span); i++) {
		int64_t us = overlap_us(&span, c);

		if (us > best) {
			best = us;
			*ret = span;
		}
	}
	return best;
}

/* Was it silent long enough for a hang? */
static bool is_silent(const struct hanging *h, const struct traced_peer *p,
	const struct traced_slow *c, struct traced_span *ret)
{
	return silence_during(p, c, ret) * 2 >= h->options->hang_after_us;
}

static bool is_remote_of(const struct traced_peer *p, const struct traced_slow *c)
{
	char local[END_MAX], remote[END_MAX];

	return ends_split(c->name, local, remote) && !strcmp(remote, p->name);
}

/* Find the peers of a host that are silent during a call; `itself`: including those on the same
 * host. Peers that never answer (receivers of logs and statistics) do not count if there are
 * others. */
static void find_silent(
	struct hanging *h, uint32_t host, const struct traced_slow *c, bool request, bool itself)
{
	struct traced_span span;
	bool answering = false;

	h->n_silent = 0;
	for (uint32_t i = 0; i < h->t->n_peers; i++) {
		const struct traced_peer *p = &h->t->peers[i];

		if (p->host != host || (p->server == host && !itself) ||
			!is_silent(h, p, c, &span) || (request && c->name && !is_remote_of(p, c)))
			continue;
		answering = answering || p->responses > 0;
		h->silent[h->n_silent++] = i;
	}
	for (size_t i = 0; answering && i < h->n_silent;) {
		if (h->t->peers[h->silent[i]].responses > 0)
			i++;
		else
			h->silent[i] = h->silent[--h->n_silent];
	}
}

/* A call of a server that blocks one of its threads: it is on a file, and takes at least half as
 * long as the client's call. TRACES_NONE: none. */
static uint32_t find_stuck(const struct hanging *h, uint32_t host, const struct traced_slow *c)
{
	struct traced_span span = {c->start_ns / 1000, (c->start_ns + c->dur_ns) / 1000};
	uint32_t best = TRACES_NONE;

	for (uint32_t i = 0; i < h->t->n_slow; i++) {
		const struct traced_slow *s = &h->t->slow[i];

		if (h->t->processes[s->process].host != host || !traces_serves(h->t, s->process) ||
			!is_file_call(s) || overlap_us(&span, s) * 2 < h->options->hang_after_us)
			continue;
		if (best == TRACES_NONE || s->dur_ns > h->t->slow[best].dur_ns)
			best = i;
	}
	return best;
}

/* Do others get answers from the server during the call? Answers at its beginning and end do not
 * count: a server that recovers answers all clients again. */
static bool answers_others(const struct hanging *h, uint32_t server, const struct traced_slow *c)
{
	int64_t margin_us = h->options->hang_after_us / 4;
	int64_t from_us = c->start_ns / 1000 + margin_us;
	int64_t to_us = (c->start_ns + c->dur_ns) / 1000 - margin_us;

	for (size_t i = 0; i < h->t->n_peers; i++) {
		const struct traced_peer *p = &h->t->peers[i];

		if (p->server != server || p->host == h->t->processes[c->process].host)
			continue;
		for (size_t k = 0; k < p->n_answers; k++) {
			if (p->answers[k].to_us > from_us && p->answers[k].from_us < to_us)
				return true;
		}
	}
	return false;
}

static struct hung *hung_of(struct hanging *h, uint32_t host, uint16_t port)
{
	for (size_t i = 0; i < h->n; i++) {
		if (h->items[i].host == host && (!port || h->items[i].port == port))
			return &h->items[i];
	}
	if (array_reserve(&h->items, &h->cap, h->n + 1, sizeof(*h->items)) < 0)
		return NULL;
	h->items[h->n] = (struct hung){.host = host,
		.port = port,
		.stuck = TRACES_NONE,
		.peer = TRACES_NONE,
		.first_ns = INT64_MAX};
	return &h->items[h->n++];
}

static void note_client(struct hung *g, uint32_t host)
{
	for (uint32_t i = 0; i < g->n_clients; i++) {
		if (g->clients[i] == host)
			return;
	}
	if (g->n_clients < ARRAY_SIZE(g->clients))
		g->clients[g->n_clients++] = host;
}

/* Add a call to the evidence against a server. */
static void hung_add(const struct hanging *h, struct hung *g, uint32_t call, bool alone)
{
	const struct traced_slow *c = &h->t->slow[call];
	uint32_t stuck = find_stuck(h, g->host, c);

	if (!g->n++ || c->start_ns < g->first_ns)
		g->first_call = call;
	note_client(g, h->t->processes[c->process].host);
	g->on_files = g->on_files || is_file_call(c);
	g->alone = g->alone || alone;
	if (g->stuck == TRACES_NONE)
		g->stuck = stuck;
	if (c->start_ns < g->first_ns)
		g->first_ns = c->start_ns;
	if (c->start_ns + c->dur_ns > g->last_ns)
		g->last_ns = c->start_ns + c->dur_ns;
}

static int add_silent(struct hanging *h, uint32_t call, uint32_t peer, bool alone)
{
	const struct traced_peer *p = &h->t->peers[peer];
	const struct traced_slow *c = &h->t->slow[call];
	struct traced_span span = {0};
	struct hung *g = hung_of(h, p->server, p->port);

	if (!g)
		return -ENOMEM;
	is_silent(h, p, c, &span);
	g->silent = true;
	if (g->peer == TRACES_NONE || span.from_us < g->silent_from_us ||
		(span.from_us == g->silent_from_us && c->start_ns < g->first_ns)) {
		g->peer = peer;
		g->silent_from_us = span.from_us;
		g->silent_to_us = span.to_us;
	}
	hung_add(h, g, call, alone);
	return 0;
}

/* A server that waits for another is not at fault: continue with that one. */
static void follow(struct hanging *h, const struct traced_slow *c)
{
	for (unsigned step = 0; step < STEPS_MAX && h->n_silent == 1; step++) {
		uint32_t peer = h->silent[0], server = h->t->peers[peer].server;

		find_silent(h, server, c, false, false);
		if (h->n_silent)
			continue;
		h->silent[0] = peer;
		h->n_silent = 1;
		return;
	}
}

/* Does the server's own trace show that it works, and does it answer others? Then the client does
 * not read the answer, or its connection is broken, which is not the server's fault. */
static bool is_cleared(const struct hanging *h, uint32_t peer, const struct traced_slow *c)
{
	uint32_t server = h->t->peers[peer].server;

	return h->t->hosts[server].traced && answers_others(h, server, c) &&
		find_stuck(h, server, c) == TRACES_NONE;
}

/* If no server is silent: is a thread stuck in a server that the client depends on? */
static int blame_stuck(struct hanging *h, uint32_t call, bool *ret_found)
{
	const struct traced_slow *c = &h->t->slow[call];
	uint32_t client = h->t->processes[c->process].host;
	bool sure;

	*ret_found = false;
	for (uint32_t host = 0; host < h->t->n_hosts; host++) {
		struct hung *g;

		if (!traces_linked(h->t, client, host, &sure) ||
			find_stuck(h, host, c) == TRACES_NONE)
			continue;
		g = hung_of(h, host, 0);
		if (!g)
			return -ENOMEM;
		hung_add(h, g, call, true);
		*ret_found = true;
	}
	return 0;
}

static int note_unexplained(struct hanging *h, uint32_t call, const char *why)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};

	tell_slow(&sb, h->t, &h->t->slow[call]);
	strbuf_printf(&sb, "; %s", why);
	return tell_note(h->s, &sb);
}

/* Find the server for which a client's call waits. */
static int judge_call(struct hanging *h, uint32_t call)
{
	const struct traced_slow *c = &h->t->slow[call];
	bool request = is_request(c), found = false;
	size_t n;
	int r = 0;

	find_silent(h, h->t->processes[c->process].host, c, request, true);
	if (request && !h->n_silent)
		return 0; /* it waits for a message, not for an answer */
	for (size_t i = 0; i < h->n_silent;) {
		if (is_cleared(h, h->silent[i], c))
			h->silent[i] = h->silent[--h->n_silent];
		else
			i++;
	}
	follow(h, c);
	n = h->n_silent;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = add_silent(h, call, h->silent[i], n == 1);
	if (r < 0 || n)
		return r;
	r = request ? 0 : blame_stuck(h, call, &found);
	if (r < 0 || found)
		return r;
	return note_unexplained(h, call,
		request ? "the server answers others meanwhile"
			: "no server that was seen owes an answer to it");
}

static double confidence_of(const struct hanging *h, const struct hung *g)
{
	double c = !g->silent ? SURE_STUCK : g->on_files ? SURE_SILENT : SURE_REQUEST;

	c += SURE_MORE * (g->n_clients > 1) + SURE_MORE * (g->n_clients > 3) +
		SURE_MORE * (g->stuck != TRACES_NONE) + SURE_MORE * h->t->hosts[g->host].traced;
	c *= g->silent && !g->alone ? SURE_SEVERAL : 1;
	return c < SURE_MOST ? c : SURE_MOST;
}

/* "it has not answered c1's last request for 35s, since ..." */
static void tell_silence(struct strbuf *sb, const struct hanging *h, const struct hung *g)
{
	const struct traced_peer *p = &h->t->peers[g->peer];
	char span[QUANTITY_TEXT_MAX];

	strbuf_printf(sb, "%s did not answer the last request of %s for %s, since ", p->name,
		h->t->hosts[p->host].name,
		quantity_format_span(g->silent_to_us - g->silent_from_us, span));
	tell_time(sb, time_ns(g->silent_from_us));
}

/* The last failure in a process of the server. */
static uint32_t find_reason(const struct hanging *h, const struct hung *g)
{
	uint32_t best = TRACES_NONE;

	for (uint32_t i = 0; i < h->t->n_processes; i++) {
		uint32_t failure;

		if (h->t->processes[i].host != g->host || !traces_serves(h->t, i))
			continue;
		failure =
			tell_last_failure(h->t, h->options, i, g->first_ns - REASON_NS, g->last_ns);
		if (failure != TRACES_NONE &&
			(best == TRACES_NONE ||
				h->t->failures[failure].first_ns > h->t->failures[best].first_ns))
			best = failure;
	}
	return best;
}

static int tell_hung(
	const struct hanging *h, struct semantic_finding *f, const struct hung *g, uint32_t reason)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	int r = 0;

	if (g->peer != TRACES_NONE) {
		tell_silence(&sb, h, g);
		r = tell_sentence(f, &sb);
	}
	if (r == 0 && g->stuck != TRACES_NONE) {
		tell_slow(&sb, h->t, &h->t->slow[g->stuck]);
		r = tell_sentence(f, &sb);
		if (r == 0)
			r = tell_slow_call(f, h->t, &h->t->slow[g->stuck]);
	}
	if (r == 0) {
		tell_slow(&sb, h->t, &h->t->slow[g->first_call]);
		if (g->n > 1)
			strbuf_printf(&sb,
				"; %" PRIu32 " calls of %s%" PRIu32 " client%s hung in this way",
				g->n, g->n_clients == ARRAY_SIZE(g->clients) ? "at least " : "",
				g->n_clients, g->n_clients == 1 ? "" : "s");
		r = tell_sentence(f, &sb);
		if (r == 0)
			r = tell_slow_call(f, h->t, &h->t->slow[g->first_call]);
	}
	if (r == 0 && reason != TRACES_NONE) {
		tell_failure(&sb, h->t, &h->t->failures[reason]);
		r = tell_sentence(f, &sb);
		if (r == 0)
			r = tell_failed_call(f, h->t, &h->t->failures[reason]);
	}
	return r;
}

static int accuse(const struct hanging *h, const struct hung *g)
{
	uint32_t reason = find_reason(h, g);
	uint32_t program = g->stuck == TRACES_NONE
		? TRACES_NONE
		: h->t->processes[h->t->slow[g->stuck].process].program;
	struct semantic_finding *f =
		tell_accuse(h->s, tell_component(h->t, g->host, program, g->port),
			&cause_server_hung, confidence_of(h, g));

	if (!f)
		return -ENOMEM;
	f->n = g->n;
	tell_extend(f, g->first_ns, g->last_ns);
	f->advice = reason == TRACES_NONE
		? strdup(cause_server_hung.advice)
		: tell_advice(h->t, h->t->failures[reason].process, h->t->failures[reason].error, 0,
			  &cause_server_hung);
	return f->advice ? tell_hung(h, f, g, reason) : -ENOMEM;
}

static void hanging_release(struct hanging *h)
{
	free(h->items);
	free(h->silent);
}

/* Note stuck threads of servers if no client waited for them. */
static int note_stuck(struct hanging *h)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < h->t->n_slow; i++) {
		const struct traced_slow *c = &h->t->slow[i];
		bool told = false;

		if (!traces_serves(h->t, c->process) || !is_file_call(c))
			continue;
		for (size_t k = 0; k < h->n; k++)
			told = told || h->items[k].host == h->t->processes[c->process].host;
		if (!told)
			r = note_unexplained(h, i, "no client that was traced hung meanwhile");
	}
	return r;
}

int semantic_hangs(
	const struct traces *t, const struct semantic_options *options, struct semantic *s)
{
	_cleanup_(hanging_release) struct hanging h = {.t = t, .options = options, .s = s};
	int r = 0;

	h.silent = calloc(t->n_peers + 1, sizeof(*h.silent));
	if (!h.silent)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < t->n_slow; i++) {
		if (!traces_serves(t, t->slow[i].process) &&
			(is_file_call(&t->slow[i]) || is_request(&t->slow[i])))
			r = judge_call(&h, i);
	}
	for (size_t i = 0; r == 0 && i < h.n; i++)
		r = accuse(&h, &h.items[i]);
	return r < 0 ? r : note_stuck(&h);
}
