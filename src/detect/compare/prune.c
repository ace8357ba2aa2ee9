#include "detect/compare/prune.h"

#include "detect/compare/kernels.h"
#include "detect/compare/order.h"
#include "detect/compare/scratch.h"
#include <errno.h>
#include <string.h>

/* The pivot is made of so many members. */
#define SAMPLE 63U

/* More than the roundings of two quotients and their sum, relatively. */
#define ROUNDING 1e-12

/* Members to make a pivot of, spread over the group and with as many values as the middle one has;
 * how many. */
static uint32_t sample_members(const struct profiles *p, uint32_t *ret)
{
	uint32_t count = p->counts[p->n / 2], step = p->n / SAMPLE + 1, n = 0;

	for (uint32_t i = p->n / 2 % step; i < p->n; i += step) {
		if (p->counts[i] == count)
			ret[n++] = i;
	}
	return n;
}

static void make_pivot(const struct profiles *p)
{
	uint16_t *pivot = p->bins + p->n * p->stride, column[SAMPLE + 1], work[SAMPLE + 1];
	uint32_t sample[SAMPLE + 1] = {p->n / 2}, n = sample_members(p, sample);

	memset(pivot, 0, p->stride * sizeof(*pivot));
	p->counts[p->n] = p->counts[sample[0]];
	for (uint32_t k = 0; k < p->counts[p->n]; k++) {
		for (uint32_t i = 0; i < n; i++)
			column[i] = p->bins[sample[i] * p->stride + k];
		profile_sort(column, work, n, p->n_bins);
		pivot[k] = column[n / 2];
	}
}

/* A vote is not above the rank-th largest distance, which here means: half of the others, and one
 * more that may be the member itself, are at most `reach` from the pivot. */
static size_t reach_rank(uint32_t n_all)
{
	return n_all / 2;
}

static void bounds_even(const struct profiles *p, uint32_t *sums, double *ret)
{
	uint32_t reach;

	profiles_sums(p, p->n, 0, p->n, sums);
	reach = kernels_select(
		kernels_best(), sums, p->n, reach_rank(p->n), profiles_sum_max(p, p->n));
	for (uint32_t i = 0; i < p->n; i++)
		ret[i] = (double)(sums[i] + reach) / p->counts[i];
}

static void bounds_uneven(const struct profiles *p, uint64_t *keys, double *ret)
{
	double reach;

	profiles_distance_keys(p, p->n, keys);
	for (uint32_t i = 0; i < p->n; i++)
		ret[i] = order_value(keys[i]);
	reach = order_value(order_select(keys, p->n, reach_rank(p->n)));
	for (uint32_t i = 0; i < p->n; i++)
		ret[i] = (ret[i] + reach) * (1 + ROUNDING);
}

int prune_bounds(const struct profiles *p, struct measure_scratch *scratch, double *ret)
{
	uint64_t *work = scratch_get(scratch, SCRATCH_SELECT, p->n, sizeof(*work));

	if (!work)
		return -ENOMEM;
	if (p->n == 0)
		return 0;
	make_pivot(p);
	if (p->even)
		bounds_even(p, (uint32_t *)work, ret);
	else
		bounds_uneven(p, work, ret);
	return 0;
}
