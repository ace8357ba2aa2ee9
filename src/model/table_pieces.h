/* The tables of everything that a builder has gathered, for callers that need only one at a time:
 * as a whole if that is sensible, otherwise in pieces.
 */
#ifndef MODEL_TABLE_PIECES_H
#define MODEL_TABLE_PIECES_H

#include "model/table_builder.h"

/* Gets the tables of a piece of time; `last`: no other follows. A non-zero result ends the calls,
 * and is returned. */
typedef int (*table_piece_fn)(
	void *ctx, struct lp_table *const *tables, uint32_t n, bool last, struct lp_err *err);

/* Call `fn` with the tables of lp_table_builder_finish(). If these would be refused because they
 * are large and almost empty (thousands of components with a sample each, at different times), it
 * is called for one piece of time after the other, with tables of the components that have values
 * there, sorted by name. No piece takes more than 16 MiB, unless its values do. `fn` is called at
 * least once, with no tables if there is no data. */
int table_builder_pieces(
	struct lp_table_builder *b, table_piece_fn fn, void *ctx, struct lp_err *err);

#endif
