/* The tables of everything that a builder has gathered, for somebody who needs them one after the
 * other only: as a whole if that is sensible, else in pieces.
 */
#ifndef MODEL_TABLE_PIECES_H
#define MODEL_TABLE_PIECES_H

#include "model/table_builder.h"

/* Is given the tables of a piece of time; `last`: no other follows. Non-zero ends it, and is
 * returned. */
typedef int (*table_piece_fn)(
	void *ctx, struct lp_table *const *tables, uint32_t n, bool last, struct lp_err *err);

/* Call `fn` with the tables of lp_table_builder_finish(). Where these would be refused because they
 * are large and next to empty (thousands of components with a sample each, at different times), it
 * is called for one piece of time after the other, with tables of those components that have values
 * there; components are in the order of their names then. No piece takes more than 16 MiB, unless
 * its values do. `fn` is called once at least, with no tables where there is no data. */
int table_builder_pieces(
	struct lp_table_builder *b, table_piece_fn fn, void *ctx, struct lp_err *err);

#endif
