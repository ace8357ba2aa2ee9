/* fuse -> client: the kernel numbers the requests of a FUSE file system, and the daemon reads and
 * answers them by these numbers.
 */
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"
#include "trace/stack/layer.h"
#include <errno.h>

static uint64_t request_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], s->items[i].device, s->items[i].unique);
}

/* The daemon has a request only after the kernel has queued it. */
static bool is_same(const struct span *fuse, const struct span *client)
{
	return fuse->unique == client->unique && fuse->device == client->device &&
		client->start_ns >= fuse->start_ns && client->start_ns <= fuse->end_ns;
}

int join_client(struct graph *g)
{
	const struct spans *s = g->spans;
	struct idmap by_number = {0};
	uint32_t at;
	int r = 0;

	if (!graph_has(g, STACK_FUSE) || !graph_has(g, STACK_CLIENT))
		return 0;
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] == STACK_FUSE && s->items[i].unique)
			r = idmap_put(&by_number, request_key(s, i), i);
	}
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] != STACK_CLIENT)
			continue;
		if (idmap_get(&by_number, request_key(s, i), &at) &&
			is_same(&s->items[at], &s->items[i]))
			r = graph_add(g, at, i, graph_bytes(g, at));
		else
			graph_leave(g, i, 0);
	}
	idmap_release(&by_number);
	return r;
}
