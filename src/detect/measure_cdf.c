/* The distance of cumulative histograms: how many bins two members are apart. The thesis' measure,
 * and the default. */
#include "detect/profile.h"
#include "detect/scratch.h"
#include "detect/vote.h"
#include <errno.h>

static int cdf_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	struct profiles p;
	double *distances;
	uint64_t *work;
	int r = profiles_fill(w, scratch, &p);

	if (r < 0)
		return r;
	distances = scratch_get(scratch, SCRATCH_DISTANCE, p.n, sizeof(*distances));
	work = scratch_get(scratch, SCRATCH_SELECT, p.n, sizeof(*work));
	if (!distances || !work)
		return -ENOMEM;
	n = members ? n : w->n_members;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t place = p.places[members ? members[i] : i];

		ret_votes[i] = NAN;
		if (place == UINT32_MAX)
			continue;
		profiles_distances(&p, place, distances);
		ret_votes[i] = vote_of(distances, p.n, place, work);
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
};
