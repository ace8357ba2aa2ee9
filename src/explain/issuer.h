/* Workloads that a server itself issues (thesis 5.8.2, 6.2.3). They use its attachments of all
 * priorities, so each of them differs from its peers of the same priority, but not from the other
 * attachments of the server. */
#ifndef EXPLAIN_ISSUER_H
#define EXPLAIN_ISSUER_H

#include "explain/context.h"

/* Give such findings FATE_WORKLOAD. Does nothing if the topology has no priorities. */
int issuer_filter(struct explain_context *ctx, struct lp_err *err);

#endif
