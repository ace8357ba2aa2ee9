/* Moving averages.
 *
 * Each mean is computed anew, as the latest value plus the mean difference from it. A running sum
 * would drift: an idle disk would seem to work a little after a busy hour. This way what is
 * constant stays exactly what it is, and what is added to all values is added to all means. */
#include "base/cleanup.h"
#include "detect/votes.h"
#include <errno.h>
#include <stdlib.h>

static double mean_at(const double *row, uint32_t at, uint32_t width)
{
	uint32_t first = at + 1 > width ? at + 1 - width : 0, n = 0;
	double latest = NAN, sum = 0;

	for (uint32_t i = at + 1; i-- > first;) {
		if (!value_usable(row[i]))
			continue;
		if (n++ == 0)
			latest = row[i];
		sum += row[i] - latest;
	}
	return n ? latest + sum / n : NAN;
}

static void smooth_row(const double *row, uint32_t n, uint32_t width, double *ret)
{
	for (uint32_t i = 0; i < n; i++)
		ret[i] = mean_at(row, i, width);
}

int smooth_group(const struct group_data *g, uint32_t width, struct smoothed *ret)
{
	size_t n_cells;
	_cleanup_free_ double *block = NULL;
	_cleanup_free_ const double **rows = NULL;

	if (__builtin_mul_overflow((size_t)g->n_members, (size_t)g->n_slots, &n_cells) ||
		n_cells > SIZE_MAX / sizeof(*block))
		return -ENOMEM;
	block = malloc(n_cells * sizeof(*block) + 1);
	rows = calloc((size_t)g->n_members + 1, sizeof(*rows));
	if (!block || !rows)
		return -ENOMEM;
	width = width ? width : 1;
#pragma omp parallel for schedule(static)
	for (uint32_t m = 0; m < g->n_members; m++) {
		double *out = block + (size_t)m * g->n_slots;

		if (!g->rows[m])
			continue;
		smooth_row(g->rows[m], g->n_slots, width, out);
		rows[m] = out;
	}
	*ret = (struct smoothed){TAKE_PTR(block), TAKE_PTR(rows), g->n_members, g->n_slots};
	return 0;
}

void smoothed_release(struct smoothed *s)
{
	free(s->block);
	free(s->rows);
	*s = (struct smoothed){0};
}
