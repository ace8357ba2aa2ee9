/* Components that the operator cleared: windows before that time no longer count. */
#ifndef EXPLAIN_CLEARED_H
#define EXPLAIN_CLEARED_H

#include "explain/context.h"

/* Recompute the findings of cleared components from the marks of the windows that begin at or after
 * the clear. Those that are not anomalous again in k of 2k-1 windows get FATE_CLEARED. */
int cleared_apply(struct explain_context *ctx, struct lp_err *err);

#endif
