#include "detect/timeseries.h"

#include "base/cleanup.h"
#include "detect/order.h"
#include <errno.h>
#include <stdlib.h>

#define WIDTH_US INT64_C(31000000)

uint32_t timeseries_width(int64_t step_us)
{
	int64_t width = step_us > 0 ? (WIDTH_US + step_us / 2) / step_us : 1;

	return width < 1 ? 1 : width > UINT32_MAX ? UINT32_MAX : (uint32_t)width;
}

static double log_of(double v)
{
	return value_usable(v) ? log2(fmax(v, 2)) : NAN;
}

/* One slot of all members, from logarithms to ratios. */
static void compare_slot(
	const struct smoothed *s, size_t slot, bool less_is_worse, uint64_t *keys, double *ret)
{
	uint64_t *work = keys + s->n_members;
	size_t n = 0;
	double median;

	for (uint32_t m = 0; m < s->n_members; m++) {
		double own = ret[(size_t)m * s->n_slots + slot];

		keys[n] = order_key(own);
		n += !isnan(own);
	}
	median = n > 1 ? order_quantile(keys, n, 0.5, work) : NAN;
	for (uint32_t m = 0; m < s->n_members; m++) {
		double *own = &ret[(size_t)m * s->n_slots + slot];

		*own = less_is_worse ? median / *own : *own / median;
	}
}

static int compare(const struct smoothed *s, bool less_is_worse, double *ret)
{
	int failed = 0;

#pragma omp parallel reduction(min : failed)
	{
		_cleanup_free_ uint64_t *keys =
			calloc(2 * ((size_t)s->n_members + 1), sizeof(*keys));

		failed = keys ? 0 : -ENOMEM;
#pragma omp for schedule(static)
		for (uint32_t slot = 0; slot < s->n_slots; slot++) {
			if (keys)
				compare_slot(s, slot, less_is_worse, keys, ret);
		}
	}
	return failed;
}

int timeseries_votes(const struct group_data *g, uint32_t width, bool less_is_worse, double *ret)
{
	_cleanup_(smoothed_release) struct smoothed s = {0};
	int r = smooth_group(g, width, &s);

	if (r < 0)
		return r;
#pragma omp parallel for schedule(static)
	for (uint32_t m = 0; m < s.n_members; m++) {
		for (size_t i = 0; i < s.n_slots; i++)
			ret[m * (size_t)s.n_slots + i] =
				s.rows[m] && i >= width / 2 ? log_of(s.rows[m][i]) : NAN;
	}
	return compare(&s, less_is_worse, ret);
}
