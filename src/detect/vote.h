/* From distances to a vote. */
#ifndef DETECT_VOTE_H
#define DETECT_VOTE_H

#include "detect/order.h"
#include <math.h>

/* The (floor(n/2)+1)-th largest of `n` distances (none of them NaN), where n counts the others: NaN
 * if there are none. `distances` are those to all n + 1 with data; that at `self` is left out.
 * `work` has room for n keys. */
static inline double vote_of(const double *distances, uint32_t n_all, uint32_t self, uint64_t *work)
{
	size_t n = 0;

	for (uint32_t i = 0; i < n_all; i++) {
		if (i != self)
			work[n++] = order_key(distances[i]);
	}
	return n ? order_value(order_select(work, n, n - 1 - n / 2)) : NAN;
}

#endif
