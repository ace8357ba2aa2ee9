#include "report/peer_lines.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "model/table_view.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define MEDIAN_MAX 512	  /* the maximum number of peers for a median */
#define TOP_QUANTILE 0.99 /* this share of the values is below the top of the axis */
#define TOP_ROOM 1.12

void peer_lines_release(struct peer_lines *l)
{
	free(l->own);
	free(l->low);
	free(l->high);
	free(l->median);
	free(l->bottom);
	free(l->top);
	*l = (struct peer_lines){0};
}

/* The mean over the slots of a point; NaN if there are no values or no row. Also their extremes, if
 * requested. */
static double point_mean(const double *row, uint64_t first, uint64_t end, double *low, double *high)
{
	double sum = 0, least = NAN, most = NAN;
	uint64_t n = 0;

	for (uint64_t s = first; row && s < end; s++) {
		if (!isfinite(row[s]))
			continue;
		sum += row[s];
		least = n && least < row[s] ? least : row[s];
		most = n && most > row[s] ? most : row[s];
		n++;
	}
	if (low)
		*low = least;
	if (high)
		*high = most;
	if (n && !isfinite(sum)) /* the sum overflows: use any of the values */
		return least / 2 + most / 2;
	return n ? sum / (double)n : NAN;
}

/* The first slot of point i. All points cover the same duration, even if the table leaves out some
 * time.
 */
static uint64_t point_slot(const struct lp_table *t, uint64_t i, uint32_t n_points)
{
	uint64_t n_slots = t->n_slots + (uint64_t)lp_table_skipped(t, t->n_slots);
	uint64_t slot = i * n_slots / n_points;

	if (!t->n_cuts || !slot)
		return slot;
	return (uint64_t)(lp_table_slot(t, t->start_us + (int64_t)(slot - 1) * t->step_us) + 1);
}

static void reduce(const struct lp_table *t, const double *row, uint32_t n_points, double *ret,
	double *low, double *high)
{
	for (uint64_t i = 0; i < n_points; i++)
		ret[i] = point_mean(row, point_slot(t, i, n_points), point_slot(t, i + 1, n_points),
			low ? low + i : NULL, high ? high + i : NULL);
}

/* The rows of the component's peers, in the order of the group. */
static uint32_t *peer_rows(const struct lp_verdict *v, uint32_t component, uint32_t group,
	uint32_t metric, uint32_t *n)
{
	const struct lp_peer_group *g = &v->groups[group];
	uint32_t *rows = calloc(g->n_members + (size_t)1, sizeof(*rows));

	*n = 0;
	for (uint32_t i = 0; rows && i < g->n_members; i++) {
		uint32_t row = v->row_of[metric][g->members[i]];

		if (g->members[i] != component && row != UINT32_MAX)
			rows[(*n)++] = row;
	}
	return rows;
}

/* Compute median and percentiles of an even selection of the peers. */
static void make_median(struct peer_lines *l, const struct lp_table *t, const uint32_t *rows)
{
	const double *chosen[MEDIAN_MAX];
	double values[MEDIAN_MAX];
	uint32_t n;

	l->n_median = l->n_others < MEDIAN_MAX ? l->n_others : MEDIAN_MAX;
	for (uint64_t i = 0; i < l->n_median; i++)
		chosen[i] = table_values(t, rows[i * l->n_others / l->n_median]);
	for (uint64_t p = 0; p < l->n_points; p++) {
		n = 0;
		for (uint64_t i = 0; i < l->n_median; i++) {
			double x = point_mean(chosen[i], point_slot(t, p, l->n_points),
				point_slot(t, p + 1, l->n_points), NULL, NULL);

			if (!isnan(x))
				values[n++] = x;
		}
		median_sort(values, n);
		l->median[p] = median_of_sorted(values, n);
		l->bottom[p] = quantile_of_sorted(values, n, 0.1);
		l->top[p] = quantile_of_sorted(values, n, 0.9);
	}
}

/* The value below which nearly all values are; 0 if there are none. */
static double nearly_top(const double *values, size_t n)
{
	_cleanup_free_ double *sorted = calloc(n + 1, sizeof(*sorted));
	size_t kept = 0;

	for (size_t i = 0; sorted && i < n; i++) {
		if (isfinite(values[i]))
			sorted[kept++] = values[i];
	}
	if (!kept)
		return 0;
	median_sort(sorted, kept);
	return sorted[(size_t)((double)(kept - 1) * TOP_QUANTILE)];
}

static void find_ceiling(struct peer_lines *l)
{
	double own = nearly_top(l->own, l->n_points);
	double peers = nearly_top(l->top, l->n_points);

	l->ceiling = (own > peers ? own : peers) * TOP_ROOM;
	if (!(l->ceiling > 0))
		l->ceiling = 1;
	else if (!isfinite(l->ceiling))
		l->ceiling = DBL_MAX;
}

static int allocate(struct peer_lines *l)
{
	double **lines[] = {&l->own, &l->low, &l->high, &l->median, &l->bottom, &l->top};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		*lines[i] = calloc(l->n_points + (size_t)1, sizeof(double));
		if (!*lines[i])
			return -ENOMEM;
	}
	return 0;
}

/* The values of a component; NULL: none. */
static const double *row_of(const struct lp_verdict *v, uint32_t component, uint32_t metric)
{
	const struct lp_table *t = v->tables[metric];
	uint32_t row = component == UINT32_MAX ? UINT32_MAX : v->row_of[metric][component];

	return row == UINT32_MAX ? NULL : table_values(t, row);
}

void peer_lines_own(const struct lp_verdict *v, uint32_t component, uint32_t metric,
	uint32_t n_points, double *ret)
{
	reduce(v->tables[metric], row_of(v, component, metric), n_points, ret, NULL, NULL);
}

int peer_lines_make(const struct lp_verdict *v, uint32_t component, uint32_t group, uint32_t metric,
	uint32_t points, struct peer_lines *ret)
{
	_cleanup_(peer_lines_release) struct peer_lines l = {0};
	const struct lp_table *t = v->tables[metric];
	_cleanup_free_ uint32_t *rows = peer_rows(v, component, group, metric, &l.n_others);
	int r;

	if (!rows)
		return -ENOMEM;
	l.n_points = t->n_slots < points ? t->n_slots : points;
	r = allocate(&l);
	if (r < 0)
		return r;
	reduce(t, row_of(v, component, metric), l.n_points, l.own, l.low, l.high);
	make_median(&l, t, rows);
	find_ceiling(&l);
	*ret = l;
	l = (struct peer_lines){0};
	return 0;
}
