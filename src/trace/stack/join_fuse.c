/* posix -> fuse. A request that a call waits for comes from the call's own thread, during the call.
 * That of an asynchronous call may come later, from another thread (join_later.c). Pages that are
 * written back later may come from any thread: they belong to the latest writes of their file and
 * range. */
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/join_pages.h"
#include "trace/stack/layer.h"
#include <errno.h>

struct joining {
	struct graph *g;
	struct join_calls calls;
	struct idmap nodes; /* device and node -> a call for that file */
};

static uint64_t node_key(const struct spans *s, uint32_t request)
{
	return join_key(s->observers[request], s->items[request].device, s->items[request].key);
}

/* Does the call cover the range of the request? Calls with an unknown offset are assumed to. */
static bool covers(const struct span *call, const struct span *request)
{
	if (call->op != request->op || (call->device && call->device != request->device))
		return false;
	if (request->inode && call->inode && request->inode != call->inode)
		return false;
	if (call->offset == SPAN_NO_OFFSET || request->offset == SPAN_NO_OFFSET)
		return true;
	return request->offset >= call->offset && call->size >= request->size &&
		request->offset - call->offset <= call->size - request->size;
}

/* A node is one file: does what was joined before agree? */
static bool node_agrees(struct joining *j, uint32_t request, uint32_t call)
{
	const struct spans *s = j->g->spans;
	uint64_t key =
		join_key(s->observers[request], s->items[request].device, s->items[request].key);
	uint32_t at;

	if (!s->items[request].key || !s->items[call].inode)
		return true;
	if (idmap_get(&j->nodes, key, &at))
		return s->items[at].inode == s->items[call].inode;
	return idmap_put(&j->nodes, key, call) == 0;
}

/* The inode of a request's file: its own, or that of calls for the same node. */
static uint64_t inode_of(const struct joining *j, uint32_t request)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[request];
	uint32_t at;

	if (q->inode)
		return q->inode;
	if (q->key && idmap_get(&j->nodes, node_key(s, request), &at))
		return s->items[at].inode;
	return 0;
}

static int join_data(struct joining *j, uint32_t request, uint32_t call)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[request];
	uint32_t later;
	uint64_t inode;

	if (call != SPANS_NONE && covers(&s->items[call], q) && node_agrees(j, request, call))
		return graph_add(j->g, call, request, graph_bytes(j->g, request));
	later = join_later_of(&j->calls, s, request);
	if (later != SPANS_NONE && node_agrees(j, request, later))
		return graph_add(j->g, later, request, graph_bytes(j->g, request));
	inode = inode_of(j, request);
	/* Read-ahead is done for the current call, beyond the range of that call. */
	if (q->op == SPAN_READ && call != SPANS_NONE && inode && s->items[call].op == SPAN_READ &&
		s->items[call].inode == inode)
		return graph_add(j->g, call, request, graph_bytes(j->g, request));
	if (q->op != SPAN_WRITE || !inode || !(q->flags & SPAN_BUFFERED)) {
		graph_leave(j->g, request, graph_bytes(j->g, request));
		return 0;
	}
	/* The call waits for the request, even if the data is that of other calls. */
	if (call != SPANS_NONE && s->items[call].inode == inode &&
		graph_add(j->g, call, request, 0) < 0)
		return -ENOMEM;
	return join_pages(j->g, &j->calls.writes,
		join_file_key(s->observers[request], q->device, inode), request, q->offset,
		graph_bytes(j->g, request));
}

static int join_request(struct joining *j, uint32_t request)
{
	const struct span *q = &j->g->spans->items[request];
	uint32_t call = join_call_of(&j->calls, j->g->spans->observers[request],
		q->asker ? q->asker : q->tid, q->start_ns);

	if (join_is_data(q))
		return join_data(j, request, call);
	if (call != SPANS_NONE)
		return graph_add(j->g, call, request, 0);
	graph_leave(j->g, request, 0);
	return 0;
}

int join_fuse(struct graph *g)
{
	struct joining j = {.g = g};
	int r = graph_has(g, STACK_POSIX) && graph_has(g, STACK_FUSE)
		? join_calls_fill(&j.calls, g->spans, 1u << STACK_POSIX)
		: 1;

	for (uint32_t i = 0; i < g->spans->n && r == 0; i++) {
		if (g->spans->layers[i] == STACK_FUSE)
			r = join_request(&j, i);
	}
	join_calls_release(&j.calls);
	idmap_release(&j.nodes);
	return r < 0 ? r : 0;
}
