/* Suspects that have one problem become one incident. */
#ifndef EXPLAIN_COALESCE_H
#define EXPLAIN_COALESCE_H

#include "explain/context.h"

/* Make ctx->v->incidents, ranked, from the suspects (with causes and evidence). */
int coalesce_suspects(struct explain_context *ctx, struct lp_err *err);

#endif
