#include "detect/profile.h"

#include "detect/scratch.h"
#include <errno.h>
#include <string.h>

#define STRIDE_UNIT 16U

/* Sort by the lower, then the upper five bits: bin numbers are below 1024. */
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

/* One member's bins, sorted, to `out`; `work` has room for as many. Returns how many there are. */
static uint32_t profile_fill(
	const double *row, uint32_t n_samples, const struct bins *b, uint16_t *out, uint16_t *work)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_samples; i++) {
		if (value_usable(row[i]))
			out[n++] = b->n ? (uint16_t)bins_of(b, row[i]) : 0;
	}
	sort_pass(out, work, n, 0);
	sort_pass(work, out, n, 5);
	return n;
}

static void profiles_sort(
	const struct window *w, const struct bins *b, struct profiles *p, uint32_t *counts)
{
	uint16_t *work = p->bins + (size_t)p->n * p->stride;

	for (uint32_t i = 0; i < p->n; i++) {
		uint16_t *out = p->bins + i * p->stride;

		counts[i] = profile_fill(w->rows[p->members[i]], w->n_samples, b, out, work);
		memset(out + counts[i], 0, (p->stride - counts[i]) * sizeof(*out));
	}
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
		.stride = (w->n_samples + STRIDE_UNIT - 1) / STRIDE_UNIT * STRIDE_UNIT};
	uint32_t *members = scratch_get(scratch, SCRATCH_MEMBERS, w->n_members, sizeof(*members));
	uint32_t *places = scratch_get(scratch, SCRATCH_PLACES, w->n_members, sizeof(*places));
	uint32_t *counts = scratch_get(scratch, SCRATCH_COUNTS, w->n_members, sizeof(*counts));
	struct pool pool;
	struct bins b;
	int r;

	if (!members || !places || !counts)
		return -ENOMEM;
	p.n = find_members(w, members, places);
	p.members = members;
	p.places = places;
	p.counts = counts;
	/* One more is what the sorting works in. */
	p.bins = scratch_get(scratch, SCRATCH_BINS, ((size_t)p.n + 1) * p.stride, sizeof(*p.bins));
	if (!p.bins)
		return -ENOMEM;
	r = pool_fill(w, scratch, &pool);
	if (r == 0)
		r = bins_freedman(&pool, w->n_samples, p.n < 5, scratch, &b);
	if (r < 0)
		return r;
	p.n_bins = b.n;
	profiles_sort(w, &b, &p, counts);
	*ret = p;
	return 0;
}

/* sum |a[i] - b[i]| over n bin numbers. */
static uint64_t sum_even(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (uint64_t)(a[i] > b[i] ? a[i] - b[i] : b[i] - a[i]);
	return sum;
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

void profiles_distances(const struct profiles *p, uint32_t from, double *ret)
{
	const uint16_t *own = p->bins + from * p->stride;
	uint32_t n_own = p->counts[from];

	for (uint32_t i = 0; i < p->n; i++) {
		const uint16_t *other = p->bins + i * p->stride;
		uint32_t n = p->counts[i];

		ret[i] = n == n_own
			? (double)sum_even(own, other, p->stride) / n
			: (double)sum_uneven(own, n_own, other, n) / ((double)n_own * n);
	}
}
