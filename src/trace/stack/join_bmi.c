/* client -> network, of OrangeFS: its requests do not name the thread that asked. But its daemon
 * sends them in the thread that has read the kernel's request, before it answers that one, so the
 * thread and the time say which one it is. Reads and writes must also be about the same range: the
 * first byte for this server lies in the kernel's range, and there is room for the others behind
 * it.
 */
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"
#include <errno.h>

static uint64_t number_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], s->items[i].device, s->items[i].unique);
}

static uint64_t thread_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], (uint64_t)s->items[i].tid, 5);
}

/* The daemon's requests by its threads, each with the kernel's request, which has the range. If
 * that was not recorded, each is with itself. */
static int fill(const struct spans *s, struct join_index *ret)
{
	struct idmap fuse = {0};
	uint32_t at;
	int r = 0;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] == STACK_FUSE)
			r = idmap_put(&fuse, number_key(s, i), i);
	}
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] != STACK_CLIENT)
			continue;
		if (!idmap_get(&fuse, number_key(s, i), &at))
			at = i;
		r = join_index_add(ret, s, thread_key(s, i), i, at);
	}
	join_index_sort(ret);
	idmap_release(&fuse);
	return r;
}

/* Can a message be for this request of the kernel? */
static bool is_for(const struct span *fuse, const struct span *q)
{
	if (!join_is_data(q))
		return true;
	if (fuse->op != q->op)
		return false;
	if (fuse->offset < 0 || q->offset < 0)
		return true;
	return q->offset >= fuse->offset && q->size <= fuse->size &&
		q->offset - fuse->offset <= fuse->size - q->size;
}

/* The request that the thread works on; SPANS_NONE: there is none, or more than one. */
static uint32_t request_of(
	const struct spans *s, const struct join_index *requests, uint32_t message)
{
	uint64_t key = thread_key(s, message);
	int64_t ns = s->items[message].start_ns;
	const struct join_entry *e;
	uint32_t found = SPANS_NONE;

	for (size_t at = join_index_last(requests, key, ns);
		join_index_next(requests, key, ns, &at, &e);) {
		if (s->items[e->span].pid != s->items[message].pid)
			continue;
		/* A thread is expected to work on one request at a time. */
		if (found != SPANS_NONE || !is_for(&s->items[e->other], &s->items[message]))
			return SPANS_NONE;
		found = e->span;
	}
	return found;
}

int join_bmi(struct graph *g)
{
	const struct spans *s = g->spans;
	struct join_index requests = {0};
	int r = graph_has(g, STACK_CLIENT) && graph_has(g, STACK_NETWORK) ? fill(s, &requests) : 1;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		int64_t bytes = join_is_data(&s->items[i]) ? graph_bytes(g, i) : 0;
		uint32_t request;

		if (s->layers[i] != STACK_NETWORK || !(s->items[i].flags & SPAN_STRIPED))
			continue;
		request = request_of(s, &requests, i);
		if (request != SPANS_NONE)
			r = graph_add(g, request, i, bytes);
		else
			graph_leave(g, i, bytes);
	}
	join_index_release(&requests);
	return r < 0 ? r : 0;
}
