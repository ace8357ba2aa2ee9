/* The effects of each call: its latency by layer, and what it cost each server. */
#include "base/array.h"
#include "base/idmap.h"
#include "trace/stack/stack_metrics.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A layer has two levels: waiting for work that it passed on, and above that its own work. */
#define LEVELS (2 * STACK_LAYERS_MAX)

/* The most disks of a call that are distinguished. */
#define DISKS_MAX 256

struct walk {
	struct stack_metrics *m;
	uint32_t *seen; /* [span] the last call that has it, + 1 */
	int64_t *bytes; /* [span] bytes that the current call has in common with it */
	uint32_t *list; /* the spans of the current call, in time order */
	size_t n, cap;
	uint32_t *todo;
	size_t cap_todo;
	uint32_t *server_of; /* [observer] place in servers, or STACK_NONE */
	uint32_t *n_calls;   /* [span] calls that it is part of; only with a drive */
	struct {
		const char *name;
		uint32_t observer;
	} disks[DISKS_MAX]; /* of the current call */
	uint32_t n_disks;
};

static const struct span *span_of(const struct walk *w, uint32_t i)
{
	return &w->m->graph->spans->items[i];
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Gather all spans of a call, each once, even if several paths lead to it. */
static int gather(struct walk *w, uint32_t call)
{
	const struct graph *g = w->m->graph;
	size_t n_todo = 1;

	w->n = 0;
	if (array_reserve(&w->todo, &w->cap_todo, 1, sizeof(*w->todo)) < 0)
		return -ENOMEM;
	w->todo[0] = w->m->calls[call].span;
	w->bytes[w->todo[0]] = 0;
	w->seen[w->todo[0]] = call + 1;
	while (n_todo) {
		uint32_t i = w->todo[--n_todo];

		if (array_reserve(&w->list, &w->cap, w->n + 1, sizeof(*w->list)) < 0)
			return -ENOMEM;
		w->list[w->n++] = i;
		for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) {
			uint32_t child = g->edges[e].child;
			bool known = w->seen[child] == call + 1;

			if (!known)
				w->bytes[child] = 0;
			stack_add(&w->bytes[child], g->edges[e].bytes);
			if (known)
				continue;
			w->seen[child] = call + 1;
			if (array_reserve(&w->todo, &w->cap_todo, n_todo + 1, sizeof(*w->todo)) < 0)
				return -ENOMEM;
			w->todo[n_todo++] = child;
		}
	}
	qsort(w->list, w->n, sizeof(*w->list), by_number);
	return 0;
}

/* Time that is covered so far; spans are added in the order of their beginning. */
struct cover {
	int64_t ns, until;
};

static void cover_add(struct cover *c, int64_t from, int64_t to)
{
	from = from > c->until ? from : c->until;
	if (to > from) {
		stack_add(&c->ns, to - from);
		c->until = to;
	}
}

/* A span's part of [from, to). */
static void cover_clip(struct cover *c, const struct span *s, int64_t from, int64_t to)
{
	cover_add(c, s->start_ns > from ? s->start_ns : from, s->end_ns < to ? s->end_ns : to);
}

/* The latency of a call by layer. covers[k] is the time in which level k or a deeper one was at
 * work; the difference of two levels is that of the upper one alone. */
static void split(struct walk *w, struct stack_call *call)
{
	const struct spans *spans = w->m->graph->spans;
	const struct span *whole = span_of(w, call->span);
	struct cover covers[LEVELS + 1];

	for (int k = 0; k <= LEVELS; k++)
		covers[k] = (struct cover){0, whole->start_ns};
	for (size_t i = 0; i < w->n; i++) {
		const struct span *s = span_of(w, w->list[i]);
		unsigned layer = spans->layers[w->list[i]];

		if (layer >= STACK_LAYERS_MAX)
			continue;
		for (int k = (int)(2 * layer) + !graph_hands_on(w->m->graph, w->list[i]); k >= 0;
			k--)
			cover_clip(&covers[k], s, whole->start_ns, whole->end_ns);
		if (s->flags & SPAN_COLLECTIVE)
			stack_add(&call->communicating_ns, w->m->exclusive_ns[w->list[i]]);
	}
	for (int layer = 0; layer < STACK_LAYERS_MAX; layer++) {
		int64_t waiting = covers[2 * layer].ns - covers[2 * layer + 1].ns;

		call->exclusive_ns[layer] = covers[2 * layer].ns - covers[2 * layer + 2].ns;
		stack_add(&call->waiting_ns, waiting);
	}
	call->parts = (uint32_t)(w->n - 1);
}

static bool is_of_server(const struct walk *w, uint32_t i)
{
	uint8_t layer = w->m->graph->spans->layers[i];

	return layer < layers_n && layers[layer].side >= LAYER_SERVER;
}

static bool is_of_disk(const struct walk *w, uint32_t i)
{
	return layers[w->m->graph->spans->layers[i]].side == LAYER_DISK;
}

/* Is it the first span of its disk in the call? */
static bool is_new_disk(struct walk *w, uint32_t i)
{
	uint32_t observer = w->m->graph->spans->observers[i];
	const char *name = span_of(w, i)->object; /* one text, one pointer */

	for (uint32_t d = 0; d < w->n_disks; d++) {
		if (w->disks[d].name == name && w->disks[d].observer == observer)
			return false;
	}
	if (w->n_disks == DISKS_MAX)
		return false;
	w->disks[w->n_disks].name = name;
	w->disks[w->n_disks++].observer = observer;
	return true;
}

/* The share of a server in the current call, created at first use. */
static struct stack_share *share_find(struct walk *w, uint32_t call, uint32_t server)
{
	struct stack_metrics *m = w->m;
	struct stack_call *c = &m->calls[call];

	for (uint32_t i = c->shares; i < c->shares + c->n_shares; i++) {
		if (m->shares[i].server == server)
			return &m->shares[i];
	}
	if (array_reserve(&m->shares, &m->cap_shares, m->n_shares + 1, sizeof(*m->shares)) < 0)
		return NULL;
	m->shares[m->n_shares] = (struct stack_share){.call = call, .server = server};
	c->n_shares++;
	return &m->shares[m->n_shares++];
}

/* The bytes that a span moved for the current call: one disk request may serve many calls. If a
 * join has no bytes, a span with a single call belongs to it entirely. */
static int64_t bytes_in_call(const struct walk *w, uint32_t i)
{
	const struct span *s = span_of(w, i);
	int64_t all = s->result > 0 ? s->result : 0;

	if (!w->bytes[i])
		return w->m->graph->n_parents[i] > 1 ? 0 : all;
	return w->bytes[i] < all ? w->bytes[i] : all;
}

static void share_count(struct walk *w, struct stack_share *share, size_t at)
{
	int64_t bytes = bytes_in_call(w, w->list[at]);

	if (!is_of_disk(w, w->list[at])) {
		share->requests++;
		stack_add(&share->bytes, bytes);
		return;
	}
	share->disk_accesses++;
	share->n_disks += is_new_disk(w, w->list[at]);
	stack_add(&share->disk_bytes, bytes);
}

static bool is_at_server(const struct walk *w, uint32_t i, uint32_t server)
{
	return is_of_server(w, i) && w->server_of[w->m->graph->spans->observers[i]] == server;
}

/* Is it a request over the network that the server is known to have had? */
static bool is_to_server(const struct walk *w, uint32_t i, uint32_t server)
{
	const struct graph *g = w->m->graph;

	if (g->spans->layers[i] != STACK_NETWORK)
		return false;
	for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) {
		if (is_at_server(w, g->edges[e].child, server))
			return true;
	}
	return false;
}

/* Times of a server: of all of its spans, in their order. */
static void share_time(struct walk *w, struct stack_share *share, const struct span *call)
{
	struct cover all = {0, INT64_MIN}, disk = all, behind = all, busy = all, asked = all;

	for (size_t i = 0; i < w->n; i++) {
		const struct span *s = span_of(w, w->list[i]);
		bool own = is_at_server(w, w->list[i], share->server);

		if (own || is_to_server(w, w->list[i], share->server))
			cover_clip(&asked, s, call->start_ns, call->end_ns);
		if (!own)
			continue;
		cover_clip(&all, s, call->start_ns, call->end_ns);
		cover_clip(&behind, s, call->end_ns, INT64_MAX);
		if (!is_of_disk(w, w->list[i]))
			continue;
		cover_clip(&disk, s, call->start_ns, call->end_ns);
		cover_add(&busy, s->start_ns, s->end_ns);
	}
	share->ns = all.ns;
	share->disk_ns = disk.ns;
	share->network_ns = asked.ns - all.ns;
	share->behind_ns = behind.ns;
	share->disk_busy_ns = busy.ns;
}

static int by_server(const void *a, const void *b)
{
	const struct stack_share *x = a, *y = b;

	return (x->server > y->server) - (x->server < y->server);
}

static int shares_make(struct walk *w, uint32_t number)
{
	struct stack_metrics *m = w->m;
	struct stack_call *call = &m->calls[number];

	call->shares = (uint32_t)m->n_shares;
	w->n_disks = 0;
	for (size_t i = 0; i < w->n; i++) {
		struct stack_share *share;

		if (!is_of_server(w, w->list[i]))
			continue;
		share = share_find(w, number, w->server_of[m->graph->spans->observers[w->list[i]]]);
		if (!share)
			return -ENOMEM;
		share_count(w, share, i);
		if (w->n_calls)
			w->n_calls[w->list[i]]++;
	}
	for (uint32_t i = call->shares; i < m->n_shares; i++) {
		struct stack_share *share = &m->shares[i];

		share_time(w, share, span_of(w, call->span));
		call->disk_accesses += share->disk_accesses;
		call->n_disks += share->n_disks;
		stack_add(&call->disk_bytes, share->disk_bytes);
	}
	if (call->n_shares)
		qsort(m->shares + call->shares, call->n_shares, sizeof(*m->shares), by_server);
	return 0;
}

/* The energy of each disk access, [span]. */
static int energy_make(const struct walk *w, double *joules)
{
	const struct spans *spans = w->m->graph->spans;
	struct drive_state *disks = NULL;
	size_t n = 0, cap = 0;
	struct idmap by_name = {0};
	int r = 0;

	for (uint32_t i = 0; i < spans->n && r == 0; i++) {
		const struct span *s = &spans->items[i];
		uint64_t key = (uint64_t)(uintptr_t)s->object ^
			(uint64_t)spans->observers[i] * UINT64_C(0x9e3779b97f4a7c15);
		uint32_t at;

		if (!is_of_server(w, i) || !is_of_disk(w, i))
			continue;
		if (!idmap_get(&by_name, key, &at)) {
			at = (uint32_t)n;
			r = array_reserve(&disks, &cap, n + 1, sizeof(*disks));
			if (r == 0)
				r = idmap_put(&by_name, key, at);
			if (r < 0)
				break;
			disks[n++] = (struct drive_state){0};
		}
		joules[i] = drive_access(w->m->drive, &disks[at], s->start_ns, s->end_ns, s->offset,
			s->result > 0 ? s->result : s->size);
	}
	idmap_release(&by_name);
	free(disks);
	return r;
}

/* An access that several calls share is shared among them. */
static int energy_share(struct walk *w)
{
	struct stack_metrics *m = w->m;
	double *joules = calloc(m->graph->spans->n + 1, sizeof(*joules));
	int r = joules ? energy_make(w, joules) : -ENOMEM;

	memset(w->seen, 0, m->graph->spans->n * sizeof(*w->seen));
	for (uint32_t c = 0; c < m->n_calls && r == 0; c++) {
		if (!m->calls[c].n_disks)
			continue;
		r = gather(w, c);
		for (size_t i = 0; i < w->n && r == 0; i++) {
			uint32_t span = w->list[i];
			struct stack_share *share;
			double part;

			if (!joules[span])
				continue;
			share = share_find(w, c, w->server_of[m->graph->spans->observers[span]]);
			part = joules[span] / (w->n_calls[span] ? w->n_calls[span] : 1);
			share->joules += part;
			m->calls[c].joules += part;
		}
	}
	free(joules);
	return r;
}

static int prepare(struct walk *w)
{
	const struct spans *spans = w->m->graph->spans;

	w->seen = calloc(spans->n + 1, sizeof(*w->seen));
	w->bytes = calloc(spans->n + 1, sizeof(*w->bytes));
	w->server_of = calloc(spans->n_observers + 1, sizeof(*w->server_of));
	if (w->m->drive)
		w->n_calls = calloc(spans->n + 1, sizeof(*w->n_calls));
	if (!w->seen || !w->bytes || !w->server_of || (w->m->drive && !w->n_calls))
		return -ENOMEM;
	for (uint32_t i = 0; i < w->m->n_servers; i++)
		w->server_of[w->m->servers[i].observer] = i;
	return 0;
}

int stack_calls_split(struct stack_metrics *m)
{
	struct walk w = {.m = m};
	int r = prepare(&w);

	for (uint32_t i = 0; i < m->n_calls && r == 0; i++) {
		r = gather(&w, i);
		if (r == 0) {
			split(&w, &m->calls[i]);
			r = shares_make(&w, i);
		}
	}
	if (r == 0 && m->drive)
		r = energy_share(&w);
	free(w.seen);
	free(w.bytes);
	free(w.list);
	free(w.todo);
	free(w.server_of);
	free(w.n_calls);
	return r;
}
