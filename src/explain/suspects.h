/* Which components are suspects, and which only differ. */
#ifndef EXPLAIN_SUSPECTS_H
#define EXPLAIN_SUSPECTS_H

#include "explain/context.h"

/* Make ctx->v->suspects (components with a finding that makes a culprit) and ctx->v->asymmetries
 * (the others that have findings) from the fates of the findings, with ranks but without causes.
 * Muted suspects are only listed as such. */
int suspects_gather(struct explain_context *ctx, struct lp_err *err);

/* Sort the findings of a suspect: the most important first. Its cause must be known. */
void suspects_order_findings(const struct explain_context *ctx, struct lp_suspect *s);

#endif
