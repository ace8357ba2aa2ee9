/* Finds the calls whose data is written from the page cache later: the latest writes before that,
 * byte by byte. */
#ifndef TRACE_JOIN_PAGES_H
#define TRACE_JOIN_PAGES_H

#include "trace/stack/graph.h"
#include "trace/stack/join_index.h"

/* Add edges from writes in `writes` (by `key`, that of their file) to `child`, which moved `size`
 * bytes of the file from `offset` on. A page belongs as a whole to the calls that wrote to it.
 * Bytes without a writer are counted as not joined. Returns 0 or -ENOMEM. */
int join_pages(struct graph *g, const struct join_index *writes, uint64_t key, uint32_t child,
	int64_t offset, int64_t size);

#endif
