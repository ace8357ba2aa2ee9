/* Workloads that a server itself issues (thesis 5.8.2, 6.2.3): they use its own attachments of all
 * priorities, so that each of them differs from its priority peers, and none from the other
 * attachments of that server. */
#ifndef EXPLAIN_ISSUER_H
#define EXPLAIN_ISSUER_H

#include "explain/context.h"

/* Give such findings FATE_WORKLOAD. Does nothing if the topology has no priorities. */
int issuer_filter(struct explain_context *ctx, struct lp_err *err);

#endif
