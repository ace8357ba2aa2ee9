/* One component of a table while it is being built: converts samples to slots of the grid. */
#ifndef MODEL_TABLE_ROW_H
#define MODEL_TABLE_ROW_H

#include "model/bind.h"
#include "model/table_pages.h"
#include <limpet/table.h>

/* Consecutive samples of one slot that are all selected and follow each other in time without gaps.
 * Any other sample is a separate segment. */
struct table_segment {
	uint32_t first, end; /* samples */
	bool regular;	     /* each has a known time since the previous one */
	double dt_s;	     /* the sum of these times, added one by one */
};

/* The samples of a batch on the grid of a table: computed once, used by all rows. */
struct table_times {
	const struct lp_batch *batch;
	int64_t *slots;	 /* [sample] of the grid */
	double *dt_s;	 /* [sample] since the previous one; 0 or less: unknown */
	uint8_t *wanted; /* [sample] in the time range, and not carried */
	struct table_segment *segments;
	uint32_t n_segments;
	uint32_t n_beyond; /* samples with impossible times, which are left out */
	bool forever;	   /* one slot for all time; nothing is a repeat */
	size_t cap_slots, cap_dt, cap_wanted, cap_segments;
};

/* Compute it for `batch` of a source with this interval (0: unknown). 0 or -ENOMEM. */
int table_times_make(struct table_times *t, const struct lp_table_options *opt, int64_t interval_us,
	const struct lp_batch *batch);

void table_times_release(struct table_times *t);

/* The sums of the first slot of a row. They make it possible to join rows of one component from two
 * builders as if there had been one: the slot may have begun in the other one. */
struct table_head {
	enum { HEAD_NONE, HEAD_OPEN, HEAD_CLOSED } state; /* open: it is still the current slot */
	struct bind_acc acc;				  /* when it is closed */
	int64_t slot, first_wall;
	const struct lp_metric *metric;
	uint32_t shape;
	bool replaced; /* the slot was begun again later and has another value */
};

struct table_row {
	struct bind_acc acc;		/* of the current slot */
	int64_t slot;			/* the current slot; only if `open` */
	bool open;			/* is there a current slot? */
	int64_t last_wall;		/* of the last sample: the same or an earlier time means a
					 * repeat */
	const struct lp_metric *metric; /* the meaning of `acc` */
	uint32_t shape;
	bool gaps;		  /* see struct lp_table_options */
	struct table_pages pages; /* the values; see table_value_set() */
	struct table_head head;
	struct lp_identity *component;
};

/* Add the samples of component number `at` of `kind`. -EFBIG: beyond the budget. */
int table_row_add(struct table_row *row, const struct table_times *times, const struct bind *bind,
	const struct lp_batch_kind *kind, uint32_t at, struct table_budget *budget);

/* Append the data of `later`, a row of the same component. It becomes empty, except for its
 * identity. `forever`: see struct table_times. -EFBIG: beyond the budget. */
int table_row_join(
	struct table_row *row, struct table_row *later, bool forever, struct table_budget *budget);

/* Forget the slots from .. end - 1; `step_us` is that of the grid. 0 or -ENOMEM. */
int table_row_drop(struct table_row *row, int64_t from, int64_t end, int64_t step_us,
	struct table_budget *budget);

/* Move the slots from .. end - 1 by `by`. */
int table_row_move(struct table_row *row, int64_t from, int64_t end, int64_t by, int64_t step_us,
	struct table_budget *budget);

void table_row_release(struct table_row *row);

#endif
