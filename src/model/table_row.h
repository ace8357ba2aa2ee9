/* One component of a table while it is being built: samples come in, slots of the grid come out. */
#ifndef MODEL_TABLE_ROW_H
#define MODEL_TABLE_ROW_H

#include "model/bind.h"

struct table_row {
	struct bind_acc acc;		/* of the slot at hand */
	int64_t slot;			/* which is that; only if `open` */
	bool open;			/* is there one? */
	int64_t last_wall;		/* of the last sample: time that does not move on repeats */
	const struct lp_metric *metric; /* what `acc` was gathered through */
	uint32_t shape;
	double *values; /* of slots `first` .. `first + n - 1` */
	int64_t first;
	size_t n, cap;
	char *name;
};

/* Memory that all rows of a builder share. */
struct table_budget {
	uint64_t used, max;
	int64_t first, last; /* the slots that did not fit any more */
};

/* What is the same for all rows of a batch. */
struct table_times {
	const struct lp_batch *batch;
	const int64_t *slots;  /* [sample] of the grid */
	const double *dt_s;    /* [sample] since the one before; not above 0: unknown */
	const uint8_t *wanted; /* [sample] in the time range, and not carried */
	bool forever;	       /* one slot for all time, in which nothing is a repeat */
};

/* Add the samples of component number `at` of `kind`. -EFBIG: beyond the budget. */
int table_row_add(struct table_row *row, const struct table_times *times, const struct bind *bind,
	const struct lp_batch_kind *kind, uint32_t at, struct table_budget *budget);

void table_row_release(struct table_row *row);

#endif
