/* Memory of one thread, reused from window to window: a few blocks that only grow. */
#ifndef DETECT_COMPARE_SCRATCH_H
#define DETECT_COMPARE_SCRATCH_H

#include "base/cleanup.h"
#include "detect/compare/measure.h"
#include <stddef.h>

/* Who uses which block; a block holds its contents until its user asks for it again. */
enum scratch_block {
	SCRATCH_VALUES,	  /* the values of all members, one after the other; rows of some */
	SCRATCH_KEYS,	  /* the same as keys of order.h */
	SCRATCH_BINS,	  /* sorted bin numbers, histograms */
	SCRATCH_COUNTS,	  /* how many values each member has */
	SCRATCH_MEMBERS,  /* which member stands where */
	SCRATCH_PLACES,	  /* where each member stands */
	SCRATCH_DISTANCE, /* distances to pivots */
	SCRATCH_SUMS,	  /* sums of bin numbers */
	SCRATCH_SELECT,	  /* what order.h works in */
	SCRATCH_N_BLOCKS
};

struct measure_scratch {
	void *blocks[SCRATCH_N_BLOCKS];
	size_t bytes[SCRATCH_N_BLOCKS];
};

/* Room for `n` items of `size` bytes, aligned to 64 bytes; what was there is lost. NULL: no
 * memory. */
void *scratch_get(struct measure_scratch *s, enum scratch_block block, size_t n, size_t size);

/* Fewer members than this are not worth sharing among threads. */
#define SCRATCH_MANY 4096U

/* How many threads are to share the work on `n` members: one, if there are few of them or if the
 * caller is already one of many. */
unsigned scratch_threads(uint32_t n);

DEFINE_CLEANUP(struct measure_scratch *, measure_scratch_free);

#endif
