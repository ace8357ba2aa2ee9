/* Components that the operator cleared. Earlier windows no longer count. */
#ifndef EXPLAIN_CLEARED_H
#define EXPLAIN_CLEARED_H

#include "explain/context.h"

/* Recompute the findings of cleared components from the windows that begin at or after the clear.
 * Findings that are not anomalous in k of 2k-1 of these windows get FATE_CLEARED. */
int cleared_apply(struct explain_context *ctx, struct lp_err *err);

#endif
