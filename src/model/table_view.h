/* The data that a builder has gathered so far, or a part of it, as tables; the builder continues to
 * gather afterwards. This file has the grid of a table, peaks, making tables and refilling them. */
#ifndef MODEL_TABLE_VIEW_H
#define MODEL_TABLE_VIEW_H

#include "model/table_builder.h"
#include <limpet/table.h>

/* Which part of what was gathered: slots are numbers of steps since 1970. */
struct table_part {
	int64_t first, end; /* the slots of the tables: first .. end - 1 */
	int64_t seen_from;  /* components with a value in seen_from .. end - 1 only */
	/* What is cut out is a multiple of `align` slots, so that windows which are shifted by as
	 * many or by a part of it lie where they would. 0: nothing is cut out. */
	uint32_t align;
	uint32_t margin; /* slots without data that stay on both sides of a cut */
	bool lazy;	 /* values are read on demand, if possible */
};

/* The slots of a table: all from the first to the last, except long times in which no component has
 * any data. These are cut out, and the table lists them (struct lp_table_cut). */
struct table_grid {
	int64_t first;
	uint64_t n_slots;
	int64_t step_us;
	struct lp_table_cut *cuts;
	uint32_t n_cuts;
};

/* The grid of a part. Release it also after a failure. 0 or -ENOMEM. */
int table_grid_make(
	const struct lp_table_builder *b, const struct table_part *part, struct table_grid *ret);
void table_grid_release(struct table_grid *g);

/* In tables larger than some MiB, at least one in this many slots has a value: larger and emptier
 * tables are not made. */
#define TABLE_SLOTS_PER_VALUE 64

/* Would tables with this many rows and values be sensible? Not if they take more than `bytes_max`,
 * or if they are large and hardly any of their slots has a value. */
bool table_grid_fits(
	const struct table_grid *g, uint64_t bytes_max, uint64_t n_rows, uint64_t n_values);

/* The number of a slot of the grid since 1970. */
int64_t table_grid_slot(const struct table_grid *g, int64_t slot);

/* Give a table this grid. 0 or -ENOMEM. */
int table_grid_apply(const struct table_grid *g, struct lp_table *t);

/* A row of values on the grid. */
void table_grid_copy(const struct table_grid *g, const struct table_pages *p, double *ret);

/* Peaks are metrics that say how bad the worst of the last seconds was: a disk that is silent for
 * one second in ten has a mean like its peers, and spikes that none of them has.
 *
 * The time over which a metric of this name takes its largest value; 0: it does not. */
int64_t peak_span_us(const char *metric);

/* Is a grid of this step fine enough to have peaks? On a coarser one a step's mean hides them, and
 * a peak would be nothing but the value again. */
bool peak_fits(const char *metric, int64_t step_us);

/* Replace every value by the largest of the `width` values that end with it; missing ones count for
 * nothing, and where all are missing it stays missing. */
void peak_apply(double *values, uint32_t n, uint32_t width);

/* The same for a row of a table whose metric takes the largest value of `span_us`. Only for
 * computed rows: imported values under such a name are peaks already. */
void peak_row(struct lp_table *t, uint32_t row, int64_t span_us);

/* The slots from .. end - 1 of the table that cover the time from `first_us` to `last_us`, which
 * may lie anywhere; from == end: none. Slot i covers the step that ends at its time, so these are
 * the slots that end after `first_us` and not after `last_us`. */
void table_slots(const struct lp_table *t, int64_t first_us, int64_t last_us, uint32_t *ret_from,
	uint32_t *ret_end);

/* Tables of a part, one per metric that has a component there. Their order and that of the
 * components depends only on names: on the contents of the builder, not on the order of arrival.
 * The caller frees each and the array.
 *
 * Tables of many components with hardly any values each would be large and empty: then those with
 * the fewest values are left out, and `*ret_left_out` is their number. */
int table_builder_view(const struct lp_table_builder *b, const struct table_part *part,
	struct lp_table ***ret_tables, uint32_t *ret_n, uint32_t *ret_left_out, struct lp_err *err);

/* The first slot of the earliest row and the end of the last; false: there is none. */
bool table_builder_span(const struct lp_table_builder *b, int64_t *ret_first, int64_t *ret_end);

/* Has any row a value in the slots from .. end - 1? */
bool table_builder_any(const struct lp_table_builder *b, int64_t from, int64_t end);

/* The first slot from `from` on in which a row has a value; INT64_MAX: there is none. */
int64_t table_builder_next(const struct lp_table_builder *b, int64_t from);

/* How many values there are in the slots from .. end - 1; whole pages count. */
uint64_t table_builder_count(const struct lp_table_builder *b, int64_t from, int64_t end);

/* Has any row its first value ever in the slots from .. end - 1? */
bool table_builder_born(const struct lp_table_builder *b, int64_t from, int64_t end);

/* Forget all values in the slots from .. end - 1, and components that have no others. */
int table_builder_drop(struct lp_table_builder *b, int64_t from, int64_t end);

/* Move what an observer has in the slots from .. end - 1 by `by` slots: its clock was wrong. */
int table_builder_move(
	struct lp_table_builder *b, const char *observer, int64_t from, int64_t end, int64_t by);

/* Forget all values before slot `before`, and components that have none behind it. */
int table_builder_trim(struct lp_table_builder *b, int64_t before);

/* When the last sample of each observer was taken: calls `fn` for every component. */
void table_builder_last(const struct lp_table_builder *b,
	void (*fn)(void *ctx, const struct lp_identity *component, int64_t last_us), void *ctx);

/* Where the rows of a table are in the builder that it was made from, so that it can be filled with
 * another part of it; its components stay the same. */
struct table_refill {
	uint32_t set;
	uint32_t *rows; /* [component] */
};

/* Find them. -ENOENT: it cannot be refilled, because its rows were put together of others, or some
 * row of the builder is not in it. 0 or -ENOMEM. */
int table_refill_find(
	const struct lp_table_builder *b, const struct lp_table *t, struct table_refill *ret);
void table_refill_release(struct table_refill *r);

/* How many tables there are if none of the builder's rows is left out. */
uint32_t table_refill_count(const struct lp_table_builder *b);

/* Fill the table with another part, without cuts, after no row has come or gone since (n_changes of
 * the builder says). 0 or -ENOMEM. */
int table_refill_part(const struct lp_table_builder *b, const struct table_refill *r,
	const struct table_part *part, struct lp_table *t);

/* Tables may be lazy: their rows are read from the builder on demand, so that code that needs a few
 * values of many components need not copy all samples. Such a table has room for all values, but
 * contains only those of rows that were read. The builder may gather more meanwhile, but must not
 * remove rows. Lazy tables never leave the library. */
struct table_lazy {
	const struct lp_table_builder *b;
	uint32_t set;	/* number in the builder */
	uint32_t *rows; /* [component] number in the set */
	bool *read;	/* [component] */
	int64_t first;	/* slot */
	uint32_t peak;	/* values are the largest of this many; 0: they are not peaks */
};

void table_lazy_free(struct table_lazy *l);

/* The values of a row, read if they were not. Not for several threads at once. */
const double *table_values(const struct lp_table *t, uint32_t row);

/* The same for one look: what was not read is put into `room`, which has room for a row, and stays
 * unread. */
const double *table_values_peek(const struct lp_table *t, uint32_t row, double *room);

/* One value of a row, read as table_values() does. */
static inline double table_value(const struct lp_table *t, uint32_t row, uint32_t slot)
{
	return (t->lazy ? table_values(t, row) : t->values + (size_t)row * t->n_slots)[slot];
}

/* The slots of a row from `*ret_first` up to, but not including, `*ret_end` have its data; equal:
 * it has none. This is cheap for many rows, which stay unread. */
void table_row_span(const struct lp_table *t, uint32_t row, uint32_t *ret_first, uint32_t *ret_end);

/* Leave out the first `n` slots of a table. */
void table_clip(struct lp_table *t, uint32_t n);

#endif
