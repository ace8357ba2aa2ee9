#include "detect/compare/profile.h"

#include "detect/compare/kernels.h"
#include "detect/compare/order.h"
#include "detect/compare/scratch.h"
#include <errno.h>
#include <omp.h>
#include <string.h>

/* By five bits, of which two make a bin number. */
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

/* The bins of those of the n values that are usable, to `out`; how many these are. */
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

/* Behind the spare profiles each thread has a row to sort in. */
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
