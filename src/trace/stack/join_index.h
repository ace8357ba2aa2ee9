/* Finds the spans that were in progress at a time, which most joins need. Spans are grouped by a
 * key (a thread, a file), and each group is sorted by begin. */
#ifndef TRACE_JOIN_INDEX_H
#define TRACE_JOIN_INDEX_H

#include "trace/stack/spans.h"

struct join_entry {
	uint64_t key;
	int64_t start_ns, end_ns;
	int64_t last_end_ns; /* the latest end of this and the ones before it in its group */
	uint32_t span;	     /* place in spans->items */
	uint32_t other;	     /* the join's own data */
};

/* Zero-initialise it. */
struct join_index {
	struct join_entry *items;
	size_t n, cap;
};

void join_index_release(struct join_index *x);

/* 0 or -ENOMEM. */
int join_index_add(
	struct join_index *x, const struct spans *s, uint64_t key, uint32_t span, uint32_t other);

/* Call this when all have been added. */
void join_index_sort(struct join_index *x);

/* Walk through those of the key that were under way at `ns`, the one that began last first:
 *
 *     for (size_t at = join_index_last(x, key, ns); join_index_next(x, key, ns, &at, &entry);)
 */
size_t join_index_last(const struct join_index *x, uint64_t key, int64_t ns);
bool join_index_next(const struct join_index *x, uint64_t key, int64_t ns, size_t *at,
	const struct join_entry **ret);

/* The same for those that began before `ns`, whether they have ended or not. */
bool join_index_before(
	const struct join_index *x, uint64_t key, size_t *at, const struct join_entry **ret);

/* A key made of an observer and two numbers. */
uint64_t join_key(uint32_t observer, uint64_t a, uint64_t b);

#endif
