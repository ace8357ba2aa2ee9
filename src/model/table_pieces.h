/* The tables of all data of a builder, for callers that need only a part at a time: as a whole if
 * that makes sense, otherwise in pieces.
 */
#ifndef MODEL_TABLE_PIECES_H
#define MODEL_TABLE_PIECES_H

#include "model/table_builder.h"

/* Called with the tables of a piece of time; `last`: it is the last piece. A non-zero result stops
 * and is returned. */
typedef int (*table_piece_fn)(
	void *ctx, struct lp_table *const *tables, uint32_t n, bool last, struct lp_err *err);

/* Call `fn` with the tables of lp_table_builder_finish(). If these would be refused because they
 * are large and almost empty (thousands of components with one sample each, at different times),
 * call it for one piece of time after the other, with tables of the components that have values
 * there, sorted by name. A piece takes at most 16 MiB, unless its values need more. `fn` is called
 * at least once, without tables if there is no data. */
int table_builder_pieces(
	struct lp_table_builder *b, table_piece_fn fn, void *ctx, struct lp_err *err);

#endif
