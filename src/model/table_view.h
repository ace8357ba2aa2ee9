/* Makes tables from the data of a builder, or from a part of it; the builder can receive more data
 * afterwards. This file computes the grid of a table and peaks, and makes and refills tables. */
#ifndef MODEL_TABLE_VIEW_H
#define MODEL_TABLE_VIEW_H

#include "model/table_builder.h"
#include <limpet/table.h>

/* A part of the data; slots are numbers of steps since 1970. */
struct table_part {
	int64_t first, end; /* the slots of the tables: first .. end - 1 */
	int64_t seen_from;  /* only components with a value in seen_from .. end - 1 */
	/* The omitted parts are multiples of `align` slots, so that windows with a shift that
	 * divides `align` keep their places. 0: nothing is omitted. */
	uint32_t align;
	uint32_t margin; /* empty slots that stay on both sides of a cut */
	bool lazy;	 /* values are read on demand, if possible */
};

/* The slots of a table: all from the first to the last, except long times without any data. These
 * are omitted, and the table lists them (struct lp_table_cut). */
struct table_grid {
	int64_t first;
	uint64_t n_slots;
	int64_t step_us;
	struct lp_table_cut *cuts;
	uint32_t n_cuts;
};

/* The grid of a part. Release it even after a failure. 0 or -ENOMEM. */
int table_grid_make(
	const struct lp_table_builder *b, const struct table_part *part, struct table_grid *ret);
void table_grid_release(struct table_grid *g);

/* In tables of more than a few MiB, at least one in this many slots must have a value: large and
 * empty tables are not made. */
#define TABLE_SLOTS_PER_VALUE 64

/* Do tables with this many rows and values make sense? Not if they take more than `bytes_max`, or
 * if they are large and hardly any of their slots has a value. */
bool table_grid_fits(
	const struct table_grid *g, uint64_t bytes_max, uint64_t n_rows, uint64_t n_values);

/* The number of a slot of the grid since 1970. */
int64_t table_grid_slot(const struct table_grid *g, int64_t slot);

/* Give a table this grid. 0 or -ENOMEM. */
int table_grid_apply(const struct table_grid *g, struct lp_table *t);

/* Copy a row of values to the grid. */
void table_grid_copy(const struct table_grid *g, const struct table_pages *p, double *ret);

/* Peaks are metrics that show the worst of the last seconds: a disk that is silent for one second
 * in ten has a mean like its peers, and spikes that none of them has.
 *
 * The time over which a metric with this name takes the maximum; 0: it is not a peak. */
int64_t peak_span_us(const char *metric);

/* Is a grid of this step fine enough to have peaks? On a coarser grid, the mean of a step hides
 * peaks, and a peak would be the same as the value. */
bool peak_fits(const char *metric, int64_t step_us);

/* Replace every value by the largest of the `width` values that end with it; missing values are
 * ignored, and the result is missing if all are. */
void peak_apply(double *values, uint32_t n, uint32_t width);

/* The same for a row of a table with a metric that takes the maximum over `span_us`. Only for
 * computed rows: imported values with such a name are already peaks. */
void peak_row(struct lp_table *t, uint32_t row, int64_t span_us);

/* The slots from .. end - 1 of the table that cover the time from `first_us` to `last_us`, which
 * may be outside of the table; from == end: none. Slot i covers the step that ends at its time, so
 * these are the slots that end after `first_us` and not after `last_us`. */
void table_slots(const struct lp_table *t, int64_t first_us, int64_t last_us, uint32_t *ret_from,
	uint32_t *ret_end);

/* Tables of a part, one per metric that has a component there. Their order and that of the
 * components depends only on names: on the contents of the builder, not on the order of arrival.
 * The caller frees each and the array.
 *
 * If tables of many components with few values each would be large and empty, those with the fewest
 * values are left out, and `*ret_left_out` is their number. */
int table_builder_view(const struct lp_table_builder *b, const struct table_part *part,
	struct lp_table ***ret_tables, uint32_t *ret_n, uint32_t *ret_left_out, struct lp_err *err);

/* The first slot of the earliest row and the end of the last; false: no rows. */
bool table_builder_span(const struct lp_table_builder *b, int64_t *ret_first, int64_t *ret_end);

/* Does any row have a value in the slots from .. end - 1? */
bool table_builder_any(const struct lp_table_builder *b, int64_t from, int64_t end);

/* The first slot from `from` on in which a row has a value; INT64_MAX: none. */
int64_t table_builder_next(const struct lp_table_builder *b, int64_t from);

/* The number of values in the slots from .. end - 1; pages count as a whole. */
uint64_t table_builder_count(const struct lp_table_builder *b, int64_t from, int64_t end);

/* Does any row have its first value ever in the slots from .. end - 1? */
bool table_builder_born(const struct lp_table_builder *b, int64_t from, int64_t end);

/* Forget all values in the slots from .. end - 1, and components that have no others. */
int table_builder_drop(struct lp_table_builder *b, int64_t from, int64_t end);

/* Move the data of an observer in the slots from .. end - 1 by `by` slots, because its clock was
 * wrong. */
int table_builder_move(
	struct lp_table_builder *b, const char *observer, int64_t from, int64_t end, int64_t by);

/* Forget all values before slot `before`, and components that have none after it. */
int table_builder_trim(struct lp_table_builder *b, int64_t before);

/* A peak is computed from the samples of another metric when a table is made (see peak_apply()), so
 * both have the same values in memory. Keep what is before slot `end` only once. */
void table_builder_share(struct lp_table_builder *b, int64_t end);

/* When the last sample of each observer was taken. Calls `fn` for every component. */
void table_builder_last(const struct lp_table_builder *b,
	void (*fn)(void *ctx, const struct lp_identity *component, int64_t last_us), void *ctx);

/* The places of the rows of a table in its builder, so that it can be refilled with another part of
 * the data; its components stay the same. */
struct table_refill {
	uint32_t set;
	uint32_t *rows; /* [component] */
};

/* Find the places. -ENOENT: the table cannot be refilled, because its rows were computed from
 * others, or it lacks a row of the builder. 0 or -ENOMEM. */
int table_refill_find(
	const struct lp_table_builder *b, const struct lp_table *t, struct table_refill *ret);
void table_refill_release(struct table_refill *r);

/* The number of tables if no row of the builder is left out. */
uint32_t table_refill_count(const struct lp_table_builder *b);

/* Refill the table with another part, without cuts. No row may have been added or removed since
 * (see n_changes of the builder). 0 or -ENOMEM. */
int table_refill_part(const struct lp_table_builder *b, const struct table_refill *r,
	const struct table_part *part, struct lp_table *t);

/* A table may be lazy: it reads its rows from the builder on demand, so that code that needs a few
 * values of many components does not copy all samples. It has memory for all values, but contains
 * only those of rows that were read. The builder may receive more data, but must not remove rows.
 * Lazy tables are internal to the library. */
struct table_lazy {
	const struct lp_table_builder *b;
	uint32_t set;	/* number in the builder */
	uint32_t *rows; /* [component] index in the set */
	bool *read;	/* [component] */
	int64_t first;	/* slot */
	uint32_t peak;	/* values are the maximum of this many; 0: they are not peaks */
};

void table_lazy_free(struct table_lazy *l);

/* The values of a row, which are read if necessary. Only one thread at a time may call it. */
const double *table_values(const struct lp_table *t, uint32_t row);

/* The same for a single use: a row that was not read is copied to `room`, which has room for a row,
 * and stays unread. */
const double *table_values_peek(const struct lp_table *t, uint32_t row, double *room);

/* The same if only the slots first .. end - 1 are needed. They are at their places in the row that
 * is returned; the other values in it are undefined. */
const double *table_values_peek_part(
	const struct lp_table *t, uint32_t row, uint32_t first, uint32_t end, double *room);

/* One value of a row, read as table_values() does. */
static inline double table_value(const struct lp_table *t, uint32_t row, uint32_t slot)
{
	return (t->lazy ? table_values(t, row) : t->values + (size_t)row * t->n_slots)[slot];
}

/* The slots `*ret_first` .. `*ret_end - 1` contain all data of a row; equal: it has none. This is
 * cheap for many rows, because they stay unread. */
void table_row_span(const struct lp_table *t, uint32_t row, uint32_t *ret_first, uint32_t *ret_end);

/* Remove the first `n` slots of a table. */
void table_clip(struct lp_table *t, uint32_t n);

#endif
