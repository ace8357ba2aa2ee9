#include "report/peer_lines.h"

#include "base/cleanup.h"
#include "base/median.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#define MEDIAN_MAX 512	  /* peers that a median is of */
#define TOP_QUANTILE 0.99 /* of the values fits under the top of the axis */
#define TOP_ROOM 1.12

void peer_lines_release(struct peer_lines *l)
{
	free(l->own);
	free(l->low);
	free(l->high);
	free(l->median);
	free(l->peers);
	*l = (struct peer_lines){0};
}

/* The mean over the slots of a point, NaN of none (as without a row); extremes where they are asked
 * for. */
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
	if (n && !isfinite(sum)) /* too large to be added up: some value of them will do */
		return least / 2 + most / 2;
	return n ? sum / (double)n : NAN;
}

/* The first slot of point i: points cover the same time each, also where a table leaves out some.
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
static const double **peer_rows(const struct lp_verdict *v, const struct lp_finding *f, uint32_t *n)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	const struct lp_table *t = v->tables[f->metric];
	const double **rows = calloc(g->n_members + (size_t)1, sizeof(*rows));

	*n = 0;
	for (uint32_t i = 0; rows && i < g->n_members; i++) {
		uint32_t row = v->row_of[f->metric][g->members[i]];

		if (g->members[i] != f->component && row != UINT32_MAX)
			rows[(*n)++] = t->values + (size_t)row * t->n_slots;
	}
	return rows;
}

/* The median line of evenly chosen peers. */
static int make_median(struct peer_lines *l, const struct lp_table *t, const double *const *rows)
{
	_cleanup_free_ double *values = NULL;
	uint32_t n;

	l->n_median = l->n_others < MEDIAN_MAX ? l->n_others : MEDIAN_MAX;
	values = calloc(l->n_median + (size_t)1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (uint64_t p = 0; p < l->n_points; p++) {
		n = 0;
		for (uint64_t i = 0; i < l->n_median; i++) {
			double x = point_mean(rows[i * l->n_others / l->n_median],
				point_slot(t, p, l->n_points), point_slot(t, p + 1, l->n_points),
				NULL, NULL);

			if (!isnan(x))
				values[n++] = x;
		}
		l->median[p] = median_of(values, n);
	}
	return 0;
}

/* The value below which nearly all of some lie; 0 of none. */
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

static void find_top(struct peer_lines *l)
{
	double own = nearly_top(l->own, l->n_points);
	double peers = nearly_top(l->peers, (size_t)l->n_peers * l->n_peer_points);

	l->top = (own > peers ? own : peers) * TOP_ROOM;
	if (!(l->top > 0))
		l->top = 1;
	else if (!isfinite(l->top))
		l->top = DBL_MAX;
}

static int allocate(struct peer_lines *l)
{
	size_t n = l->n_points + (size_t)1;

	l->own = calloc(n, sizeof(double));
	l->low = calloc(n, sizeof(double));
	l->high = calloc(n, sizeof(double));
	l->median = calloc(n, sizeof(double));
	l->peers = calloc((size_t)l->n_peers * l->n_peer_points + 1, sizeof(double));
	return l->own && l->low && l->high && l->median && l->peers ? 0 : -ENOMEM;
}

static void make_own(struct peer_lines *l, const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[f->metric];
	uint32_t row = v->row_of[f->metric][f->component];

	reduce(t, row == UINT32_MAX ? NULL : t->values + (size_t)row * t->n_slots, l->n_points,
		l->own, l->low, l->high);
}

int peer_lines_make(const struct lp_verdict *v, const struct lp_finding *f,
	const struct peer_lines_options *options, struct peer_lines *ret)
{
	_cleanup_(peer_lines_release) struct peer_lines l = {0};
	const struct lp_table *t = v->tables[f->metric];
	_cleanup_free_ const double **rows = peer_rows(v, f, &l.n_others);
	int r;

	if (!rows)
		return -ENOMEM;
	l.n_points = t->n_slots < options->points ? t->n_slots : options->points;
	l.n_peer_points = t->n_slots < options->peer_points ? t->n_slots : options->peer_points;
	l.n_peers = l.n_others < options->peers ? l.n_others : options->peers;
	r = allocate(&l);
	if (r < 0)
		return r;
	make_own(&l, v, f);
	for (uint64_t i = 0; i < l.n_peers; i++)
		reduce(t, rows[i * l.n_others / l.n_peers], l.n_peer_points,
			l.peers + i * l.n_peer_points, NULL, NULL);
	r = make_median(&l, t, rows);
	if (r < 0)
		return r;
	find_top(&l);
	*ret = l;
	l = (struct peer_lines){0};
	return 0;
}
