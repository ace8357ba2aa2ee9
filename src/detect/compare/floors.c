#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/compare.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For a metric of unknown unit: this share of the usual value in the group does not matter. */
#define FLOOR_SHARE 0.05

/* The catalogue's floors of latencies are for disks that rotate. If requests usually take less, the
 * floor is the usual value, but no less than this share of the catalogue's. */
#define FLOOR_LEAST 0.1

/* This many values of a row show what is usual. */
#define LEVEL_VALUES 256U

/* The levels of the members while they are computed. */
struct levels {
	const struct lp_table *t;
	const double *const *rows;
	double *medians; /* [member] NaN: it has no value above 0 */
};

/* The median of a member's values above 0, over an even selection of its slots. */
static void member_level(void *ctx, uint32_t member, double *room)
{
	const struct levels *l = ctx;
	const double *row = l->rows[member];
	uint32_t step = l->t->n_slots / LEVEL_VALUES + 1, n = 0;
	double values[LEVEL_VALUES];

	if (row)
		row = table_values_peek(
			l->t, (uint32_t)((size_t)(row - l->t->values) / l->t->n_slots), room);
	for (uint32_t s = 0; row && s < l->t->n_slots; s += step) {
		if (isfinite(row[s]) && row[s] > 0)
			values[n++] = row[s];
	}
	l->medians[member] = n ? median_of(values, n) : NAN;
}

/* The usual value of a latency: the median over some members of their medians; infinite: no member
 * has values. */
static int latency_usual(const struct lp_table *t, const struct group_data *g, double *ret)
{
	_cleanup_free_ const double **rows = calloc((size_t)g->n_members + 1, sizeof(*rows));
	_cleanup_free_ double *medians = calloc((size_t)g->n_members + 1, sizeof(*medians));
	struct levels l = {t, rows, medians};
	uint32_t n = 0;

	if (!rows || !medians)
		return -ENOMEM;
	memcpy(rows, g->rows, g->n_members * sizeof(*rows));
	sample_rows(rows, g->n_members);
	if (members_each(g->n_members, g->n_slots, member_level, &l) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_members; i++) {
		medians[n] = medians[i];
		n += !isnan(medians[i]);
	}
	*ret = n ? median_of(medians, n) : INFINITY;
	return 0;
}

double latency_floor(double usual, double floor)
{
	return fmin(fmax(usual, FLOOR_LEAST * floor), floor);
}

/* The floor of a metric of the catalogue. Peaks are rare moments, whose usual value means little.
 */
static int catalogue_floor(struct comparison *c, const struct group_data *g)
{
	double usual;

	c->floor = c->metric->floor;
	if (!c->past || c->role != LP_ROLE_LATENCY || c->metric->peak_s ||
		strcmp(c->metric->resource, "storage") != 0)
		return 0;
	if (latency_usual(c->v->tables[c->series->metric], g, &usual) < 0)
		return -ENOMEM;
	c->floor = latency_floor(usual, c->floor);
	return 0;
}

/* The usual value in the group: the median of the members' medians over non-zero values.
 */
static int group_level(const double *const *rows, uint32_t n, uint32_t n_slots, double *ret)
{
	_cleanup_free_ double *values = calloc(n_slots, sizeof(*values));
	_cleanup_free_ double *medians = calloc(n, sizeof(*medians));
	uint32_t n_medians = 0;

	if (!values || !medians)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t m = 0;

		for (uint32_t s = 0; rows[i] && s < n_slots; s++) {
			if (isfinite(rows[i][s]) && rows[i][s] > 0)
				values[m++] = rows[i][s];
		}
		if (m)
			medians[n_medians++] = median_of(values, m);
	}
	*ret = n_medians ? median_of(medians, n_medians) : 0;
	return 0;
}

int comparison_floor(struct comparison *c, const struct group_data *g)
{
	const struct lp_table *t = c->v->tables[c->series->metric];
	const struct lp_metric *m = c->metric;
	int r;

	if (c->past && c->past->look) {
		c->role = c->past->look->role;
		c->floor = c->past->look->floor;
		return 0;
	}
	c->role = meanings_role(
		c->opt->meanings, t->metric, lp_metric_role(m ? m->kind : NULL, t->metric));
	if (m)
		return catalogue_floor(c, g);
	rows_read(t, g->rows, g->n_members);
	r = group_level(g->rows, g->n_members, t->n_slots, &c->floor);
	c->floor *= FLOOR_SHARE;
	return r;
}
