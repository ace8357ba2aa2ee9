/* Who exceeds its threshold, without comparing everybody with everybody.
 *
 * The distance of profiles is a metric. With a pivot P in the midst of the group, d(a,b) is at most
 * d(a,P) + d(P,b); so that who is near the pivot, as most of its peers are, is near most of its
 * peers. Only the others need exact votes. The pivot is a made-up profile, each of its bins the
 * median of that bin of some members, which is about what has the least distance from all.
 *
 * This decides nearly everybody as long as thresholds are above twice the usual distance from the
 * pivot. With thresholds below that, or where no two members are alike, votes are exact ones and
 * their cost grows with the square of the members. */
#ifndef DETECT_COMPARE_PRUNE_H
#define DETECT_COMPARE_PRUNE_H

#include "detect/compare/profile.h"

/* Bounds on the votes of all profiles from their distances to a pivot, which becomes the spare
 * profile number p->n: ret[i] is at least the vote of profile i. 0 or -ENOMEM. */
int prune_bounds(const struct profiles *p, struct measure_scratch *scratch, double *ret);

#endif
