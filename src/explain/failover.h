/* Load that moved: if the preferred path to a LUN is lost, another path, which was idle until then,
 * carries its load ("observed load on secondary"). That is a consequence, not a culprit. */
#ifndef EXPLAIN_FAILOVER_H
#define EXPLAIN_FAILOVER_H

#include "explain/context.h"

/* Let suspects with moved load follow from the lost path (ctx->follows). If that path is not in the
 * data, their cause is a lost path nevertheless. The causes of suspects must be known. Two paths
 * belong to one LUN if the attribute "lun" is the same, or, if the topology has priorities, if kind
 * and name are the same on two observers. */
int failover_find(struct explain_context *ctx, struct lp_err *err);

#endif
