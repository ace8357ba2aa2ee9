/* Packs the data of a builder of tables into bytes, for another process of the same team
 * (base/team.h). */
#ifndef MODEL_TABLE_PACK_H
#define MODEL_TABLE_PACK_H

#include "base/team.h"
#include "model/table_builder.h"

/* Append the data of a builder. */
void table_builder_pack(const struct lp_table_builder *b, struct strbuf *ret);

/* Unpack into an empty builder with the same options. Afterwards it can be joined to another one,
 * like the original. -EBADMSG: the bytes are invalid; -ENOMEM. */
int table_builder_unpack(struct lp_table_builder *b, struct cursor *from);

#endif
