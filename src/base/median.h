/* Medians and other order statistics: of a few numbers (the median of an even number is the mean of
 * the middle two), and of very many numbers, in linear time for any values. */
#ifndef BASE_MEDIAN_H
#define BASE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The median of n numbers without NaN, which are reordered; NaN if n is 0. */
double median_of(double *values, uint32_t n);

/* The same for sorted numbers, which are not changed. */
double median_of_sorted(const double *values, uint32_t n);

/* The quantile `p` (0 .. 1) of sorted numbers by linear interpolation (R's type 7); NaN if n is
 * 0. */
double quantile_of_sorted(const double *values, size_t n, double p);

/* A summary of n numbers that gives the median of all but any one of them. */
struct median_split {
	double below, middle,
		above; /* in order: the middle one (or the upper of two) and its neighbours */
	uint32_t n;
};

/* Split n numbers without NaN, which are reordered. */
struct median_split median_split(double *values, uint32_t n);

/* The median of all of them; NaN if n is 0. */
double median_of_all(const struct median_split *split);

/* The median of all except one number, `own`; NaN if there are no others. */
double median_of_others(const struct median_split *split, double own);

/* Sort in ascending order; there must be no NaN. */
void median_sort(double *values, size_t n);

/* The functions for very many numbers work on keys: unsigned integers with the same order as the
 * doubles, so that digits can be counted.
 *
 * order_key() makes a key from `v`, which is not NaN. Zeros of both signs have the same key. */
static inline uint64_t order_key(double v)
{
	uint64_t bits;

	v += 0.0;
	memcpy(&bits, &v, sizeof(bits));
	return bits ^ ((uint64_t) - (int64_t)(bits >> 63) | (UINT64_C(1) << 63));
}

static inline double order_value(uint64_t key)
{
	uint64_t bits = key ^ (((key >> 63) - 1) | (UINT64_C(1) << 63));
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* ret[i]: the ranks[i]-th smallest (0: the smallest) of `n` > 0 keys; ranks are below n.
 * `work` has room for n keys and must not be `keys`. */
void order_ranks(const uint64_t *keys, size_t n, const size_t *ranks, unsigned n_ranks,
	uint64_t *work, uint64_t *ret);

/* The `rank`-th smallest of n > 0 keys, which are reordered. */
uint64_t order_select(uint64_t *keys, size_t n, size_t rank);

/* The quantile `p` (0 .. 1) of n > 0 keys by linear interpolation (R's type 7). */
double order_quantile(const uint64_t *keys, size_t n, double p, uint64_t *work);

/* The same for several at once, at most ORDER_QUANTILES_MAX. */
#define ORDER_QUANTILES_MAX 4
void order_quantiles(
	const uint64_t *keys, size_t n, const double *p, unsigned n_p, uint64_t *work, double *ret);

#endif
