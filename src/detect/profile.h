/* Profiles: each member of a window as its sorted bin numbers, and the distance between two.
 *
 * The distance is that of their cumulative histograms, sum over bins |P(i) - Q(i)|. For members
 * with equally many values it is the sum of |differences| of the sorted bin numbers, divided by
 * their number: a few small integers each in place of up to 1000 bins. Everything is integer until
 * the one division at the end, so that distances are exact to the last bit. */
#ifndef DETECT_PROFILE_H
#define DETECT_PROFILE_H

#include "detect/bins.h"

struct profiles {
	uint32_t n;		 /* members with data */
	uint32_t n_bins;	 /* 0: all distances are 0 */
	size_t stride;		 /* from one member's bins to the next's */
	uint16_t *bins;		 /* [profile * stride], sorted, then zeros */
	const uint32_t *counts;	 /* [profile] how many values it has, at least one */
	const uint32_t *members; /* [profile] its position in the window */
	const uint32_t *places;	 /* [member] its profile, UINT32_MAX: it has no data */
};

/* The profiles of all members with data; they live in `scratch`. 0 or -ENOMEM. */
int profiles_fill(const struct window *w, struct measure_scratch *scratch, struct profiles *ret);

/* Distances of profile `from` to all, itself included: ret[0 .. n-1]. */
void profiles_distances(const struct profiles *p, uint32_t from, double *ret);

#endif
