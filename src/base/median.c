#include "base/median.h"

#include "base/slices.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Put the k-th smallest number at its place, and smaller ones before it. Hoare's selection; the
 * pivot is the middle element, which is good for sorted and constant input. */
static void select_kth(double *v, int64_t n, int64_t k)
{
	int64_t lo = 0, hi = n - 1;

	while (lo < hi) {
		double pivot = v[lo + (hi - lo) / 2];
		int64_t i = lo, j = hi;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double t = v[i];

				v[i++] = v[j];
				v[j--] = t;
			}
		}
		if (k <= j)
			hi = j;
		else if (k >= i)
			lo = i;
		else
			return;
	}
}

/* Avoids overflow if both are very large. */
static double middle(double a, double b)
{
	return a == b ? a : a / 2 + b / 2;
}

struct median_split median_split(double *values, uint32_t n)
{
	struct median_split s = {.below = -INFINITY, .middle = NAN, .above = INFINITY, .n = n};

	if (!n)
		return s;
	select_kth(values, n, n / 2);
	s.middle = values[n / 2];
	for (uint32_t i = 0; i < n / 2; i++)
		s.below = values[i] > s.below ? values[i] : s.below;
	for (uint32_t i = n / 2 + 1; i < n; i++)
		s.above = values[i] < s.above ? values[i] : s.above;
	return s;
}

double median_of_all(const struct median_split *split)
{
	return split->n % 2 || !split->n ? split->middle : middle(split->below, split->middle);
}

double median_of_others(const struct median_split *split, double own)
{
	if (split->n < 2)
		return NAN;
	/* It does not matter which of several equal ones is left out. */
	if (split->n % 2 == 0)
		return own <= split->below ? split->middle : split->below;
	return middle(own >= split->middle ? split->below : split->middle,
		own > split->middle ? split->middle : split->above);
}

double median_of(double *values, uint32_t n)
{
	double below;

	if (!n)
		return NAN;
	select_kth(values, n, n / 2);
	if (n % 2)
		return values[n / 2];
	below = values[0];
	for (uint32_t i = 1; i < n / 2; i++)
		below = values[i] > below ? values[i] : below;
	return middle(below, values[n / 2]);
}

double median_of_sorted(const double *values, uint32_t n)
{
	return n ? middle(values[(n - 1) / 2], values[n / 2]) : NAN;
}

double quantile_of_sorted(const double *values, size_t n, double p)
{
	double at = p * (double)(n ? n - 1 : 0);
	size_t below = (size_t)at;
	double share = at - (double)below; /* weight of the value above */

	if (!n)
		return NAN;
	if (below + 1 >= n)
		return values[n - 1];
	return values[below] * (1 - share) + values[below + 1] * share;
}

static int number_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void median_sort(double *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), number_compare);
}

#define DIGIT_BITS 10
#define N_DIGITS (1U << DIGIT_BITS)
#define FEW 24 /* this many or fewer are sorted */

/* The first digit in which the keys differ: (key - low) >> shift is below N_DIGITS. */
struct digits {
	uint64_t low;
	unsigned shift;
	bool equal; /* all keys are equal */
	uint32_t counts[N_DIGITS];
};

static void digits_count(struct digits *d, const uint64_t *keys, size_t n)
{
	uint64_t low = UINT64_MAX, high = 0;
	unsigned bits;

	for (size_t i = 0; i < n; i++) {
		low = keys[i] < low ? keys[i] : low;
		high = keys[i] > high ? keys[i] : high;
	}
	d->low = low;
	d->equal = low == high;
	if (d->equal)
		return;
	bits = 64 - (unsigned)__builtin_clzll(high - low);
	d->shift = bits > DIGIT_BITS ? bits - DIGIT_BITS : 0;
	memset(d->counts, 0, sizeof(d->counts));
	for (size_t i = 0; i < n; i++)
		d->counts[(keys[i] - low) >> d->shift]++;
}

/* The digit that contains `*rank`; `*rank` becomes the rank among the keys with that digit. */
static uint64_t digits_find(const struct digits *d, size_t *rank)
{
	uint64_t digit = 0;

	for (; *rank >= d->counts[digit]; digit++)
		*rank -= d->counts[digit];
	return digit;
}

/* Copy the keys with this digit to `out`, which may be `keys`. */
static size_t digits_take(
	const struct digits *d, uint64_t digit, const uint64_t *keys, size_t n, uint64_t *out)
{
	size_t taken = 0, want = d->counts[digit];

	/* Stop at the last one, so that all stores stay inside of `out`; the last store may be
	 * redundant. */
	for (size_t i = 0; i < n && taken < want; i++) {
		out[taken] = keys[i];
		taken += (keys[i] - d->low) >> d->shift == digit;
	}
	return taken;
}

static uint64_t select_few(uint64_t *keys, size_t n, size_t rank)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t key = keys[i];
		size_t k = i;

		for (; k > 0 && keys[k - 1] > key; k--)
			keys[k] = keys[k - 1];
		keys[k] = key;
	}
	return keys[rank];
}

uint64_t order_select(uint64_t *keys, size_t n, size_t rank)
{
	struct digits d;

	while (n > FEW) {
		digits_count(&d, keys, n);
		if (d.equal)
			return d.low;
		n = digits_take(&d, digits_find(&d, &rank), keys, n, keys);
	}
	return select_few(keys, n, rank);
}

void order_ranks(const uint64_t *keys, size_t n, const size_t *ranks, unsigned n_ranks,
	uint64_t *work, uint64_t *ret)
{
	struct digits d;

	digits_count(&d, keys, n);
	for (unsigned i = 0; i < n_ranks; i++) {
		size_t rank = ranks[i], taken;

		if (d.equal || (i > 0 && ranks[i] == ranks[i - 1])) {
			ret[i] = d.equal ? d.low : ret[i - 1];
			continue;
		}
		slices_rest(); /* there may be millions */
		taken = digits_take(&d, digits_find(&d, &rank), keys, n, work);
		ret[i] = order_select(work, taken, rank);
	}
}

void order_quantiles(
	const uint64_t *keys, size_t n, const double *p, unsigned n_p, uint64_t *work, double *ret)
{
	size_t ranks[2 * ORDER_QUANTILES_MAX] = {0};
	uint64_t found[2 * ORDER_QUANTILES_MAX];

	for (unsigned i = 0; i < n_p; i++) {
		double position = (double)(n - 1) * p[i];

		ranks[2 * i] = (size_t)floor(position);
		ranks[2 * i + 1] = (size_t)ceil(position);
	}
	order_ranks(keys, n, ranks, 2 * n_p, work, found);
	for (unsigned i = 0; i < n_p; i++) {
		double low = order_value(found[2 * i]), high = order_value(found[2 * i + 1]);
		double between = (double)(n - 1) * p[i] - (double)ranks[2 * i];

		ret[i] = low + between * (high - low);
	}
}

double order_quantile(const uint64_t *keys, size_t n, double p, uint64_t *work)
{
	double q;

	order_quantiles(keys, n, &p, 1, work, &q);
	return q;
}
