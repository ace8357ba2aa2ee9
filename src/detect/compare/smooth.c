/* Moving averages.
 *
 * Each mean is computed anew, as the latest value plus the mean difference from it. A running sum
 * would drift: an idle disk would seem to work a little after a busy hour. This way what is
 * constant stays exactly what it is, and what is added to all values is added to all means. */
#include "base/cleanup.h"
#include "detect/compare/votes.h"
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

#define BLOCK 256U

/* The same for the slots first .. end-1 where no value is missing, side by side; ret[0] is that of
 * slot `first`. */
static void smooth_full(
	const double *row, uint32_t first, uint32_t end, uint32_t width, double *ret)
{
	double sums[BLOCK];

	for (uint32_t from = first; from < end; from += BLOCK) {
		uint32_t n = end - from < BLOCK ? end - from : BLOCK;
		const double *latest = row + from;
		double *out = ret + (from - first);

		for (uint32_t i = 0; i < n; i++)
			sums[i] = 0;
		for (uint32_t back = 1; back < width; back++) {
			const double *older = latest - back;

#pragma omp simd
			for (uint32_t i = 0; i < n; i++)
				sums[i] += older[i] - latest[i];
		}
#pragma omp simd
		for (uint32_t i = 0; i < n; i++)
			out[i] = latest[i] + sums[i] / width;
	}
}

static uint32_t next_missing(const double *row, uint32_t from, uint32_t n)
{
	while (from < n && value_usable(row[from]))
		from++;
	return from;
}

/* Where the values begin that are all there up to slot `at`, as far as averages reach. */
static uint32_t run_before(const double *row, uint32_t at, uint32_t width)
{
	uint32_t run = at;

	while (run > 0 && at - run < width - 1 && value_usable(row[run - 1]))
		run--;
	return run;
}

/* The averages of the slots from `first` on. */
static void smooth_row(const double *row, uint32_t first, uint32_t n, uint32_t width, double *ret)
{
	uint32_t at = first, run = run_before(row, first, width);

	while (at < n) {
		uint32_t missing = next_missing(row, at, n), full;

		/* Up to `full` something is missing among the last samples. */
		full = missing - run >= width ? run + width - 1 : missing;
		for (; at < full; at++)
			ret[at - first] = mean_at(row, at, width);
		smooth_full(row, at, missing, width, ret + (at - first));
		for (at = missing; at < n && !value_usable(row[at]); at++)
			ret[at - first] = mean_at(row, at, width);
		run = at;
	}
}

int smooth_group(const struct group_data *g, uint32_t width, struct smoothed *ret)
{
	size_t n_cells;
	uint32_t n_slots = g->n_slots - g->context;
	_cleanup_free_ double *block = NULL;
	_cleanup_free_ const double **rows = NULL;

	if (__builtin_mul_overflow((size_t)g->n_members, (size_t)n_slots, &n_cells) ||
		n_cells > SIZE_MAX / sizeof(*block))
		return -ENOMEM;
	block = malloc(n_cells * sizeof(*block) + 1);
	rows = calloc((size_t)g->n_members + 1, sizeof(*rows));
	if (!block || !rows)
		return -ENOMEM;
	width = width ? width : 1;
#pragma omp parallel for schedule(static) if (n_cells >= VOTES_MANY)
	for (uint32_t m = 0; m < g->n_members; m++) {
		double *out = block + (size_t)m * n_slots;

		if (!g->rows[m])
			continue;
		smooth_row(g->rows[m], g->context, g->n_slots, width, out);
		rows[m] = out;
	}
	*ret = (struct smoothed){TAKE_PTR(block), TAKE_PTR(rows), g->n_members, n_slots};
	return 0;
}

static void row_drop_sparse(
	const double *row, uint32_t first, uint32_t n_slots, uint32_t width, double *smoothed)
{
	uint32_t n = 0, from = first > width ? first - width : 0;

	for (uint32_t i = from; i < n_slots; i++) {
		n += value_usable(row[i]);
		n -= i - from >= width && value_usable(row[i - width]);
		if (i >= first && (n < width / 2 || !n))
			smoothed[i - first] = NAN;
	}
}

void smoothed_drop_sparse(struct smoothed *s, const struct group_data *g, uint32_t width)
{
#pragma omp parallel for schedule(static) if ((size_t)s->n_members * s->n_slots >= VOTES_MANY)
	for (uint32_t m = 0; m < s->n_members; m++) {
		if (s->rows[m])
			row_drop_sparse(g->rows[m], g->context, g->n_slots, width,
				s->block + (size_t)m * s->n_slots);
	}
}

void smoothed_release(struct smoothed *s)
{
	free(s->block);
	free(s->rows);
	*s = (struct smoothed){0};
}
