#include "trace/stack/join_message.h"

#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <stdlib.h>

/* Two requests with the same key: neither is joined. */
#define TWICE (UINT32_MAX - 1)

static uint64_t message_key(const struct span *s)
{
	return join_key(s->position, s->connection, s->unique);
}

static bool is_same(const struct span *a, const struct span *b)
{
	return a->connection == b->connection && a->position == b->position &&
		a->unique == b->unique && a->length == b->length;
}

/* Requests of a layer by their keys. */
static int fill(const struct spans *s, unsigned layer, struct idmap *ret)
{
	uint32_t at;
	int r = 0;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] != layer || !s->items[i].connection)
			continue;
		r = idmap_put(ret, message_key(&s->items[i]),
			idmap_get(ret, message_key(&s->items[i]), &at) ? TWICE : i);
	}
	return r;
}

/* The other end of a message; SPANS_NONE: it was not seen, or is ambiguous. */
static uint32_t other_end(
	const struct spans *s, const struct idmap *own, const struct idmap *others, uint32_t i)
{
	uint64_t key = message_key(&s->items[i]);
	uint32_t at;

	if (!s->items[i].connection || !idmap_get(own, key, &at) || at != i ||
		!idmap_get(others, key, &at) || at == TWICE)
		return SPANS_NONE;
	return is_same(&s->items[i], &s->items[at]) ? at : SPANS_NONE;
}

int join_message_each(
	const struct spans *s, int (*fn)(void *ctx, uint32_t client, uint32_t server), void *ctx)
{
	struct idmap clients = {0}, servers = {0};
	int r = fill(s, STACK_NETWORK, &clients);

	if (r == 0)
		r = fill(s, STACK_SERVER, &servers);
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		uint32_t other;

		if (s->layers[i] == STACK_NETWORK) {
			r = fn(ctx, i, other_end(s, &clients, &servers, i));
		} else if (s->layers[i] == STACK_SERVER) {
			other = other_end(s, &servers, &clients, i);
			if (other == SPANS_NONE)
				r = fn(ctx, SPANS_NONE, i);
		}
	}
	idmap_release(&clients);
	idmap_release(&servers);
	return r;
}

static int join_one(void *ctx, uint32_t client, uint32_t server)
{
	struct graph *g = ctx;
	const struct span *q;

	if (server == SPANS_NONE) {
		g->unseen++;
		return 0;
	}
	q = &g->spans->items[server];
	if (client != SPANS_NONE)
		return graph_add(g, client, server, join_is_data(q) ? graph_bytes(g, server) : 0);
	graph_leave(g, server, join_is_data(q) ? graph_bytes(g, server) : 0);
	return 0;
}

int join_message(struct graph *g)
{
	if (!graph_has(g, STACK_NETWORK) || !graph_has(g, STACK_SERVER))
		return 0;
	return join_message_each(g->spans, join_one, g);
}
