/* Errors that a server passes on: an errno that is not normal on a server, and that a client gets
 * within a few seconds (section 7 of the paper). */
#include "explain/semantic.h"

#include "base/cleanup.h"
#include "explain/semantic_normal.h"
#include "explain/semantic_tell.h"
#include "model/quantity.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS_NAMED 4
#define NOTES_MAX 4

/* The certainty of one pair of events, and the factors that reduce it. */
#define SURE_SAME 0.95
#define SURE_TRANSLATED 0.6
#define SURE_ONCE 0.95	    /* factor: it happened only once */
#define SURE_NO_LINK 0.85   /* factor: no connection between the two is known */
#define SURE_UNTRAINED 0.97 /* factor: normal failures were not learnt */

/* The evidence against a program that serves. */
struct handed {
	uint32_t n_same, n_translated; /* failures of clients: with the same errno, and with a
					* translated one */
	bool sure;		       /* connections between them are known */
	uint32_t counted;	       /* the client failure that was counted last */
	uint32_t server, client;       /* the best pair of failures so far */
	int64_t first_ns, last_ns;
};

struct matching {
	const struct traces *t;
	const struct semantic_options *options;
	int64_t window_ns;
	uint32_t *servers, *clients; /* failures that are not normal, in the order of time */
	size_t n_servers, n_clients;
	bool *seen;	       /* [failure] of a server: a client got it as well */
	struct handed *handed; /* [program] */
};

static void matching_release(struct matching *m)
{
	free(m->servers);
	free(m->clients);
	free(m->seen);
	free(m->handed);
}

static int compare_failures(const void *a, const void *b, void *traces)
{
	const struct traced_failure *failures = ((const struct traces *)traces)->failures;
	const struct traced_failure *x = &failures[*(const uint32_t *)a];
	const struct traced_failure *y = &failures[*(const uint32_t *)b];

	return (x->first_ns > y->first_ns) - (x->first_ns < y->first_ns);
}

static int matching_init(struct matching *m)
{
	const struct traces *t = m->t;

	m->servers = calloc(t->n_failures + 1, sizeof(*m->servers));
	m->clients = calloc(t->n_failures + 1, sizeof(*m->clients));
	m->seen = calloc(t->n_failures + 1, sizeof(*m->seen));
	m->handed = calloc(t->n_programs + 1, sizeof(*m->handed));
	if (!m->servers || !m->clients || !m->seen || !m->handed)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_failures; i++) {
		if (normal_failure(t, m->options->trained, &t->failures[i]))
			continue;
		if (traces_serves(t, t->failures[i].process))
			m->servers[m->n_servers++] = i;
		else
			m->clients[m->n_clients++] = i;
	}
	qsort_r(m->servers, m->n_servers, sizeof(*m->servers), compare_failures, (void *)t);
	qsort_r(m->clients, m->n_clients, sizeof(*m->clients), compare_failures, (void *)t);
	return 0;
}

/* How well a failure of a server and one of a client fit together; larger is better. */
enum relation {
	RELATION_NONE,
	RELATION_TRANSLATED_LATE,
	RELATION_TRANSLATED,
	RELATION_SAME_LATE, /* the client's failure is slightly earlier: clocks may differ */
	RELATION_SAME,
};

static enum relation relate(const struct matching *m, const struct traced_failure *server,
	const struct traced_failure *client, bool *ret_sure)
{
	const struct traces *t = m->t;
	bool late = server->first_ns > client->last_ns;

	if (server->first_ns > client->last_ns + SEMANTIC_SKEW_NS ||
		client->first_ns > server->last_ns + m->window_ns)
		return RELATION_NONE;
	if (!traces_linked(t, t->processes[client->process].host,
		    t->processes[server->process].host, ret_sure))
		return RELATION_NONE;
	if (server->error == client->error)
		return late ? RELATION_SAME_LATE : RELATION_SAME;
	if (!normal_is_resource(server->error) || !normal_is_translation(client->error))
		return RELATION_NONE;
	return late ? RELATION_TRANSLATED_LATE : RELATION_TRANSLATED;
}

static void hand_on(struct matching *m, uint32_t server, uint32_t client, bool same, bool sure)
{
	const struct traced_failure *s = &m->t->failures[server], *c = &m->t->failures[client];
	struct handed *h = &m->handed[m->t->processes[s->process].program];
	bool first = !h->n_same && !h->n_translated;

	m->seen[server] = true;
	if (first || (same && !h->n_same)) {
		h->server = server;
		h->client = client;
	}
	if (first || s->first_ns < h->first_ns)
		h->first_ns = s->first_ns;
	if (first || c->last_ns > h->last_ns)
		h->last_ns = c->last_ns;
	h->sure = h->sure || sure;
	if (first || h->counted != client) {
		h->n_same += same ? c->n : 0;
		h->n_translated += same ? 0 : c->n;
	}
	h->counted = client;
}

/* The first server failure that is not before the window of this client failure. */
static size_t first_in_window(const struct matching *m, const struct traced_failure *client)
{
	int64_t from_ns = client->first_ns - m->window_ns - TRACES_SAME_NS;
	size_t low = 0, high = m->n_servers;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->t->failures[m->servers[middle]].first_ns < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Find the servers that a client's failure accuses: those with an earlier error; if there are none,
 * those with an error that is late by no more than clocks may differ. The same errno outranks a
 * translated one. */
static void match_client(struct matching *m, uint32_t client)
{
	const struct traced_failure *c = &m->t->failures[client];
	size_t from = first_in_window(m, c);
	enum relation best = RELATION_NONE, own;
	bool sure;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = from; i < m->n_servers; i++) {
			const struct traced_failure *s = &m->t->failures[m->servers[i]];

			if (s->first_ns > c->last_ns + SEMANTIC_SKEW_NS)
				break;
			own = relate(m, s, c, &sure);
			if (pass == 0 && own > best)
				best = own;
			if (pass == 1 && own == best && own != RELATION_NONE)
				hand_on(m, m->servers[i], client, own >= RELATION_SAME_LATE, sure);
		}
	}
}

/* "and c2, c3 and 4 more", the other clients that got an errno from the server at that time. */
static void tell_clients(struct strbuf *sb, const struct matching *m, const struct handed *h)
{
	const struct traces *t = m->t;
	uint32_t own = t->processes[t->failures[h->client].process].host, named = 0;
	_cleanup_free_ bool *told = calloc(t->n_hosts + 1, sizeof(*told));
	uint64_t n = (uint64_t)h->n_same + h->n_translated;
	uint32_t others = 0;

	for (size_t i = 0; told && i < m->n_clients; i++) {
		const struct traced_failure *c = &t->failures[m->clients[i]];
		uint32_t host = t->processes[c->process].host;

		if (c->error != t->failures[h->client].error || host == own || told[host] ||
			c->first_ns > h->last_ns)
			continue;
		told[host] = true;
		others++;
		if (named++ < CLIENTS_NAMED)
			strbuf_printf(sb, "%s%s", others == 1 ? "clients on " : ", ",
				t->hosts[host].name);
	}
	if (others > CLIENTS_NAMED)
		strbuf_printf(sb, " and %" PRIu32 " more", others - CLIENTS_NAMED);
	if (others)
		strbuf_puts(sb, " got it too");
	if (n > 1)
		strbuf_printf(sb, "%s%" PRIu64 " calls of clients failed in this way until ",
			others ? "; " : "", n);
	if (n > 1)
		tell_time(sb, h->last_ns);
}

static int tell_pair(struct semantic_finding *f, const struct matching *m, const struct handed *h)
{
	const struct traced_failure *s = &m->t->failures[h->server];
	const struct traced_failure *c = &m->t->failures[h->client];
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	int64_t later_us = (c->first_ns - s->first_ns) / 1000;
	char buf[SYSCALL_NAME_MAX], span[QUANTITY_TEXT_MAX];
	int r;

	if (tell_failed_call(f, m->t, s) < 0 || tell_failed_call(f, m->t, c) < 0)
		return -ENOMEM;
	tell_failure(&sb, m->t, s);
	r = tell_sentence(f, &sb);
	tell_failure(&sb, m->t, c);
	quantity_format_span(llabs(later_us), span);
	if (later_us >= 0)
		strbuf_printf(&sb, ", %s later", span);
	else
		strbuf_printf(&sb, ", %s earlier by the clocks of the two hosts", span);
	if (r == 0)
		r = tell_sentence(f, &sb);
	if (!h->n_same) {
		strbuf_printf(&sb,
			"the client got another error than the server: %s may have been translated "
			"on the way",
			errno_name(s->error, buf));
		if (r == 0)
			r = tell_sentence(f, &sb);
	}
	tell_clients(&sb, m, h);
	if (r == 0 && sb.len)
		r = tell_sentence(f, &sb);
	return r;
}

static double confidence_of(const struct matching *m, const struct handed *h)
{
	double c = h->n_same ? SURE_SAME : SURE_TRANSLATED;

	c *= h->n_same + h->n_translated > 1 ? 1 : SURE_ONCE;
	c *= h->sure ? 1 : SURE_NO_LINK;
	return m->options->trained ? c : c * SURE_UNTRAINED;
}

static int accuse(struct semantic *s, const struct matching *m, uint32_t program)
{
	const struct handed *h = &m->handed[program];
	const struct traced_failure *f = &m->t->failures[h->server];
	struct semantic_finding *finding =
		tell_accuse(s, tell_component(m->t, m->t->programs[program].host, program, 0),
			&cause_propagated_error, confidence_of(m, h));

	if (!finding)
		return -ENOMEM;
	finding->n = h->n_same + h->n_translated;
	tell_extend(finding, h->first_ns, h->last_ns);
	finding->advice = tell_advice(m->t, f->process, f->error, 0, &cause_propagated_error);
	return finding->advice ? tell_pair(finding, m, h) : -ENOMEM;
}

#define KEY_BYTES 48

/* The key: the same call of the same program with the same errno. */
static void key_make(const struct matching *m, uint32_t failure, char key[KEY_BYTES])
{
	const struct traced_failure *f = &m->t->failures[failure];

	snprintf(key, KEY_BYTES, "%u %u %u", m->t->processes[f->process].program, f->nr, f->error);
}

/* The number of such failures from number `from` on. */
static uint64_t count_alike(const struct matching *m, size_t from)
{
	const struct traced_failure *f = &m->t->failures[m->servers[from]];
	uint32_t program = m->t->processes[f->process].program;
	uint64_t n = 0;

	for (size_t i = from; i < m->n_servers; i++) {
		const struct traced_failure *other = &m->t->failures[m->servers[i]];

		if (m->t->processes[other->process].program == program && other->nr == f->nr &&
			other->error == f->error)
			n += other->n;
	}
	return n;
}

static int note_one(struct semantic *s, const struct matching *m, size_t at)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	uint64_t n = count_alike(m, at);

	tell_failure(&sb, m->t, &m->t->failures[m->servers[at]]);
	if (n > 1)
		strbuf_printf(&sb, ", and %" PRIu64 " times more", n - 1);
	strbuf_puts(&sb, "; no traced client got this error");
	return tell_note(s, &sb);
}

/* Is the program already accused? If so, its errors are part of that finding. */
static bool is_accused(const struct semantic *s, const struct matching *m, uint32_t failure)
{
	const struct traced_process *p = &m->t->processes[m->t->failures[failure].process];
	_cleanup_(lp_identity_unrefp) struct lp_identity *component =
		tell_component(m->t, p->host, p->program, 0);

	for (uint32_t i = 0; component && i < s->n; i++) {
		if (!strcmp(s->findings[i].component->text, component->text))
			return true;
	}
	return false;
}

/* Note errors of servers that no client got; they do not accuse. */
static int note_unseen(struct semantic *s, const struct matching *m)
{
	_cleanup_(strmap_release) struct strmap known = {0};
	unsigned noted = 0;
	char key[KEY_BYTES];
	uint32_t ignored;
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->n_servers; i++) {
		key_make(m, m->servers[i], key);
		if (m->seen[m->servers[i]])
			r = strmap_put(&known, key, 0);
	}
	for (size_t i = 0; r == 0 && i < m->n_servers && noted < NOTES_MAX; i++) {
		key_make(m, m->servers[i], key);
		if (!normal_is_resource(m->t->failures[m->servers[i]].error) ||
			strmap_get(&known, key, &ignored) || is_accused(s, m, m->servers[i]))
			continue;
		r = strmap_put(&known, key, 0);
		if (r == 0)
			r = note_one(s, m, i);
		noted++;
	}
	return r;
}

int semantic_errors(
	const struct traces *t, const struct semantic_options *options, struct semantic *s)
{
	_cleanup_(matching_release) struct matching m = {
		.t = t, .options = options, .window_ns = options->error_window_us * 1000};
	int r = matching_init(&m);

	for (size_t i = 0; r == 0 && i < m.n_clients; i++)
		match_client(&m, m.clients[i]);
	for (uint32_t i = 0; r == 0 && i < t->n_programs; i++) {
		if (m.handed[i].n_same || m.handed[i].n_translated)
			r = accuse(s, &m, i);
	}
	/* Persistent failures are evidence by themselves; the others are only noted. */
	if (r == 0)
		r = semantic_exhaustion(t, options, s);
	return r < 0 ? r : note_unseen(s, &m);
}
