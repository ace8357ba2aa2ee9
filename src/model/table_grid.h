/* Which slots a table has: all from the first to the last, but for long times in which no component
 * has any data. These are cut out, and the table says where (struct lp_table_cut).
 */
#ifndef MODEL_TABLE_GRID_H
#define MODEL_TABLE_GRID_H

#include "model/table_builder.h"

/* Which part of what was gathered: slots are numbers of steps since 1970. */
struct table_part {
	int64_t first, end; /* the slots of the tables: first .. end - 1 */
	int64_t seen_from;  /* components with a value in seen_from .. end - 1 only */
	/* What is cut out is a multiple of `align` slots, so that windows which are shifted by as
	 * many or by a part of it lie where they would. 0: nothing is cut out. */
	uint32_t align;
	uint32_t margin; /* slots without data that stay on both sides of a cut */
};

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

/* Of tables that are larger than some MiB, one in so many slots has a value at least: what is
 * larger and emptier is not made. */
#define TABLE_SLOTS_PER_VALUE 64

/* Would tables with so many rows and values in them be sensible? Not if they take more than the
 * builder may, nor if they are large and hardly any of their slots has a value. */
bool table_grid_fits(const struct table_grid *g, const struct lp_table_builder *b, uint64_t n_rows,
	uint64_t n_values);

/* The number of a slot of the grid since 1970. */
int64_t table_grid_slot(const struct table_grid *g, int64_t slot);

/* Give a table this grid. 0 or -ENOMEM. */
int table_grid_apply(const struct table_grid *g, struct lp_table *t);

/* A row of values on the grid. */
void table_grid_copy(const struct table_grid *g, const struct table_pages *p, double *ret);

#endif
