/* storage, or posix -> block. Disk requests that a call makes itself (direct I/O, reads that miss
 * the page cache, tables of the file system) come from its thread, during the call. Page cache that
 * is written back, by any thread, belongs to the latest writes of its file and range. */
#include "trace/stack/graph.h"
#include "trace/stack/join_calls.h"
#include "trace/stack/join_pages.h"
#include "trace/stack/layer.h"
#include <errno.h>

/* The innermost call that the thread is in, if it is for a file of this disk; else SPANS_NONE. */
static uint32_t call_of(const struct spans *s, const struct join_calls *calls, uint32_t bio)
{
	const struct span *b = &s->items[bio];
	uint32_t call = join_call_of(calls, s->observers[bio], b->tid, b->start_ns);

	return call != SPANS_NONE && s->items[call].device == b->device ? call : SPANS_NONE;
}

static int join_one(struct graph *g, const struct join_calls *calls, uint32_t bio)
{
	const struct spans *s = g->spans;
	const struct span *b = &s->items[bio];
	uint32_t call = call_of(s, calls, bio);
	bool mapped = b->flags & SPAN_MAPPED;

	if (mapped && b->op == SPAN_WRITE) {
		/* An fsync() waits for the request, even if the data is that of other calls. */
		if (call != SPANS_NONE && s->items[call].inode == b->inode &&
			s->items[call].op == SPAN_SYNC && graph_add(g, call, bio, 0) < 0)
			return -ENOMEM;
		return join_pages(g, &calls->writes,
			join_file_key(s->observers[bio], b->device, b->inode), bio, (int64_t)b->key,
			graph_bytes(g, bio));
	}
	if (call != SPANS_NONE && (!mapped || s->items[call].inode == b->inode))
		return graph_add(g, call, bio, graph_bytes(g, bio));
	graph_leave(g, bio, graph_bytes(g, bio));
	return 0;
}

int join_block(struct graph *g)
{
	const uint32_t above = 1u << STACK_STORAGE | 1u << STACK_POSIX;
	struct join_calls calls = {0};
	int r = 1;

	if (graph_has(g, STACK_BLOCK) && (graph_has(g, STACK_STORAGE) || graph_has(g, STACK_POSIX)))
		r = join_calls_fill(&calls, g->spans, above);
	for (uint32_t i = 0; i < g->spans->n && r == 0; i++) {
		if (g->spans->layers[i] == STACK_BLOCK)
			r = join_one(g, &calls, i);
	}
	join_calls_release(&calls);
	return r < 0 ? r : 0;
}
