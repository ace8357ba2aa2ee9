/* One component of a table while it is being built: samples come in, slots of the grid come out. */
#ifndef MODEL_TABLE_ROW_H
#define MODEL_TABLE_ROW_H

#include "model/bind.h"
#include "model/table_pages.h"
#include <limpet/table.h>

/* Consecutive samples of one slot that are all selected and follow each other in time without gaps.
 * Any other sample is a segment of its own. */
struct table_segment {
	uint32_t first, end; /* samples */
	bool regular;	     /* each has a time since the one before */
	double dt_s;	     /* sum of them, added one by one */
};

/* The samples of a batch on the grid of a table: worked out once, used by all its rows. */
struct table_times {
	const struct lp_batch *batch;
	int64_t *slots;	 /* [sample] of the grid */
	double *dt_s;	 /* [sample] since the one before; not above 0: unknown */
	uint8_t *wanted; /* [sample] in the time range, and not carried */
	struct table_segment *segments;
	uint32_t n_segments;
	uint32_t n_beyond; /* samples with impossible times, which are left out */
	bool forever;	   /* one slot for all time, in which nothing is a repeat */
	size_t cap_slots, cap_dt, cap_wanted, cap_segments;
};

/* Work it out for `batch` of a source that samples every `interval_us` (0: not known). -ENOMEM. */
int table_times_make(struct table_times *t, const struct lp_table_options *opt, int64_t interval_us,
	const struct lp_batch *batch);

void table_times_release(struct table_times *t);

/* What a row's very first slot was made of. Rows of the same component from two builders can be
 * joined by it as if one had seen all: the slot may have begun in the other. */
struct table_head {
	enum { HEAD_NONE, HEAD_OPEN, HEAD_CLOSED } state; /* open: it is still the current slot */
	struct bind_acc acc;				  /* once it is closed */
	int64_t slot, first_wall;
	const struct lp_metric *metric;
	uint32_t shape;
	bool replaced; /* its slot was begun again later and has another value */
};

struct table_row {
	struct bind_acc acc;		/* of the current slot */
	int64_t slot;			/* which is that; only if `open` */
	bool open;			/* is there one? */
	int64_t last_wall;		/* of the last sample: time that does not move on repeats */
	const struct lp_metric *metric; /* what `acc` was gathered through */
	uint32_t shape;
	bool gaps;		  /* see struct lp_table_options */
	struct table_pages pages; /* the values; see table_value_set() */
	struct table_head head;
	struct lp_identity *component;
};

/* Add the samples of component number `at` of `kind`. -EFBIG: beyond the budget. */
int table_row_add(struct table_row *row, const struct table_times *times, const struct bind *bind,
	const struct lp_batch_kind *kind, uint32_t at, struct table_budget *budget);

/* Continue with the data that `later`, a row of the same component, has gathered, and leave it
 * empty except for its identity. `forever`: see struct table_times. -EFBIG: beyond the budget. */
int table_row_join(
	struct table_row *row, struct table_row *later, bool forever, struct table_budget *budget);

/* Forget the slots from .. end - 1; `step_us` is that of the grid. */
void table_row_drop(struct table_row *row, int64_t from, int64_t end, int64_t step_us,
	struct table_budget *budget);

/* Move the slots from .. end - 1 by `by`. */
int table_row_move(struct table_row *row, int64_t from, int64_t end, int64_t by, int64_t step_us,
	struct table_budget *budget);

void table_row_release(struct table_row *row);

#endif
