/* storage, or posix -> block. What a call asks a disk for itself (direct I/O, reads that miss the
 * page cache, tables of the file system) is asked by its thread, while it is in the call. Page
 * cache that is written back, by whomever, belongs to the latest writes of its file and range.
 */
#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"
#include "trace/stack/join_pages.h"
#include "trace/stack/layer.h"
#include <errno.h>

struct joining {
	struct graph *g;
	struct join_index calls;  /* by thread */
	struct join_index writes; /* by file */
};

static uint64_t thread_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], (uint64_t)s->items[i].tid, 5);
}

static uint64_t file_key(const struct spans *s, uint32_t i)
{
	return join_key(s->observers[i], s->items[i].device, s->items[i].inode);
}

static int fill(struct joining *j)
{
	const struct spans *s = j->g->spans;
	int r = 0;

	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		const struct span *c = &s->items[i];

		if ((s->layers[i] != STACK_POSIX && s->layers[i] != STACK_STORAGE) ||
			c->op == SPAN_MARK)
			continue;
		r = join_index_add(&j->calls, s, thread_key(s, i), i, 0);
		if (r == 0 && c->op == SPAN_WRITE && c->inode)
			r = join_index_add(&j->writes, s, file_key(s, i), i, 0);
	}
	join_index_sort(&j->calls);
	join_index_sort(&j->writes);
	return r;
}

/* The innermost call for a file of this disk that the thread is in; SPANS_NONE: it is in none. */
static uint32_t call_of(const struct joining *j, uint32_t bio)
{
	const struct spans *s = j->g->spans;
	uint64_t key = thread_key(s, bio);
	int64_t ns = s->items[bio].start_ns;
	size_t at = join_index_last(&j->calls, key, ns);
	const struct join_entry *e;

	if (!join_index_next(&j->calls, key, ns, &at, &e))
		return SPANS_NONE;
	return s->items[e->span].device == s->items[bio].device ? e->span : SPANS_NONE;
}

static int join_one(struct joining *j, uint32_t bio)
{
	const struct spans *s = j->g->spans;
	const struct span *b = &s->items[bio];
	uint32_t call = call_of(j, bio);
	bool mapped = b->flags & SPAN_MAPPED;

	if (mapped && b->op == SPAN_WRITE) {
		/* Whoever waits for it is held up by it, whosever data it is. */
		if (call != SPANS_NONE && s->items[call].inode == b->inode &&
			s->items[call].op == SPAN_SYNC && graph_add(j->g, call, bio, 0) < 0)
			return -ENOMEM;
		return join_pages(j->g, &j->writes, file_key(s, bio), bio, (int64_t)b->key,
			graph_bytes(j->g, bio));
	}
	if (call != SPANS_NONE && (!mapped || s->items[call].inode == b->inode))
		return graph_add(j->g, call, bio, graph_bytes(j->g, bio));
	graph_leave(j->g, bio, graph_bytes(j->g, bio));
	return 0;
}

int join_block(struct graph *g)
{
	struct joining j = {.g = g};
	int r = graph_has(g, STACK_BLOCK) &&
			(graph_has(g, STACK_STORAGE) || graph_has(g, STACK_POSIX))
		? fill(&j)
		: 1;

	for (uint32_t i = 0; i < g->spans->n && r == 0; i++) {
		if (g->spans->layers[i] == STACK_BLOCK)
			r = join_one(&j, i);
	}
	join_index_release(&j.calls);
	join_index_release(&j.writes);
	return r < 0 ? r : 0;
}
