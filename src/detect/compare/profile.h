/* Profiles: each member of a window as its sorted bin numbers, and the distance between two.
 *
 * The distance is that of their cumulative histograms, sum over bins |P(i) - Q(i)|. For members
 * with equally many values it is the sum of |differences| of the sorted bin numbers, divided by
 * their number: a few small integers each in place of up to 1000 bins. Everything is integer until
 * the one division at the end, so that distances are exact to the last bit. */
#ifndef DETECT_COMPARE_PROFILE_H
#define DETECT_COMPARE_PROFILE_H

#include "detect/compare/bins.h"

struct profiles {
	uint32_t n;		 /* members with data */
	uint32_t n_bins;	 /* 0: all distances are 0 */
	bool even;		 /* all have equally many values */
	size_t stride;		 /* from one member's bins to the next's */
	uint16_t *bins;		 /* [profile * stride], sorted, then zeros; see PROFILES_SPARE */
	uint32_t *counts;	 /* [profile] how many values it has, at least one */
	const uint32_t *members; /* [profile] its position in the window */
	const uint32_t *places;	 /* [member] its profile, UINT32_MAX: it has no data */
};

/* Sums of so many bin numbers, and one value more, fit into 32 bits. */
#define PROFILE_SAMPLES_MAX (UINT32_C(1) << 21)

/* Rows of bins and counts behind the last profile, for others to fill. */
#define PROFILES_SPARE 4

/* The profiles of all members with data; they live in `scratch`. 0, -ENOMEM, or
 * -ERANGE: more samples than PROFILE_SAMPLES_MAX. */
int profiles_fill(const struct window *w, struct measure_scratch *scratch, struct profiles *ret);

/* Of even profiles: distances of profile `from`, which may be a spare one, to those first ..
 * first+n-1, times the number of values. */
void profiles_sums(
	const struct profiles *p, uint32_t from, uint32_t first, uint32_t n, uint32_t *ret);

/* Above all these sums: that of bins as far apart as can be. */
static inline uint32_t profiles_sum_max(const struct profiles *p, uint32_t profile)
{
	return p->n_bins * p->counts[profile];
}

/* The distance of two profiles, which may be spare ones. */
double profiles_distance(const struct profiles *p, uint32_t a, uint32_t b);

/* The distances of profile `from`, which may be a spare one, to all, as keys of order.h. */
void profiles_distance_keys(const struct profiles *p, uint32_t from, uint64_t *ret);

/* The vote of profile `self`; `work` has room for p->n of them. NaN if it is the only one. */
double profiles_vote(const struct profiles *p, uint32_t self, uint64_t *work);

/* Sort n bin numbers below `n_bins` in place; `work` has room for as many. */
void profile_sort(uint16_t *bins, uint16_t *work, uint32_t n, uint32_t n_bins);

#endif
