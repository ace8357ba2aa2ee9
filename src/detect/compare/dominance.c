#include "detect/compare/dominance.h"

#include "base/median.h"
#include "detect/compare/kernels.h"
#include "detect/compare/measure.h"
#include <errno.h>
#include <string.h>

/* The spare profiles: the pivot, the envelope, and zeros. The distance from zeros is a sum. */
enum { PIVOT, HIGH, LOW, ZERO, N_SPARE };

_Static_assert(N_SPARE <= PROFILES_SPARE, "there must be room for the spare profiles");

static uint16_t *spare(const struct profiles *p, unsigned which)
{
	return p->bins + ((size_t)p->n + which) * p->stride;
}

/* Sort by bytes, from the lowest byte to the highest one that any number uses. */
static void sort_sums(uint32_t *v, uint32_t *work, uint32_t n)
{
	uint32_t all = 0, *from = v, *to = work;

	for (uint32_t i = 0; i < n; i++)
		all |= v[i];
	for (unsigned shift = 0; shift < 32 && all >> shift; shift += 8) {
		uint32_t starts[257] = {0}, *other = from;

		for (uint32_t i = 0; i < n; i++)
			starts[((from[i] >> shift) & 255U) + 1]++;
		for (unsigned b = 1; b < 256; b++)
			starts[b] += starts[b - 1];
		for (uint32_t i = 0; i < n; i++)
			to[starts[(from[i] >> shift) & 255U]++] = from[i];
		from = to;
		to = other;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}

/* The smallest bound among the `n_outer` farthest. */
static int find_cutoff(const struct profiles *p, const double *bounds, uint32_t n_outer,
	struct measure_scratch *scratch, double *ret)
{
	uint64_t *keys = scratch_get(scratch, SCRATCH_KEYS, p->n, sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++)
		keys[i] = order_key(bounds[i]);
	*ret = order_value(order_select(keys, p->n, p->n - n_outer));
	return 0;
}

static void widen(uint16_t *restrict high, uint16_t *restrict low, const uint16_t *restrict row,
	size_t stride)
{
#pragma omp simd
	for (size_t k = 0; k < stride; k++) {
		int16_t v = (int16_t)row[k], h = (int16_t)high[k], l = (int16_t)low[k];

		high[k] = (uint16_t)(v > h ? v : h);
		low[k] = (uint16_t)(v < l ? v : l);
	}
}

/* Sort every profile into inner, outer or odd. */
static void divide(
	struct dominance *d, const struct profiles *p, const double *bounds, double cutoff)
{
	size_t row_size = p->stride * sizeof(*p->bins);
	uint16_t *high = spare(p, HIGH), *low = spare(p, LOW);

	memset(high, 0, row_size);
	memset(low, 0x7f, row_size);
	for (uint32_t i = 0; i < p->n; i++) {
		const uint16_t *row = p->bins + i * p->stride;

		if (p->counts[i] != p->counts[p->n]) {
			d->odd[d->n_odd++] = i;
		} else if (bounds[i] < cutoff) {
			d->inner[d->n_inner++] = d->sums[i];
			widen(high, low, row, p->stride);
		} else {
			memcpy(d->outer + d->n_outer++ * p->stride, row, row_size);
		}
	}
}

int dominance_make(const struct profiles *p, const double *bounds, uint32_t n_outer,
	struct measure_scratch *scratch, struct dominance *ret)
{
	struct dominance d = {0};
	double cutoff;
	uint32_t *sums = scratch_get(scratch, SCRATCH_SUMS, (size_t)p->n * 4, sizeof(*sums));
	int r = find_cutoff(p, bounds, n_outer, scratch, &cutoff);

	/* With equal bounds there may be more outer ones than requested. */
	d.outer = scratch_get(scratch, SCRATCH_VALUES, p->n * p->stride, sizeof(*d.outer));
	if (r < 0 || !sums || !d.outer)
		return -ENOMEM;
	d.sums = sums;
	d.inner = sums + p->n;
	d.odd = sums + (size_t)p->n * 2;
	memset(spare(p, ZERO), 0, p->stride * sizeof(*p->bins));
	profiles_sums(p, p->n + ZERO, 0, p->n, d.sums);
	divide(&d, p, bounds, cutoff);
	sort_sums(d.inner, sums + (size_t)p->n * 3, d.n_inner);
	*ret = d;
	return 0;
}

static bool dominates(const uint16_t *a, const uint16_t *b, size_t n)
{
	bool all = true;

	for (size_t i = 0; i < n; i++)
		all &= a[i] >= b[i];
	return all;
}

/* The number of inner sums below `limit`. */
static uint32_t inner_below(const struct dominance *d, uint64_t limit)
{
	uint32_t from = 0, to = d->n_inner;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (d->inner[middle] < limit)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The distances of one profile. */
struct view {
	const struct dominance *d;
	bool above;	       /* it dominates; otherwise it is dominated */
	uint32_t sum, n;       /* of its bin numbers; their number */
	const uint32_t *outer; /* distances to the outer ones, times n */
	const uint64_t *odd;   /* distances to the odd ones, as keys (base/median.h) */
};

/* The number of distances that are at most x / n. */
static size_t view_count(const struct view *v, uint32_t x)
{
	uint64_t limit = order_key((double)x / v->n);
	size_t found = kernels_best()->count_to(v->outer, v->d->n_outer, x);

	if (!v->above)
		found += inner_below(v->d, (uint64_t)v->sum + x + 1);
	else
		found += v->d->n_inner - (v->sum > x ? inner_below(v->d, v->sum - x) : 0);
	for (uint32_t i = 0; i < v->d->n_odd; i++)
		found += v->odd[i] <= limit;
	return found;
}

/* Is the distance to an odd profile between x - 1 and x? Then the vote may be that distance. */
static bool view_between(const struct view *v, uint32_t x)
{
	uint64_t low = order_key(((double)x - 1) / v->n), high = order_key((double)x / v->n);
	bool any = false;

	for (uint32_t i = 0; i < v->d->n_odd; i++)
		any |= v->odd[i] > low && v->odd[i] < high;
	return any;
}

static double view_select(const struct view *v, size_t rank, uint32_t high)
{
	uint32_t low = 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (view_count(v, middle) > rank)
			high = middle;
		else
			low = middle + 1;
	}
	return view_between(v, low) ? NAN : (double)low / v->n;
}

double dominance_vote(
	const struct dominance *d, const struct profiles *p, uint32_t self, uint64_t *work)
{
	const uint16_t *own = p->bins + self * p->stride;
	uint32_t *outer = (uint32_t *)(work + d->n_odd);
	struct view v = {d, dominates(own, spare(p, HIGH), p->stride), d->sums[self],
		p->counts[self], outer, work};

	if (v.n != p->counts[p->n] || (!v.above && !dominates(spare(p, LOW), own, p->stride)))
		return NAN;
	kernels_best()->differences(own, d->outer, p->stride, d->n_outer, outer);
	for (uint32_t i = 0; i < d->n_odd; i++)
		work[i] = order_key(profiles_distance(p, self, d->odd[i]));
	return view_select(&v, vote_rank(p->n), profiles_sum_max(p, self));
}
