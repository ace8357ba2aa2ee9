/* server -> storage, of OrangeFS: a server keeps its part of a file in a file that is named like
 * the handle in requests. It reads and writes that one by whole blocks, so a call may be a little
 * longer than the request, and a write may read its first and its last block. Where two requests
 * fit, none is taken.
 */
#include "trace/stack/graph.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/layer.h"
#include <errno.h>

#define BLOCK INT64_C(4096)

static uint64_t file_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], s->items[i].key, 6);
}

/* Does a call lie in the blocks of a request? */
static bool is_inside(const struct span *request, const struct span *call)
{
	int64_t from, to;

	if (request->offset < 0 || request->offset > INT64_MAX / 4 || request->size < 0 ||
		request->size > INT64_MAX / 4 || call->offset < 0 || call->size < 0)
		return false;
	from = request->offset / BLOCK * BLOCK;
	to = (request->offset + request->size + BLOCK - 1) / BLOCK * BLOCK;
	return call->offset >= from && call->offset <= to && call->size <= to - call->offset;
}

/* Does a call read a block that the request writes a part of? */
static bool is_edge(const struct span *request, const struct span *call)
{
	int64_t end = request->offset + request->size;

	if (call->op != SPAN_READ || request->op != SPAN_WRITE || call->size > BLOCK)
		return false;
	return (request->offset % BLOCK && call->offset / BLOCK == request->offset / BLOCK) ||
		(end % BLOCK && call->offset / BLOCK == end / BLOCK);
}

/* Does the request ask for what the call does, and was it answered only after it? */
static bool asks_for(const struct span *request, const struct span *call)
{
	if (request->end_ns < call->end_ns && !(request->flags & SPAN_OPEN_END))
		return false;
	if (!join_is_data(call))
		return request->op == call->op;
	return is_inside(request, call) && (request->op == call->op || is_edge(request, call));
}

/* The only request that a call can be for; SPANS_NONE: there is none, or more than one. */
static uint32_t request_of(const struct spans *s, const struct join_index *requests, uint32_t call)
{
	uint64_t key = file_key(s, call);
	int64_t ns = s->items[call].start_ns;
	uint32_t found = SPANS_NONE;
	const struct join_entry *e;

	for (size_t at = join_index_last(requests, key, ns);
		join_index_next(requests, key, ns, &at, &e);) {
		if (!asks_for(&s->items[e->span], &s->items[call]))
			continue;
		if (found != SPANS_NONE)
			return SPANS_NONE;
		found = e->span;
	}
	return found;
}

int join_bstream(struct graph *g)
{
	const struct spans *s = g->spans;
	struct join_index requests = {0};
	int r = graph_has(g, STACK_SERVER) && graph_has(g, STACK_STORAGE) ? 0 : 1;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		if (s->layers[i] == STACK_SERVER && s->items[i].key &&
			s->items[i].flags & SPAN_STRIPED)
			r = join_index_add(&requests, s, file_key(s, i), i, 0);
	}
	join_index_sort(&requests);
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		uint32_t request;

		if (s->layers[i] != STACK_STORAGE || !(s->items[i].flags & SPAN_STRIPED))
			continue;
		request = request_of(s, &requests, i);
		if (request != SPANS_NONE)
			r = graph_add(g, request, i, graph_bytes(g, i));
		else
			graph_leave(g, i, graph_bytes(g, i));
	}
	join_index_release(&requests);
	return r < 0 ? r : 0;
}
