/* The highest value of the window: the classic alarm, without a comparison. */
#include "detect/compare/measure.h"

static double highest(const double *row, uint32_t n)
{
	double max = NAN;

	for (uint32_t i = 0; row && i < n; i++) {
		if (value_usable(row[i]))
			max = fmax(max, row[i]);
	}
	return max;
}

static int thresh_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	(void)scratch;
	n = members ? n : w->n_members;
	for (uint32_t i = 0; i < n; i++)
		ret_votes[i] = highest(w->rows[members ? members[i] : i], w->n_samples);
	return 0;
}

extern const struct measure measure_thresh;
const struct measure measure_thresh = {
	.name = "thresh",
	.help = "the highest value, as a classic alarm",
	.defaults = {.smooth = 15, .win_size = 60, .win_shift = 30, .k = 3},
	.votes = thresh_votes,
};
