/* Which spans caused which others. It is a graph, not a tree: one call may cause many in the layer
 * below, and a layer that collects calls makes one of many. Joins (join_NAME.c) add edges. A span
 * for which no join finds a parent is a call of its own.
 */
#ifndef TRACE_STACK_GRAPH_H
#define TRACE_STACK_GRAPH_H

#include "trace/stack/spans.h"

#include <stdbool.h>

/* `parent`, or a part of it, caused `child`. */
struct graph_edge {
	uint32_t parent, child;
	int64_t bytes; /* that they have in common; 0: they transfer no data */
};

/* Spans of a layer that could not be joined. */
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
	uint64_t unseen;		 /* requests to servers that no server's recording has */
};

/* Zero-initialise it. `spans` are sorted and outlive it. 0 or -ENOMEM. */
int graph_open(struct graph *g, const struct spans *spans);
void graph_release(struct graph *g);

/* 0 or -ENOMEM. */
int graph_add(struct graph *g, uint32_t parent, uint32_t child, int64_t bytes);

/* Count a span, or this many bytes of one, that could not be joined. */
void graph_leave(struct graph *g, uint32_t span, int64_t bytes);

/* The bytes that a span transferred; 0 if it failed, or transfers no data. */
int64_t graph_bytes(const struct graph *g, uint32_t span);

/* Is there a span of this layer? */
bool graph_has(const struct graph *g, unsigned layer);

/* All edges have been added. */
int graph_close(struct graph *g);

/* Does a span hand its work on to another thread, process or host? (After graph_close().) */
bool graph_hands_on(const struct graph *g, uint32_t span);

/* Join all layers that were recorded, and close it. */
int graph_join(struct graph *g, struct lp_err *err);

/* The joins. Each looks at the spans of two layers that lie above each other, adds edges, and
 * counts what it cannot decide. 0 or -ENOMEM. */

/* Calls inside calls of the same thread, as the program recorded them. */
int join_thread(struct graph *g);

/* posix -> fuse: thread, time, device and range; of page cache, file and range, the latest writes
 * before it. */
int join_fuse(struct graph *g);

/* fuse -> client: the number of the request. */
int join_client(struct graph *g);

/* client, or fuse -> network: the thread that both name, time, and the range, which may be that of
 * a piece (shard) of the file. */
int join_rpc(struct graph *g);

/* The same for OrangeFS: the thread that both are in, time and range. */
int join_bmi(struct graph *g);

/* network -> server: the connection, and the place in its stream. */
int join_message(struct graph *g);

/* server -> storage: file, operation, range and time. */
int join_storage(struct graph *g);

/* The same for OrangeFS, whose servers read and write whole blocks. */
int join_bstream(struct graph *g);

/* storage, or posix -> block: thread and time; of page cache, file and range, the latest writes
 * before it. */
int join_block(struct graph *g);

#endif
