/* posix -> fuse. A request that a call waits for is made by the call's own thread while it is in
 * the call. Pages that are written back later may be sent by anybody: they belong to the latest
 * writes of their file and range.
 */
#include "base/idmap.h"
#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"
#include "trace/stack/join_pages.h"
#include "trace/stack/layer.h"
#include <errno.h>

struct joining {
	struct graph *g;
	struct join_index calls;  /* by thread */
	struct join_index writes; /* by file */
	struct idmap nodes; /* device and node -> place in calls' spans of a call for that file */
};

static uint64_t thread_key(const struct spans *s, uint32_t i, int32_t tid)
{
	return join_key(s->observers[i], (uint64_t)tid, 1);
}

static uint64_t file_key(const struct spans *s, uint32_t i, uint64_t inode)
{
	return join_key(s->observers[i], s->items[i].device, inode);
}

static int fill(struct joining *j)
{
	const struct spans *s = j->g->spans;
	int r = 0;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		const struct span *c = &s->items[i];

		if (s->layers[i] != STACK_POSIX || c->op == SPAN_MARK)
			continue;
		r = join_index_add(&j->calls, s, thread_key(s, i, c->tid), i, 0);
		if (r == 0 && c->op == SPAN_WRITE && c->inode)
			r = join_index_add(&j->writes, s, file_key(s, i, c->inode), i, 0);
	}
	join_index_sort(&j->calls);
	join_index_sort(&j->writes);
	return r;
}

static bool is_data(const struct span *s)
{
	return s->op == SPAN_READ || s->op == SPAN_WRITE;
}

/* Does a call ask for what the request moves? Calls whose offset is not known are believed. */
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

/* The innermost call that the request's thread is in; SPANS_NONE: it is in none. */
static uint32_t call_of(const struct joining *j, uint32_t request)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[request];
	uint64_t key = thread_key(s, request, q->asker ? q->asker : q->tid);
	size_t at = join_index_last(&j->calls, key, q->start_ns);
	const struct join_entry *e;

	return join_index_next(&j->calls, key, q->start_ns, &at, &e) ? e->span : SPANS_NONE;
}

/* The inode of a request's file: its own, or that of calls for the same node. */
static uint64_t inode_of(const struct joining *j, uint32_t request)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[request];
	uint32_t at;

	if (q->inode)
		return q->inode;
	if (q->key && idmap_get(&j->nodes, join_key(s->observers[request], q->device, q->key), &at))
		return s->items[at].inode;
	return 0;
}

static int join_data(struct joining *j, uint32_t request, uint32_t call)
{
	const struct spans *s = j->g->spans;
	const struct span *q = &s->items[request];
	uint64_t inode;

	if (call != SPANS_NONE && covers(&s->items[call], q) && node_agrees(j, request, call))
		return graph_add(j->g, call, request, graph_bytes(j->g, request));
	inode = inode_of(j, request);
	/* Reading ahead is done for the call that is under way, beyond what it asked for. */
	if (q->op == SPAN_READ && call != SPANS_NONE && inode && s->items[call].op == SPAN_READ &&
		s->items[call].inode == inode)
		return graph_add(j->g, call, request, graph_bytes(j->g, request));
	if (q->op != SPAN_WRITE || !inode || !(q->flags & SPAN_BUFFERED)) {
		graph_leave(j->g, request, graph_bytes(j->g, request));
		return 0;
	}
	/* Whoever waits for it is held up by it, whosever data it is. */
	if (call != SPANS_NONE && s->items[call].inode == inode &&
		graph_add(j->g, call, request, 0) < 0)
		return -ENOMEM;
	return join_pages(j->g, &j->writes, file_key(s, request, inode), request, q->offset,
		graph_bytes(j->g, request));
}

static int join_request(struct joining *j, uint32_t request)
{
	const struct span *q = &j->g->spans->items[request];
	uint32_t call = call_of(j, request);

	if (is_data(q))
		return join_data(j, request, call);
	if (call != SPANS_NONE)
		return graph_add(j->g, call, request, 0);
	graph_leave(j->g, request, 0);
	return 0;
}

int join_fuse(struct graph *g)
{
	struct joining j = {.g = g};
	int r = graph_has(g, STACK_POSIX) && graph_has(g, STACK_FUSE) ? fill(&j) : 1;

	for (uint32_t i = 0; i < g->spans->n && r == 0; i++) {
		if (g->spans->layers[i] == STACK_FUSE)
			r = join_request(&j, i);
	}
	join_index_release(&j.calls);
	join_index_release(&j.writes);
	idmap_release(&j.nodes);
	return r < 0 ? r : 0;
}
