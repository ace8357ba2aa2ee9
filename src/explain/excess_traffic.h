/* Traffic that the peers do not have: is it enough to explain lost packets? */
#ifndef EXPLAIN_EXCESS_TRAFFIC_H
#define EXPLAIN_EXCESS_TRAFFIC_H

#include "explain/context.h"

/* If the traffic of an interface exceeds that of its peers by this share of its own traffic in both
 * directions, that explains lost packets. Loss cannot cause so much traffic: retransmits are a few
 * percent of it, and acknowledgements are small. */
#define EXCESS_TRAFFIC_SHARE 0.2
/* Traffic that clients did not ask for also explains small congestion windows if it is more than
 * this share of the server's traffic, i.e. most of it. */
#define EXCESS_TRAFFIC_MOST 0.5

/* The excess of a finding's traffic (its role is work, and it is above its peers), as a share of
 * everything that the component receives and sends in that time. 0: unknown. */
double excess_traffic_share(const struct explain_context *ctx, uint32_t finding);

#endif
