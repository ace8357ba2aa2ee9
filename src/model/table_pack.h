/* What a builder of tables has gathered, as bytes for another process of the same team
 * (base/team.h), which then has a builder like it. */
#ifndef MODEL_TABLE_PACK_H
#define MODEL_TABLE_PACK_H

#include "base/team.h"
#include "model/table_builder.h"

/* Append everything. */
void table_builder_pack(const struct lp_table_builder *b, struct strbuf *ret);

/* Take it out into an empty builder, which was made with the same options: it can be joined to
 * another one afterwards, as the packed one could be. -EBADMSG: it makes no sense; -ENOMEM. */
int table_builder_unpack(struct lp_table_builder *b, struct cursor *from);

#endif
