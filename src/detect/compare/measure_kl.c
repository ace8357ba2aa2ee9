/* The symmetric Kullback-Leibler divergence of histograms, as in the first version of the method.
 *
 * A bin without values would make it infinite. So half a value is added to every bin of every
 * member (Jeffreys' prior). Logarithms are natural. */
#include "base/median.h"
#include "detect/compare/measure.h"
#include "detect/compare/profile.h"
#include <errno.h>

/* Histograms of the members with data. */
struct histograms {
	uint32_t n, n_bins;
	uint32_t *members; /* [histogram] its index in the window */
	double *p, *ln_p;  /* [histogram * n_bins + bin] fractions and their logarithms */
};

/* Fill histogram number h->n from a row; false if the row has no value. */
static bool histogram_fill(
	struct histograms *h, const double *row, uint32_t n_samples, const struct bins *b)
{
	double *p = h->p + (size_t)h->n * h->n_bins, *ln_p = h->ln_p + (size_t)h->n * h->n_bins;
	uint32_t n = 0;

	for (uint32_t k = 0; k < h->n_bins; k++)
		p[k] = 0.5;
	for (uint32_t i = 0; i < n_samples; i++) {
		if (!value_usable(row[i]))
			continue;
		p[b->n ? bins_of(b, row[i]) : 0]++;
		n++;
	}
	for (uint32_t k = 0; k < h->n_bins; k++) {
		p[k] /= n + 0.5 * h->n_bins;
		ln_p[k] = log(p[k]);
	}
	return n > 0;
}

static int histograms_fill(
	const struct window *w, struct measure_scratch *scratch, struct histograms *ret)
{
	struct histograms h = {.n_bins = bins_sturges(w->n_samples)};
	size_t n_cells = (size_t)w->n_members * h.n_bins;
	struct window_values all;
	struct bins b;
	int r = window_values_fill(w, scratch, &all);

	if (r < 0)
		return r;
	b = bins_equal(&all, h.n_bins);
	h.members = scratch_get(scratch, SCRATCH_MEMBERS, w->n_members, sizeof(*h.members));
	h.p = scratch_get(scratch, SCRATCH_BINS, 2 * n_cells, sizeof(*h.p));
	if (!h.members || !h.p)
		return -ENOMEM;
	h.ln_p = h.p + n_cells;
	for (uint32_t m = 0; m < w->n_members; m++) {
		if (w->rows[m] && histogram_fill(&h, w->rows[m], w->n_samples, &b))
			h.members[h.n++] = m;
	}
	*ret = h;
	return 0;
}

static double divergence(const struct histograms *h, uint32_t a, uint32_t b)
{
	const double *p = h->p + (size_t)a * h->n_bins, *q = h->p + (size_t)b * h->n_bins;
	const double *ln_p = h->ln_p + (size_t)a * h->n_bins;
	const double *ln_q = h->ln_p + (size_t)b * h->n_bins;
	double sum = 0;

	/* p ln(p/q) + q ln(q/p). No term is negative, so nothing cancels. */
	for (uint32_t k = 0; k < h->n_bins; k++)
		sum += (p[k] - q[k]) * (ln_p[k] - ln_q[k]);
	return sum / 2;
}

/* `keys` has room for one key per member. */
static double kl_vote(const struct histograms *h, uint32_t self, uint64_t *keys)
{
	if (h->n < 2)
		return NAN;
	for (uint32_t i = 0; i < h->n; i++)
		keys[i] = order_key(divergence(h, self, i));
	return order_value(order_select(keys, h->n, vote_rank(h->n)));
}

static int kl_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct histograms h;
	uint64_t *keys;
	int r = histograms_fill(w, scratch, &h);

	if (r < 0)
		return r;
	keys = scratch_get(scratch, SCRATCH_KEYS, h.n, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	n = members ? n : w->n_members;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t member = members ? members[i] : i, place = 0;

		while (place < h.n && h.members[place] < member)
			place++;
		ret_votes[i] =
			place < h.n && h.members[place] == member ? kl_vote(&h, place, keys) : NAN;
	}
	return 0;
}

extern const struct measure measure_kl;
const struct measure measure_kl = {
	.name = "kl",
	.help = "symmetric Kullback-Leibler divergence of histograms with Sturges' number of bins",
	.defaults = {.smooth = 5, .win_size = 64, .win_shift = 32, .k = 3},
	.pairwise = true,
	.votes = kl_votes,
};
