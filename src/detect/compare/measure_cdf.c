/* The distance of cumulative histograms: how many bins two members are apart. The measure of the
 * thesis, and the default. */
#include "base/slices.h"
#include "detect/compare/dominance.h"
#include "detect/compare/measure.h"
#include "detect/compare/profile.h"
#include <errno.h>
#include <omp.h>

/* The data for exact votes. */
struct voting {
	const struct profiles *p;
	const struct dominance *d; /* NULL: not worth it */
	unsigned n_threads;
	uint64_t *work; /* room for p->n items per thread */
};

static int voting_init(struct voting *v, struct measure_scratch *scratch)
{
	v->n_threads = scratch_threads(v->p->n);
	v->work = scratch_get(
		scratch, SCRATCH_SELECT, (size_t)v->p->n * v->n_threads, sizeof(*v->work));
	return v->work ? 0 : -ENOMEM;
}

static double voting_vote(const struct voting *v, uint32_t place)
{
	size_t thread = v->n_threads > 1 ? (size_t)omp_get_thread_num() : 0;
	uint64_t *work = v->work + thread * v->p->n;
	double vote;

	slices_rest();
	vote = v->d ? dominance_vote(v->d, v->p, place, work) : NAN;
	return isnan(vote) ? profiles_vote(v->p, place, work) : vote;
}

static int cdf_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct profiles p;
	struct voting v = {.p = &p};
	int r = profiles_fill(w, scratch, &p);

	if (r == 0)
		r = voting_init(&v, scratch);
	if (r < 0)
		return r;
	n = members ? n : w->n_members;
#pragma omp parallel for schedule(dynamic) num_threads(v.n_threads) if (v.n_threads > 1)
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = p.places[members ? members[i] : i];

		ret_votes[i] = place == UINT32_MAX ? NAN : voting_vote(&v, place);
	}
	return 0;
}

/* With fewer undecided members than this, or in smaller groups, computing all distances costs less
 * than dominance. */
#define MANY_UNDECIDED 8
#define LARGE_GROUP 256

/* Is dominance worth its cost? If so, set the number of outer profiles. */
static bool want_dominance(const struct profiles *p, const double *thresholds, const double *bounds,
	uint32_t *ret_n_outer)
{
	uint32_t n_undecided = 0, n_outer;

	for (uint32_t i = 0; i < p->n; i++)
		n_undecided += !(bounds[i] <= thresholds[p->members[i]]);
	if (p->n < LARGE_GROUP || n_undecided < MANY_UNDECIDED)
		return false;
	n_outer = n_undecided > p->n / 128 ? 2 * n_undecided : p->n / 64;
	*ret_n_outer = n_outer;
	return n_outer <= p->n / 4;
}

/* Compute exact votes for the members that `bounds` do not decide. */
static int cdf_decide(const struct profiles *p, const double *thresholds, const double *bounds,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct dominance d;
	struct voting v = {.p = p};
	uint32_t n_outer = 0;
	int r = 0;

	slices_rest();
	if (want_dominance(p, thresholds, bounds, &n_outer)) {
		r = dominance_make(p, bounds, n_outer, scratch, &d);
		v.d = &d;
	}
	if (r == 0)
		r = voting_init(&v, scratch);
	if (r < 0)
		return r;
#pragma omp parallel for schedule(dynamic, 64) num_threads(v.n_threads) if (v.n_threads > 1)
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t m = p->members[i];

		ret_votes[m] = bounds[i] <= thresholds[m] ? bounds[i] : voting_vote(&v, i);
	}
	return 0;
}

static int cdf_exceed(const struct window *w, const double *thresholds,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct profiles p;
	double *bounds;
	int r = profiles_fill(w, scratch, &p);

	if (r < 0)
		return r;
	bounds = scratch_get(scratch, SCRATCH_DISTANCE, p.n, sizeof(*bounds));
	r = bounds ? prune_bounds(&p, scratch, bounds) : -ENOMEM;
	for (uint32_t m = 0; m < w->n_members; m++)
		ret_votes[m] = NAN;
	if (r < 0 || p.n < 2)
		return r;
	return cdf_decide(&p, thresholds, bounds, scratch, ret_votes);
}

extern const struct measure measure_cdf;
const struct measure measure_cdf = {
	.name = "cdf",
	.help = "distance of cumulative histograms, in bins of Freedman and Diaconis' width",
	.defaults = {.smooth = 15, .win_size = 60, .win_shift = 30, .k = 3},
	.pairwise = true,
	.votes = cdf_votes,
	.exceed = cdf_exceed,
};
