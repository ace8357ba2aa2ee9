/* Which span became which: a graph, because one call becomes many below, and many calls become one
 * where a layer collects them. Joins (join_NAME.c) add edges; a span that no join finds a parent
 * for is a call of its own.
 */
#ifndef TRACE_STACK_GRAPH_H
#define TRACE_STACK_GRAPH_H

#include "trace/stack/spans.h"

#include <stdbool.h>

/* `child` is what became of (a part of) `parent`. */
struct graph_edge {
	uint32_t parent, child;
	int64_t bytes; /* that they have in common, 0 where it is not about bytes */
};

/* What could not be joined, of a layer. */
struct graph_unjoined {
	uint64_t spans, bytes;
};

struct graph {
	const struct spans *spans;
	struct graph_edge *edges; /* after graph_close() by parent, then child */
	size_t n, cap;
	uint32_t *first;		 /* [span] its first edge; [n spans] behind the last one */
	uint32_t *n_parents;		 /* [span] */
	struct graph_unjoined *unjoined; /* [layer] */
};

/* Zero-initialise it. `spans` are sorted and outlive it. 0 or -ENOMEM. */
int graph_open(struct graph *g, const struct spans *spans);
void graph_release(struct graph *g);

/* 0 or -ENOMEM. */
int graph_add(struct graph *g, uint32_t parent, uint32_t child, int64_t bytes);

/* All edges are there. */
int graph_close(struct graph *g);

/* Does a span hand its work on to another thread, process or host? (After graph_close().) */
bool graph_hands_on(const struct graph *g, uint32_t span);

/* Join all layers that were recorded, and close it. */
int graph_join(struct graph *g, struct lp_err *err);

/* The joins. Each looks at the spans of two layers that lie above each other, adds edges, and
 * counts what it cannot decide. 0 or -ENOMEM. */

/* Calls inside calls of the same thread, as the program itself said. */
int join_thread(struct graph *g);

#endif
