/* The distance of cumulative histograms: how many bins two members are apart. The thesis' measure,
 * and the default. */
#include "detect/dominance.h"
#include "detect/prune.h"
#include "detect/scratch.h"
#include <errno.h>

static int cdf_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct profiles p;
	uint64_t *work;
	int r = profiles_fill(w, scratch, &p);

	if (r < 0)
		return r;
	work = scratch_get(scratch, SCRATCH_SELECT, p.n, sizeof(*work));
	if (!work)
		return -ENOMEM;
	n = members ? n : w->n_members;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = p.places[members ? members[i] : i];

		ret_votes[i] = place == UINT32_MAX ? NAN : profiles_vote(&p, place, work);
	}
	return 0;
}

/* With fewer undecided members than this, or in smaller groups, all their distances cost less than
 * what dominance needs. */
#define MANY_UNDECIDED 8
#define LARGE_GROUP 256

/* Exact votes of those that `bounds` do not decide. */
static int cdf_decide(const struct profiles *p, const double *thresholds, const double *bounds,
	struct measure_scratch *scratch, double *ret_votes)
{
	uint32_t n_undecided = 0, n_outer;
	struct dominance d = {0};
	uint64_t *work;
	bool dominance;
	int r = 0;

	for (uint32_t i = 0; i < p->n; i++)
		n_undecided += !(bounds[i] <= thresholds[p->members[i]]);
	n_outer = n_undecided > p->n / 128 ? 2 * n_undecided : p->n / 64;
	dominance = p->n >= LARGE_GROUP && n_undecided >= MANY_UNDECIDED && n_outer <= p->n / 4;
	if (dominance)
		r = dominance_make(p, bounds, n_outer, scratch, &d);
	work = scratch_get(scratch, SCRATCH_SELECT, p->n, sizeof(*work));
	if (r < 0 || !work)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t m = p->members[i];

		ret_votes[m] = bounds[i];
		if (bounds[i] <= thresholds[m])
			continue;
		ret_votes[m] = dominance ? dominance_vote(&d, p, i, work) : NAN;
		if (isnan(ret_votes[m]))
			ret_votes[m] = profiles_vote(p, i, work);
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
