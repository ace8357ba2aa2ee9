/* Tables that were made of a builder once, filled with another part of it: who is in them stays.
 */
#ifndef MODEL_TABLE_REFILL_H
#define MODEL_TABLE_REFILL_H

#include "model/table_grid.h"

/* Where the rows of a table are in the builder. */
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
 * the builder tells). 0 or -ENOMEM. */
int table_refill_part(const struct lp_table_builder *b, const struct table_refill *r,
	const struct table_part *part, struct lp_table *t);

#endif
