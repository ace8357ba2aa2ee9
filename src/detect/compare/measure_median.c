/* How far a member is from the median of its group, summed over the samples of the window. */
#include "base/median.h"
#include "detect/compare/measure.h"
#include <errno.h>

/* The median over the members at each sample, NaN where none has a value. */
static int medians(const struct window *w, struct measure_scratch *scratch, double *ret)
{
	uint64_t *keys = scratch_get(scratch, SCRATCH_KEYS, w->n_members, sizeof(*keys));
	uint64_t *work = scratch_get(scratch, SCRATCH_SELECT, w->n_members, sizeof(*work));

	if (!keys || !work)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->n_samples; i++) {
		size_t n = 0;

		for (uint32_t m = 0; m < w->n_members; m++) {
			if (w->rows[m] && value_usable(w->rows[m][i]))
				keys[n++] = order_key(w->rows[m][i]);
		}
		ret[i] = n ? order_quantile(keys, n, 0.5, work) : NAN;
	}
	return 0;
}

static double deviation(const double *row, const double *m, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += value_usable(row[i]) ? fabs(row[i] - m[i]) : 0;
	return sum;
}

static int median_votes(const struct window *w, const uint32_t *members, uint32_t n,
	struct measure_scratch *scratch, double *ret_votes)
{
	double *m = scratch_get(scratch, SCRATCH_VALUES, w->n_samples, sizeof(*m));
	int r = m ? medians(w, scratch, m) : -ENOMEM;

	if (r < 0)
		return r;
	n = members ? n : w->n_members;
	for (uint32_t i = 0; i < n; i++) {
		const double *row = w->rows[members ? members[i] : i];

		ret_votes[i] = row && w->n_with_data > 1 ? deviation(row, m, w->n_samples) : NAN;
	}
	return 0;
}

extern const struct measure measure_median;
const struct measure measure_median = {
	.name = "median",
	.help = "sum of the differences from the group's median at each sample",
	.defaults = {.smooth = 15, .win_size = 60, .win_shift = 30, .k = 3},
	.votes = median_votes,
};
