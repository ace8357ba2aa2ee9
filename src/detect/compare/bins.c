#include "detect/compare/bins.h"

#include "detect/compare/order.h"
#include "detect/compare/scratch.h"
#include <errno.h>

/* The usable ones of n values, to `out`; how many. */
static uint32_t usable_add(const double *restrict row, uint32_t n, double *restrict out)
{
	uint32_t usable = 0, found = 0;

#pragma omp simd reduction(+ : usable)
	for (uint32_t i = 0; i < n; i++) {
		out[i] = row[i];
		usable += value_usable(row[i]);
	}
	for (uint32_t i = 0; usable < n && i < n; i++) {
		out[found] = row[i];
		found += value_usable(row[i]);
	}
	return usable;
}

int window_values_fill(
	const struct window *w, struct measure_scratch *scratch, struct window_values *ret)
{
	double low = INFINITY, high = -INFINITY;
	double *values = scratch_get(
		scratch, SCRATCH_VALUES, (size_t)w->n_members * w->n_samples + 1, sizeof(*values));
	size_t n = 0;

	if (!values)
		return -ENOMEM;
	for (uint32_t m = 0; m < w->n_members; m++) {
		if (w->rows[m])
			n += usable_add(w->rows[m], w->n_samples, values + n);
	}
#pragma omp simd reduction(min : low) reduction(max : high)
	for (size_t i = 0; i < n; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	*ret = (struct window_values){values, n, low, high};
	return 0;
}

struct bins bins_equal(const struct window_values *all, uint32_t n)
{
	struct bins b = {all->low, 0, 0};

	if (all->n == 0)
		return b;
	b.size = (all->high - all->low) / n;
	b.n = b.size > 0 ? n : 0;
	return b;
}

uint32_t bins_sturges(uint32_t n_samples)
{
	uint32_t bits = 0;

	while (bits < 32 && UINT64_C(1) << bits < n_samples)
		bits++;
	return bits + 1;
}

static double iqr(const uint64_t *keys, size_t n, uint64_t *work)
{
	static const double quarters[2] = {0.25, 0.75};
	double q[2];

	order_quantiles(keys, n, quarters, 2, work, q);
	return q[1] - q[0];
}

static double median_deviation(uint64_t *keys, const struct window_values *all, uint64_t *work)
{
	double median = order_quantile(keys, all->n, 0.5, work);

	for (size_t i = 0; i < all->n; i++)
		keys[i] = order_key(fabs(all->values[i] - median));
	return order_quantile(keys, all->n, 0.5, work);
}

int bins_freedman(const struct window_values *all, uint32_t n_samples, bool robust,
	struct measure_scratch *scratch, struct bins *ret)
{
	struct bins b = bins_equal(all, BINS_MAX);
	double size, n;
	uint64_t *keys, *work;

	if (all->n == 0 || all->low == all->high) {
		*ret = b;
		return 0;
	}
	keys = scratch_get(scratch, SCRATCH_KEYS, all->n, sizeof(*keys));
	work = scratch_get(scratch, SCRATCH_SELECT, all->n, sizeof(*work));
	if (!keys || !work)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++)
		keys[i] = order_key(all->values[i]);
	size = robust ? median_deviation(keys, all, work) : iqr(keys, all->n, work);
	size = 2 * size * pow(n_samples, -1.0 / 3);
	n = ceil((all->high - all->low) / size);
	if (size > 0 && n <= BINS_MAX) {
		b.size = size;
		b.n = (uint32_t)n;
	}
	*ret = b;
	return 0;
}
