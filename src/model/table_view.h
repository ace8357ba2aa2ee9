/* Some of what a builder has gathered so far, as tables: it goes on gathering afterwards. */
#ifndef MODEL_TABLE_VIEW_H
#define MODEL_TABLE_VIEW_H

#include "model/table_grid.h"

/* Tables of that part, one per metric that has a component there. Their order and that of the
 * components depends on nothing but names: on what is in the builder, not on how it came there. The
 * caller frees each and the array.
 *
 * Tables of many components that have next to no values each would be large and empty: those with
 * the fewest values are left out then, and `*ret_left_out` says how many were. */
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

#endif
