/* Calls inside calls of the same thread: the program numbered its calls, and noted inside which of
 * them each began.
 */
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include <errno.h>

/* Numbers are unique in a process. With the observer they are unique in a recording, except for
 * accidents, which the checks below find. */
static uint64_t id_key(const struct spans *s, size_t i, uint64_t id)
{
	uint64_t process = (uint64_t)s->observers[i] << 32 | (uint32_t)s->items[i].pid;

	return id ^ process * UINT64_C(0x9e3779b97f4a7c15);
}

/* Can a span be inside another? */
static bool is_inside(const struct span *child, const struct span *parent)
{
	return child->pid == parent->pid && child->tid == parent->tid &&
		child->start_ns >= parent->start_ns && child->start_ns <= parent->end_ns &&
		(child->end_ns <= parent->end_ns || child->flags & (SPAN_OPEN_END | SPAN_LATER));
}

static int child_join(struct graph *g, const struct idmap *by_id, uint32_t i)
{
	const struct spans *s = g->spans;
	const struct span *child = &s->items[i];
	uint32_t parent;

	if (!child->parent)
		return 0;
	if (idmap_get(by_id, id_key(s, i, child->parent), &parent) && parent != i &&
		s->observers[parent] == s->observers[i] && s->items[parent].id == child->parent &&
		is_inside(child, &s->items[parent]))
		return graph_add(g, parent, i, graph_bytes(g, i));
	/* Its parent is missing, because it was not recorded. */
	graph_leave(g, i, graph_bytes(g, i));
	return 0;
}

int join_thread(struct graph *g)
{
	const struct spans *s = g->spans;
	struct idmap by_id = {0};
	int r = idmap_reserve(&by_id, s->n);

	for (size_t i = 0; i < s->n && r == 0; i++)
		r = idmap_put(&by_id, id_key(s, i, s->items[i].id), (uint32_t)i);
	for (size_t i = 0; i < s->n && r == 0; i++)
		r = child_join(g, &by_id, (uint32_t)i);
	idmap_release(&by_id);
	return r;
}
