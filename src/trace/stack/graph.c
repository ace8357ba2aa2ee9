#include "trace/stack/graph.h"

#include "base/array.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <stdlib.h>

int graph_open(struct graph *g, const struct spans *spans)
{
	*g = (struct graph){.spans = spans};
	g->first = calloc(spans->n + 1, sizeof(*g->first));
	g->n_parents = calloc(spans->n + 1, sizeof(*g->n_parents));
	g->unjoined = calloc(layers_n, sizeof(*g->unjoined));
	return g->first && g->n_parents && g->unjoined ? 0 : -ENOMEM;
}

void graph_release(struct graph *g)
{
	free(g->edges);
	free(g->first);
	free(g->n_parents);
	free(g->unjoined);
	*g = (struct graph){0};
}

int graph_add(struct graph *g, uint32_t parent, uint32_t child, int64_t bytes)
{
	if (array_reserve(&g->edges, &g->cap, g->n + 1, sizeof(*g->edges)) < 0)
		return -ENOMEM;
	g->edges[g->n++] = (struct graph_edge){parent, child, bytes};
	return 0;
}

void graph_leave(struct graph *g, uint32_t span, int64_t bytes)
{
	uint8_t layer = g->spans->layers[span];

	if (layer == LAYERS_UNKNOWN)
		return;
	g->unjoined[layer].spans++;
	g->unjoined[layer].bytes += (uint64_t)bytes;
}

int64_t graph_bytes(const struct graph *g, uint32_t span)
{
	int64_t result = g->spans->items[span].result;

	return result > 0 ? result : 0;
}

bool graph_has(const struct graph *g, unsigned layer)
{
	for (size_t i = 0; i < g->spans->n; i++) {
		if (g->spans->layers[i] == layer)
			return true;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	const struct graph_edge *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return x->child < y->child ? -1 : x->child > y->child;
}

int graph_close(struct graph *g)
{
	size_t at = 0;

	if (g->n > UINT32_MAX)
		return -E2BIG;
	if (g->n)
		qsort(g->edges, g->n, sizeof(*g->edges), compare);
	for (size_t i = 0; i < g->n; i++)
		g->n_parents[g->edges[i].child]++;
	for (size_t i = 0; i <= g->spans->n; i++) {
		while (at < g->n && g->edges[at].parent < i)
			at++;
		g->first[i] = (uint32_t)at;
	}
	return 0;
}

bool graph_hands_on(const struct graph *g, uint32_t span)
{
	const struct spans *s = g->spans;
	const struct span *parent = &s->items[span];

	for (uint32_t e = g->first[span]; e < g->first[span + 1]; e++) {
		uint32_t i = g->edges[e].child;

		if (s->observers[i] != s->observers[span] || s->items[i].pid != parent->pid ||
			s->items[i].tid != parent->tid)
			return true;
	}
	return false;
}

int graph_join(struct graph *g, struct lp_err *err)
{
	static int (*const joins[])(struct graph * g) = {join_thread, join_fuse, join_client,
		join_rpc, join_bmi, join_message, join_storage, join_bstream, join_block};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(joins) && r == 0; i++)
		r = joins[i](g);
	if (r == 0)
		r = graph_close(g);
	return r < 0 ? lp_err_sys(err, r, "cannot join the spans") : 0;
}
