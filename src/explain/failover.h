/* Load that moved: if the preferred path to a LUN is lost, another path of it, idle until then,
 * carries its load ("observed load on secondary"). That is a consequence, not a culprit. */
#ifndef EXPLAIN_FAILOVER_H
#define EXPLAIN_FAILOVER_H

#include "explain/context.h"

/* Among the suspects, whose causes are known: make those with moved load follow (ctx->follows) from
 * the lost path; if that is not in the data, their cause is a lost path all the same. Two paths
 * belong to one LUN if the attribute "lun" is the same, or, if the topology has priorities, if kind
 * and name are the same on two observers. */
int failover_find(struct explain_context *ctx, struct lp_err *err);

#endif
