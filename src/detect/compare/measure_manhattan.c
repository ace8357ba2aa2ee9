/* The Manhattan distance of vectors, for a metric that is one number: a vector of one dimension,
 * which is the sum of its samples in the window. (Vectors of functions: vectors.h.)
 *
 * Missing samples count as the mean of the others. */
#include "base/median.h"
#include "detect/compare/measure.h"
#include <errno.h>

/* NaN: the row has no values. */
static double window_sum(const double *row, uint32_t n)
{
	double sum = 0;
	uint32_t found = 0;

	for (uint32_t i = 0; row && i < n; i++) {
		if (value_usable(row[i])) {
			sum += row[i];
			found++;
		}
	}
	if (found == n)
		return sum;
	return found ? sum / found * n : NAN;
}

/* The vote of a member with the sum `own`, from the sorted sums of all. The nearest sums are
 * consecutive: the distance to the rank-th nearest is that to the farther end of the closest
 * stretch of rank + 1 sums. */
static double sum_vote(const double *sorted, uint32_t n, double own)
{
	uint32_t rank = (uint32_t)vote_rank(n), low = 0, high = n - 1 - rank;

	/* The first stretch whose upper end is as far as its lower one. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (sorted[middle + rank] - own >= own - sorted[middle])
			high = middle;
		else
			low = middle + 1;
	}
	/* After it the upper end is farther, before it the lower one. */
	return fmin(fmax(own - sorted[low], sorted[low + rank] - own),
		low > 0 ? fmax(own - sorted[low - 1], sorted[low - 1 + rank] - own) : INFINITY);
}

static int manhattan_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	double *sums = scratch_get(scratch, SCRATCH_VALUES, w->n_members, sizeof(*sums));
	double *sorted = scratch_get(scratch, SCRATCH_SUMS, w->n_members, sizeof(*sorted));
	uint32_t n_sorted = 0;

	if (!sums || !sorted)
		return -ENOMEM;
	for (uint32_t m = 0; m < w->n_members; m++) {
		sums[m] = window_sum(w->rows[m], w->n_samples);
		if (!isnan(sums[m]))
			sorted[n_sorted++] = sums[m];
	}
	median_sort(sorted, n_sorted);
	n = members ? n : w->n_members;
	for (uint32_t i = 0; i < n; i++) {
		double own = sums[members ? members[i] : i];

		ret_votes[i] = isnan(own) || n_sorted < 2 ? NAN : sum_vote(sorted, n_sorted, own);
	}
	return 0;
}

extern const struct measure measure_manhattan;
const struct measure measure_manhattan = {
	.name = "manhattan",
	.help = "difference of the sums over the window, the Manhattan distance of vectors",
	.defaults = {.smooth = 1, .win_size = 60, .win_shift = 30, .k = 3},
	.window_us = INT64_C(60) * 1000000,
	.pairwise = true,
	.votes = manhattan_votes,
};
