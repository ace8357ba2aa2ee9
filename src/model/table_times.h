/* The samples of a batch on the grid of a table: worked out once, used by all its rows. */
#ifndef MODEL_TABLE_TIMES_H
#define MODEL_TABLE_TIMES_H

#include <limpet/table.h>

/* Consecutive samples of one slot that are all wanted and follow each other in time as they should.
 * A sample of which that is not true is a segment of its own. */
struct table_segment {
	uint32_t first, end; /* samples */
	bool regular;	     /* each has a time since the one before */
	double dt_s;	     /* sum of them, added one by one */
};

struct table_times {
	const struct lp_batch *batch;
	int64_t *slots;	 /* [sample] of the grid */
	double *dt_s;	 /* [sample] since the one before; not above 0: unknown */
	uint8_t *wanted; /* [sample] in the time range, and not carried */
	struct table_segment *segments;
	uint32_t n_segments;
	uint32_t n_beyond; /* samples whose times are beyond reason, which are not wanted */
	bool forever;	   /* one slot for all time, in which nothing is a repeat */
	size_t cap_slots, cap_dt, cap_wanted, cap_segments;
};

/* Work it out for `batch` of a source that samples every `interval_us` (0: not known). -ENOMEM. */
int table_times_make(struct table_times *t, const struct lp_table_options *opt, int64_t interval_us,
	const struct lp_batch *batch);

void table_times_release(struct table_times *t);

#endif
