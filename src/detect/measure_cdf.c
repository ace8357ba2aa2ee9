/* The distance of cumulative histograms: how many bins two members are apart. The thesis' measure,
 * and the default. */
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

static int cdf_exceed(const struct window *w, const double *thresholds,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct profiles p;
	double *bounds;
	uint64_t *work;
	int r = profiles_fill(w, scratch, &p);

	if (r < 0)
		return r;
	work = scratch_get(scratch, SCRATCH_SELECT, p.n, sizeof(*work));
	bounds = scratch_get(scratch, SCRATCH_DISTANCE, p.n, sizeof(*bounds));
	r = work && bounds ? prune_bounds(&p, scratch, bounds) : -ENOMEM;
	if (r < 0)
		return r;
	for (uint32_t m = 0; m < w->n_members; m++)
		ret_votes[m] = NAN;
	for (uint32_t i = 0; p.n > 1 && i < p.n; i++) {
		uint32_t m = p.members[i];

		ret_votes[m] = bounds[i] <= thresholds[m] ? bounds[i] : profiles_vote(&p, i, work);
	}
	return 0;
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
