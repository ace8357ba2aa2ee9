/* Order statistics without sorting everything: the value at a given rank, in linear time whatever
 * the values are.
 *
 * They work on keys: unsigned integers that are in the same order as the doubles they are made of,
 * so that digits can be counted. */
#ifndef DETECT_COMPARE_ORDER_H
#define DETECT_COMPARE_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A key for `v`, which is not NaN. Zeros of both signs are one. */
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

/* The `rank`-th smallest of n > 0 keys, which are shuffled. */
uint64_t order_select(uint64_t *keys, size_t n, size_t rank);

/* The quantile `p` (0 .. 1) of n > 0 keys by linear interpolation (R's type 7). */
double order_quantile(const uint64_t *keys, size_t n, double p, uint64_t *work);

/* The same for several at once, at most ORDER_QUANTILES_MAX. */
#define ORDER_QUANTILES_MAX 4
void order_quantiles(
	const uint64_t *keys, size_t n, const double *p, unsigned n_p, uint64_t *work, double *ret);

#endif
