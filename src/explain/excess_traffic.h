/* Traffic that the peers do not have: is it enough to explain lost packets? */
#ifndef EXPLAIN_EXCESS_TRAFFIC_H
#define EXPLAIN_EXCESS_TRAFFIC_H

#include "explain/context.h"

/* If an interface carries this much more than its peers, by its own traffic in both directions,
 * packets are lost because of that. Loss alone cannot cause it: retransmits are a few percent of
 * the traffic, and acknowledgements, however many, weigh next to nothing. */
#define EXCESS_TRAFFIC_SHARE 0.2

/* By how much a finding's traffic (its role is work, above its peers) exceeds that of the peers, as
 * a share of everything that the component receives and sends meanwhile. 0 if that is not known. */
double excess_traffic_share(const struct explain_context *ctx, uint32_t finding);

#endif
