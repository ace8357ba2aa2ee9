/* Profiles: each member of a window as its sorted bin numbers, and the distance between two.
 *
 * The distance is that of their cumulative histograms, sum over bins |P(i) - Q(i)|. If two members
 * have the same number of values, it is the sum of |differences| of the sorted bin numbers, divided
 * by that number: a few small integers instead of up to 1000 bins. All arithmetic is integer up to
 * the division at the end, so distances are exact to the last bit. */
#ifndef DETECT_COMPARE_PROFILE_H
#define DETECT_COMPARE_PROFILE_H

#include "detect/compare/measure.h"
#include <stddef.h>

#define BINS_MAX 1000

/* Bins of equal width, common to all members of a window. */
struct bins {
	double low, size;
	uint32_t n; /* 0: all values are the same, or too close for any bin width */
};

/* All usable values of all members in the window, one after the other. 0 or -ENOMEM. */
struct window_values {
	const double *values;
	size_t n;
	double low, high; /* of n > 0 */
};
int window_values_fill(
	const struct window *w, struct measure_scratch *scratch, struct window_values *ret);

/* `n` bins over the range of the values. */
struct bins bins_equal(const struct window_values *all, uint32_t n);

/* Sturges' number of bins for `n_samples`: ceil(log2(n)) + 1. */
uint32_t bins_sturges(uint32_t n_samples);

/* Freedman and Diaconis' width, 2 * IQR * n_samples^(-1/3); if `robust`, with the median absolute
 * deviation instead of the IQR. If that gives more than BINS_MAX bins or none, BINS_MAX are
 * used. */
int bins_freedman(const struct window_values *all, uint32_t n_samples, bool robust,
	struct measure_scratch *scratch, struct bins *ret);

/* The bin of a usable value; if b->n is 0, or the value is not usable, an arbitrary number. */
static inline uint32_t bins_of(const struct bins *b, double v)
{
	double bin = (v - b->low) / b->size, top = (double)b->n - 1;

	bin = bin < top ? bin : top;
	return (uint32_t)(int32_t)(bin > 0 ? bin : 0);
}

struct profiles {
	uint32_t n;		 /* members with data */
	uint32_t n_bins;	 /* 0: all distances are 0 */
	bool even;		 /* all have the same number of values */
	size_t stride;		 /* from one member's bins to the next's */
	uint16_t *bins;		 /* [profile * stride], sorted, then zeros; see PROFILES_SPARE */
	uint32_t *counts;	 /* [profile] the number of its values, at least one */
	const uint32_t *members; /* [profile] its index in the window */
	const uint32_t *places;	 /* [member] its profile, UINT32_MAX: it has no data */
};

/* The sum of this many bin numbers, and of one more value, fits into 32 bits. */
#define PROFILE_SAMPLES_MAX (UINT32_C(1) << 21)

/* Rows of bins and counts after the last profile, for use by other code. */
#define PROFILES_SPARE 4

/* The profiles of all members with data, stored in `scratch`. 0, -ENOMEM, or -ERANGE: more samples
 * than PROFILE_SAMPLES_MAX. */
int profiles_fill(const struct window *w, struct measure_scratch *scratch, struct profiles *ret);

/* For even profiles: the distances of profile `from` (which may be spare) to first .. first+n-1,
 * times the number of values. */
void profiles_sums(
	const struct profiles *p, uint32_t from, uint32_t first, uint32_t n, uint32_t *ret);

/* An upper limit of all these sums: bins as far apart as possible. */
static inline uint32_t profiles_sum_max(const struct profiles *p, uint32_t profile)
{
	return p->n_bins * p->counts[profile];
}

/* The distance of two profiles, which may be spare ones. */
double profiles_distance(const struct profiles *p, uint32_t a, uint32_t b);

/* The distances of profile `from` (which may be spare) to all, as keys (base/median.h). */
void profiles_distance_keys(const struct profiles *p, uint32_t from, uint64_t *ret);

/* The vote of profile `self`; `work` has room for p->n items. NaN if it is the only profile. */
double profiles_vote(const struct profiles *p, uint32_t self, uint64_t *work);

/* Sort n bin numbers below `n_bins` in place; `work` has room for n. */
void profile_sort(uint16_t *bins, uint16_t *work, uint32_t n, uint32_t n_bins);

/* Find members that exceed their thresholds, without comparing all pairs.
 *
 * The distance of profiles is a metric. With a pivot P in the middle of the group, d(a,b) is at
 * most d(a,P) + d(P,b); so a member near the pivot, as most are, is near most of its peers. Only
 * the others need exact votes. The pivot is an artificial profile: each of its bins is the median
 * of that bin over some members, so its distances to all members are about the smallest possible.
 *
 * This decides nearly all members as long as thresholds are above twice the usual distance from the
 * pivot. With lower thresholds, or if no two members are alike, exact votes are computed, and the
 * cost grows with the square of the number of members.
 *
 * Bounds on the votes of all profiles from their distances to a pivot, which becomes the spare
 * profile number p->n: ret[i] is at least the vote of profile i. 0 or -ENOMEM. */
int prune_bounds(const struct profiles *p, struct measure_scratch *scratch, double *ret);

#endif
