/* Traffic that its peers do not have: is it enough to explain lost packets? */
#ifndef EXPLAIN_EXCESS_TRAFFIC_H
#define EXPLAIN_EXCESS_TRAFFIC_H

#include "explain/context.h"

/* Where an interface carries so much more than its peers, by its own traffic in both directions,
 * packets are lost because of that. Loss alone cannot do it: what is sent again is some percent
 * of the traffic, and acknowledgements, however many more they are, weigh next to nothing. */
#define EXCESS_TRAFFIC_SHARE 0.2

/* By how much a finding's traffic (its role is work, above its peers) exceeds that of the peers, as
 * a share of all that the component receives and sends meanwhile. 0 where that is not known. */
double excess_traffic_share(const struct explain_context *ctx, uint32_t finding);

#endif
