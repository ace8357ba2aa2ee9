/* Exact votes of outliers without computing all their distances.
 *
 * A profile dominates another one if none of its bin numbers is smaller. Their distance is then the
 * difference of their sums of bin numbers. The inner members are all except those farthest from the
 * pivot and those with another number of values. A profile that dominates the envelope of the inner
 * members gets its distances to all of them from their sorted sums; only the distances to the few
 * outer members must be computed. The same holds for a profile that is dominated. The result is
 * exact, or NaN for profiles that are neither. */
#ifndef DETECT_COMPARE_DOMINANCE_H
#define DETECT_COMPARE_DOMINANCE_H

#include "detect/compare/profile.h"

struct dominance {
	uint32_t *inner; /* sums of the inner profiles, ascending */
	uint32_t n_inner;
	uint16_t *outer; /* rows of the outer profiles that have as many values as the inner ones */
	uint32_t n_outer;
	uint32_t *odd; /* those with another number of values */
	uint32_t n_odd;
	uint32_t *sums; /* [profile] of its bin numbers, unless it is odd */
};

/* Choose the inner profiles: all but the `n_outer` with the largest `bounds` (of prune_bounds())
 * and the odd ones. Fills the spare profiles after the pivot. The result is in `scratch`. 0 or
 * -ENOMEM. */
int dominance_make(const struct profiles *p, const double *bounds, uint32_t n_outer,
	struct measure_scratch *scratch, struct dominance *ret);

/* The vote of profile `self`, or NaN if this method cannot decide it. `work` has room for p->n
 * items. */
double dominance_vote(
	const struct dominance *d, const struct profiles *p, uint32_t self, uint64_t *work);

#endif
