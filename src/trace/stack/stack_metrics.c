#include "trace/stack/stack_metrics.h"

#include "base/array.h"
#include "base/idmap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void stack_metrics_release(struct stack_metrics *m)
{
	free(m->calls);
	free(m->shares);
	free(m->servers);
	free(m->clients);
	free(m->collectives);
	free(m->regions);
	free(m->exclusive_ns);
	*m = (struct stack_metrics){0};
}

static const struct span *span_of(const struct stack_metrics *m, uint32_t i)
{
	return &m->graph->spans->items[i];
}

static bool is_mark(const struct stack_metrics *m, uint32_t i)
{
	return span_of(m, i)->op == SPAN_MARK;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The time of a span that none of its children covers. Children are in the order of their begin. */
static int64_t exclusive(const struct stack_metrics *m, uint32_t i)
{
	const struct graph *g = m->graph;
	const struct span *s = span_of(m, i);
	int64_t covered = 0, until = s->start_ns;

	for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) {
		const struct span *child = span_of(m, g->edges[e].child);
		int64_t from = later(child->start_ns, until);
		int64_t to = earlier(child->end_ns, s->end_ns);

		if (to > from) {
			stack_add(&covered, to - from);
			until = to;
		}
	}
	return s->end_ns - s->start_ns - covered;
}

static void layer_add(struct stack_metrics *m, uint32_t i, int64_t *busy_until)
{
	uint8_t layer = m->graph->spans->layers[i];
	const struct span *s = span_of(m, i);
	struct stack_layer_sum *l = &m->layers[layer];
	int64_t ns = s->end_ns - s->start_ns;

	l->calls++;
	l->errors += s->result < 0;
	l->open += (s->flags & SPAN_OPEN_END) != 0;
	stack_add(&l->bytes, s->result > 0 ? s->result : 0);
	stack_add(&l->inclusive_ns, ns);
	stack_add(&l->exclusive_ns, m->exclusive_ns[i]);
	l->longest_ns = later(l->longest_ns, ns);
	if (s->flags & SPAN_COLLECTIVE)
		stack_add(&l->communicating_ns, m->exclusive_ns[i]);
	if (graph_hands_on(m->graph, i))
		stack_add(&l->waiting_ns, m->exclusive_ns[i]);
	if (s->end_ns > busy_until[layer]) {
		stack_add(&l->busy_ns, s->end_ns - later(s->start_ns, busy_until[layer]));
		busy_until[layer] = s->end_ns;
	}
}

/* Sums by layer, and the time in which something happened. */
static void layers_sum(struct stack_metrics *m)
{
	const struct spans *s = m->graph->spans;
	int64_t busy_until[STACK_LAYERS_MAX] = {0};

	for (uint32_t i = 0; i < s->n; i++) {
		m->exclusive_ns[i] = exclusive(m, i);
		m->first_ns = i ? earlier(m->first_ns, s->items[i].start_ns) : s->items[i].start_ns;
		m->last_ns = later(m->last_ns, s->items[i].end_ns);
		if (s->layers[i] < STACK_LAYERS_MAX && !is_mark(m, i))
			layer_add(m, i, busy_until);
	}
}

/* Where calls are numbered: in ranks, or in processes. */
struct numbering {
	struct idmap ranks;   /* observer and pid -> rank, outside of MPI jobs */
	struct idmap numbers; /* rank -> calls so far */
	uint32_t *region_of;  /* [span] the innermost mark around it */
	bool *inside;	      /* [span] it belongs to a call */
};

static int rank_of(struct stack_metrics *m, struct numbering *n, uint32_t i, int32_t *ret)
{
	const struct spans *s = m->graph->spans;
	uint64_t key = (uint64_t)s->observers[i] << 32 | (uint32_t)s->items[i].pid;
	uint32_t rank;

	if (s->items[i].rank >= 0 && s->items[i].rank < INT32_MAX / 2) {
		*ret = s->items[i].rank;
		return 0;
	}
	if (!idmap_get(&n->ranks, key, &rank)) {
		rank = (uint32_t)n->ranks.n;
		if (idmap_put(&n->ranks, key, rank) < 0)
			return -ENOMEM;
	}
	*ret = (int32_t)(m->n_ranks + rank);
	return 0;
}

static int call_add(struct stack_metrics *m, struct numbering *n, uint32_t i, size_t *cap)
{
	struct stack_call call = {.span = i, .region = n->region_of[i]};
	uint32_t number = 0;
	int r = rank_of(m, n, i, &call.rank);

	if (r < 0)
		return r;
	idmap_get(&n->numbers, (uint64_t)(uint32_t)call.rank, &number);
	call.number = number;
	if (idmap_put(&n->numbers, (uint64_t)(uint32_t)call.rank, number + 1) < 0 ||
		array_reserve(&m->calls, cap, m->n_calls + 1, sizeof(*m->calls)) < 0)
		return -ENOMEM;
	m->calls[m->n_calls++] = call;
	return 0;
}

/* Spans inherit the mark and the call inside which they begin. Parents come before their children,
 * because they begin earlier. */
static int calls_find(struct stack_metrics *m, struct numbering *n)
{
	const struct graph *g = m->graph;
	size_t cap = 0;
	int r = 0;

	for (uint32_t i = 0; i < g->spans->n; i++)
		n->region_of[i] = SPANS_NONE;
	for (uint32_t i = 0; i < g->spans->n && r == 0; i++) {
		uint32_t region = is_mark(m, i) ? i : n->region_of[i];
		bool chosen = !is_mark(m, i) && g->spans->layers[i] == m->layer;

		if (chosen && !n->inside[i])
			r = call_add(m, n, i, &cap);
		for (uint32_t e = g->first[i]; e < g->first[i + 1]; e++) {
			n->region_of[g->edges[e].child] = region;
			n->inside[g->edges[e].child] |= chosen || n->inside[i];
		}
	}
	return r;
}

/* Spans that belong to no call: other work of the program. */
static void outside_count(struct stack_metrics *m, const struct numbering *n)
{
	const struct spans *s = m->graph->spans;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->layers[i] < STACK_LAYERS_MAX && s->layers[i] > m->layer && !n->inside[i] &&
			!is_mark(m, i))
			m->outside[s->layers[i]]++;
	}
}

/* The uppermost layer that was called. */
static unsigned layer_top(const struct stack_metrics *m)
{
	unsigned i = 0;

	while (i + 1 < layers_n && !m->layers[i].calls)
		i++;
	return i;
}

/* Ranks as numbered in the job; processes without a rank (mpirun) come after them. */
static void ranks_count(struct stack_metrics *m)
{
	const struct spans *s = m->graph->spans;

	for (size_t i = 0; i < s->n; i++) {
		if (s->items[i].rank >= 0 && s->items[i].rank < INT32_MAX / 2)
			m->n_ranks = (uint32_t)later(m->n_ranks, (int64_t)s->items[i].rank + 1);
	}
}

static struct stack_region *region_find(struct stack_metrics *m, const char *name, size_t *cap)
{
	for (size_t i = 0; i < m->n_regions; i++) {
		if (!strcmp(m->regions[i].name, name))
			return &m->regions[i];
	}
	if (array_reserve(&m->regions, cap, m->n_regions + 1, sizeof(*m->regions)) < 0)
		return NULL;
	m->regions[m->n_regions] = (struct stack_region){.name = name};
	return &m->regions[m->n_regions++];
}

static int regions_sum(struct stack_metrics *m)
{
	size_t cap = 0;

	for (uint32_t i = 0; i < m->graph->spans->n; i++) {
		struct stack_region *r;

		if (!is_mark(m, i))
			continue;
		r = region_find(m, span_of(m, i)->function, &cap);
		if (!r)
			return -ENOMEM;
		r->times++;
		stack_add(&r->ns, span_of(m, i)->end_ns - span_of(m, i)->start_ns);
	}
	for (size_t i = 0; i < m->n_calls; i++) {
		const struct span *s = span_of(m, m->calls[i].span);
		struct stack_region *r;

		if (m->calls[i].region == SPANS_NONE)
			continue;
		r = region_find(m, span_of(m, m->calls[i].region)->function, &cap);
		r->calls++;
		stack_add(&r->calls_ns, s->end_ns - s->start_ns);
		stack_add(&r->bytes, s->result > 0 ? s->result : 0);
	}
	return 0;
}

static int compute(struct stack_metrics *m, struct numbering *n)
{
	size_t spans = m->graph->spans->n;
	int r;

	m->exclusive_ns = calloc(spans + 1, sizeof(*m->exclusive_ns));
	n->region_of = calloc(spans + 1, sizeof(*n->region_of));
	n->inside = calloc(spans + 1, sizeof(*n->inside));
	if (!m->exclusive_ns || !n->region_of || !n->inside)
		return -ENOMEM;
	layers_sum(m);
	if (m->layer >= layers_n)
		m->layer = layer_top(m);
	ranks_count(m);
	r = calls_find(m, n);
	outside_count(m, n);
	m->n_processes = m->n_ranks + (uint32_t)n->ranks.n;
	if (r == 0)
		r = stack_servers_find(m);
	if (r == 0)
		r = stack_calls_split(m);
	if (r == 0)
		r = stack_collectives_find(m);
	if (r < 0)
		return r;
	stack_servers_sum(m);
	r = stack_clients_sum(m);
	return r < 0 ? r : regions_sum(m);
}

int stack_metrics_compute(const struct graph *g, int layer, const struct drive *drive,
	struct stack_metrics *ret, struct lp_err *err)
{
	struct numbering n = {0};
	int r;

	ret->graph = g;
	ret->drive = drive;
	ret->layer = layer < 0 ? layers_n : (unsigned)layer;
	r = compute(ret, &n);
	idmap_release(&n.ranks);
	idmap_release(&n.numbers);
	free(n.region_of);
	free(n.inside);
	return r < 0 ? lp_err_sys(err, r, "cannot compute the times of calls") : 0;
}

const struct stack_call *stack_metrics_call(
	const struct stack_metrics *m, int32_t rank, uint32_t number)
{
	for (size_t i = 0; i < m->n_calls; i++) {
		if (m->calls[i].rank == rank && m->calls[i].number == number)
			return &m->calls[i];
	}
	return NULL;
}

double stack_layer_throughput(const struct stack_layer_sum *l)
{
	return stack_rate(l->bytes, l->busy_ns);
}
