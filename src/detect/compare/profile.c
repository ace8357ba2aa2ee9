#include "detect/compare/profile.h"

#include "base/median.h"
#include "base/slices.h"
#include "detect/compare/kernels.h"
#include "detect/compare/measure.h"
#include <errno.h>
#include <omp.h>
#include <string.h>

/* Copy the usable values of a row to `out`; returns their number. */
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
		slices_rest_at(m);
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
	slices_rest();
	for (size_t i = 0; i < all->n; i++)
		keys[i] = order_key(all->values[i]);
	slices_rest();
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

/* Sort by five bits; a bin number has two such digits. */
static void sort_pass(const uint16_t *in, uint16_t *out, uint32_t n, unsigned shift)
{
	uint32_t starts[33] = {0};

	for (uint32_t i = 0; i < n; i++)
		starts[((in[i] >> shift) & 31U) + 1]++;
	for (unsigned d = 1; d < 32; d++)
		starts[d] += starts[d - 1];
	for (uint32_t i = 0; i < n; i++)
		out[starts[(in[i] >> shift) & 31U]++] = in[i];
}

void profile_sort(uint16_t *bins, uint16_t *work, uint32_t n, uint32_t n_bins)
{
	_Static_assert(BINS_MAX <= 1 << 10, "two passes of five bits sort bin numbers");
	if (n_bins < 2)
		return;
	sort_pass(bins, work, n, 0);
	if (n_bins > 32)
		sort_pass(work, bins, n, 5);
	else
		memcpy(bins, work, n * sizeof(*bins));
}

/* Write the bins of the usable values of a row to `out`; returns their number. */
static uint32_t profile_bins(
	const double *restrict row, uint32_t n, const struct bins *b, uint16_t *restrict out)
{
	uint32_t usable = 0, found = 0;
	struct bins bins = *b;

#pragma omp simd reduction(+ : usable)
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (uint16_t)bins_of(&bins, row[i]);
		usable += value_usable(row[i]);
	}
	for (uint32_t i = 0; usable < n && i < n; i++) {
		out[found] = out[i];
		found += value_usable(row[i]);
	}
	if (b->n == 0)
		memset(out, 0, n * sizeof(*out));
	return usable;
}

/* After the spare profiles each thread has a row to sort in. */
static void profiles_sort(
	const struct window *w, const struct bins *b, struct profiles *p, unsigned n_threads)
{
	uint16_t *work = p->bins + ((size_t)p->n + PROFILES_SPARE) * p->stride;
	uint32_t fewest = UINT32_MAX, most = 0;

#pragma omp parallel for schedule(static) num_threads(n_threads) reduction(min                     \
									   : fewest)               \
	reduction(max                                                                              \
		  : most)
	for (uint32_t i = 0; i < p->n; i++) {
		uint16_t *out = p->bins + i * p->stride;
		uint32_t n = profile_bins(w->rows[p->members[i]], w->n_samples, b, out);

		slices_rest_at(i);
		profile_sort(out, work + (n_threads > 1 ? omp_get_thread_num() : 0) * p->stride, n,
			b->n);
		memset(out + n, 0, (p->stride - n) * sizeof(*out));
		p->counts[i] = n;
		fewest = n < fewest ? n : fewest;
		most = n > most ? n : most;
	}
	p->even = fewest >= most;
}

static bool has_data(const struct window *w, uint32_t member)
{
	const double *row = w->rows[member];

	for (uint32_t i = 0; row && i < w->n_samples; i++) {
		if (value_usable(row[i]))
			return true;
	}
	return false;
}

static uint32_t find_members(const struct window *w, uint32_t *members, uint32_t *places)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m < w->n_members; m++) {
		slices_rest_at(m);
		places[m] = has_data(w, m) ? n : UINT32_MAX;
		if (places[m] != UINT32_MAX)
			members[n++] = m;
	}
	return n;
}

int profiles_fill(const struct window *w, struct measure_scratch *scratch, struct profiles *ret)
{
	struct profiles p = {
		.stride = (w->n_samples + KERNEL_UNIT - 1) / KERNEL_UNIT * KERNEL_UNIT};
	uint32_t *members = scratch_get(scratch, SCRATCH_MEMBERS, w->n_members, sizeof(*members));
	uint32_t *places = scratch_get(scratch, SCRATCH_PLACES, w->n_members, sizeof(*places));
	uint32_t *counts = scratch_get(
		scratch, SCRATCH_COUNTS, (size_t)w->n_members + PROFILES_SPARE, sizeof(*counts));
	unsigned n_threads;
	struct window_values all;
	struct bins b = {0};
	int r;

	if (w->n_samples > PROFILE_SAMPLES_MAX)
		return -ERANGE;
	if (!members || !places || !counts)
		return -ENOMEM;
	p.n = find_members(w, members, places);
	p.members = members;
	p.places = places;
	p.counts = counts;
	n_threads = scratch_threads(p.n);
	p.bins = scratch_get(scratch, SCRATCH_BINS,
		((size_t)p.n + PROFILES_SPARE + n_threads) * p.stride, sizeof(*p.bins));
	if (!p.bins)
		return -ENOMEM;
	r = window_values_fill(w, scratch, &all);
	if (r == 0)
		r = bins_freedman(&all, w->n_samples, p.n < 5, scratch, &b);
	if (r < 0)
		return r;
	p.n_bins = b.n;
	profiles_sort(w, &b, &p, n_threads);
	*ret = p;
	return 0;
}

/* sum over bins |A*nb - B*na| where A and B count the values up to and including that bin. */
static uint64_t sum_uneven(const uint16_t *a, uint32_t na, const uint16_t *b, uint32_t nb)
{
	uint64_t sum = 0, ca = 0, cb = 0;
	uint32_t at = 0;

	while (ca < na || cb < nb) {
		uint32_t next = UINT32_MAX;
		uint64_t left = ca * nb, right = cb * na;

		if (ca < na)
			next = a[ca];
		if (cb < nb && b[cb] < next)
			next = b[cb];
		sum += (next - at) * (left > right ? left - right : right - left);
		for (at = next; ca < na && a[ca] == at; ca++)
			;
		for (; cb < nb && b[cb] == at; cb++)
			;
	}
	return sum;
}

#define PIECE 1024U

void profiles_sums(
	const struct profiles *p, uint32_t from, uint32_t first, uint32_t n, uint32_t *ret)
{
	const struct kernels *k = kernels_best();
	const uint16_t *own = p->bins + from * p->stride, *all = p->bins + first * p->stride;
	unsigned n_threads = n >= PIECE ? scratch_threads(n) : 1;

	if (n_threads == 1) {
		k->differences(own, all, p->stride, n, ret);
		return;
	}
#pragma omp parallel for schedule(static) num_threads(n_threads)
	for (uint32_t i = 0; i < n; i += PIECE)
		k->differences(own, all + i * p->stride, p->stride, n - i < PIECE ? n - i : PIECE,
			ret + i);
}

double profiles_distance(const struct profiles *p, uint32_t a, uint32_t b)
{
	uint32_t na = p->counts[a], nb = p->counts[b], sum = 0;

	if (na == nb) {
		profiles_sums(p, a, b, 1, &sum);
		return (double)sum / na;
	}
	return (double)sum_uneven(p->bins + a * p->stride, na, p->bins + b * p->stride, nb) /
		((double)na * nb);
}

void profiles_distance_keys(const struct profiles *p, uint32_t from, uint64_t *ret)
{
	uint32_t sums[256], block = 256;

	for (uint32_t first = 0; first < p->n; first += block) {
		uint32_t n = p->n - first < block ? p->n - first : block;

		profiles_sums(p, from, first, n, sums);
		for (uint32_t i = 0; i < n; i++) {
			bool even = p->counts[first + i] == p->counts[from];

			ret[first + i] = order_key(even ? (double)sums[i] / p->counts[from]
							: profiles_distance(p, from, first + i));
		}
	}
}

double profiles_vote(const struct profiles *p, uint32_t self, uint64_t *work)
{
	uint32_t *sums = (uint32_t *)work;

	if (p->n < 2)
		return NAN;
	if (p->even) {
		profiles_sums(p, self, 0, p->n, sums);
		return (double)kernels_select(kernels_best(), sums, p->n, vote_rank(p->n),
			       profiles_sum_max(p, self)) /
			p->counts[self];
	}
	profiles_distance_keys(p, self, work);
	return order_value(order_select(work, p->n, vote_rank(p->n)));
}

/* The pivot is made of this many members. */
#define SAMPLE 63U

/* Larger than the relative rounding errors of two quotients and their sum. */
#define ROUNDING 1e-12

/* Members for the pivot, spread over the group and with the median number of values; returns their
 * number. */
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
	uint16_t *pivot = p->bins + p->n * p->stride, column[SAMPLE + 1] = {0}, work[SAMPLE + 1];
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

/* A vote is not above the rank-th largest distance. Here this means: half of the others, and one
 * more that may be the member itself, are at most `reach` away from the pivot. */
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
	slices_rest();
	make_pivot(p);
	if (p->even)
		bounds_even(p, (uint32_t *)work, ret);
	else
		bounds_uneven(p, work, ret);
	return 0;
}
