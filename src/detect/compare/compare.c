#include "detect/compare/compare.h"

#include "base/cleanup.h"
#include "base/slices.h"
#include "detect/compare/marks.h"
#include "detect/compare/timeseries.h"
#include "detect/compare/vector_spread.h"
#include "detect/group/verdict_tables.h"
#include "model/table_view.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void comparison_release(struct comparison *c)
{
	smoothed_release(&c->smoothed);
	free(c->votes);
	free(c->data);
	free(c->own);
	free(c->peers);
	free(c->first_slot);
	if (c->vectors)
		vector_group_release(c->vectors);
	free(c->vectors);
	*c = (struct comparison){0};
}

uint32_t group_places(
	const struct lp_verdict *v, uint32_t group, uint32_t metric, const double **rows)
{
	const struct lp_peer_group *g = &v->groups[group];
	const struct lp_table *t = v->tables[metric];
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_members; i++) {
		uint32_t row = v->row_of[metric][g->members[i]];

		rows[i] = row == UINT32_MAX ? NULL : t->values + (size_t)row * t->n_slots;
		n += rows[i] != NULL;
	}
	return n;
}

void rows_read(const struct lp_table *t, const double *const *rows, uint32_t n)
{
	for (uint32_t i = 0; t->lazy && i < n; i++) {
		slices_rest_at(i + 1);
		if (rows[i])
			table_values(t, (uint32_t)((size_t)(rows[i] - t->values) / t->n_slots));
	}
}

uint32_t group_rows(
	const struct lp_verdict *v, uint32_t group, uint32_t metric, const double **rows)
{
	uint32_t n = group_places(v, group, metric, rows);

	rows_read(v->tables[metric], rows, v->groups[group].n_members);
	return n;
}

bool group_has_vectors(const struct lp_verdict *v, uint32_t group)
{
	const struct lp_peer_group *g = &v->groups[group];

	return g->n_members && functions_joined(v->components[g->members[0]]);
}

/* Does any value differ from another? Usually the first row shows one. */
static bool group_differs(
	const struct lp_table *t, const double *const *rows, uint32_t n, uint32_t n_slots)
{
	double first = NAN;

	for (uint32_t i = 0; i < n; i++) {
		rows_read(t, rows + i, 1);
		for (uint32_t s = 0; rows[i] && s < n_slots; s++) {
			if (isnan(rows[i][s]))
				continue;
			if (isnan(first))
				first = rows[i][s];
			else if (rows[i][s] != first)
				return true;
		}
	}
	return false;
}

/* Is any value missing after the slot in which the data begins? */
static bool group_misses(const double *const *rows, uint32_t n, int64_t origin, uint32_t n_slots)
{
	uint32_t first = origin > 0 ? (uint32_t)origin : 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t s = first; rows[i] && s < n_slots; s++) {
			if (isnan(rows[i][s]))
				return true;
		}
	}
	return false;
}

int group_varies(
	const struct lp_verdict *v, uint32_t group, uint32_t metric, int64_t origin, bool *ret)
{
	uint32_t n = v->groups[group].n_members, n_slots = v->tables[metric]->n_slots;
	_cleanup_free_ const double **rows = calloc((size_t)n + 1, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	group_places(v, group, metric, rows);
	*ret = group_has_vectors(v, group) || group_differs(v->tables[metric], rows, n, n_slots) ||
		group_misses(rows, n, origin, n_slots);
	return 0;
}

/* The first slot of a member, counted from the first window. */
static int64_t row_first_slot(
	const struct comparison *c, uint32_t member, const double *row, uint32_t n_slots)
{
	uint32_t s = 0;

	if (c->past && c->past->first_slot && c->past->first_slot[member] < INT64_MAX)
		return c->past->first_slot[member] - c->context;
	rows_read(c->v->tables[c->series->metric], &row, 1);
	while (row && s < n_slots && isnan(row[s]))
		s++;
	return row && s < n_slots ? (int64_t)s - c->context : INT64_MAX;
}

const struct lp_metric *group_metric(const struct lp_verdict *v, uint32_t group, const char *name)
{
	return lp_metric_find(v->components[v->groups[group].members[0]]->kind, name);
}

bool group_weighs(const struct lp_verdict *v, uint32_t group, uint32_t metric)
{
	const struct lp_metric *own = group_metric(v, group, v->tables[metric]->metric);

	if (v->tables[metric]->beside)
		return true;
	for (uint32_t t = 0; own && t < v->n_tables; t++) {
		const struct lp_metric *m = group_metric(v, group, v->tables[t]->metric);

		if (m && m->weight && !strcmp(m->weight, own->name))
			return true;
	}
	return false;
}

/* Is there a work metric for the members of a group? */
static bool group_has_work(const struct lp_verdict *v, uint32_t group)
{
	uint32_t component = v->groups[group].members[0];

	for (uint32_t t = 0; t < v->n_tables; t++) {
		if (v->row_of[t][component] != UINT32_MAX &&
			lp_metric_role(v->components[component]->kind, v->tables[t]->metric) ==
				LP_ROLE_WORK)
			return true;
	}
	return false;
}

static int comparison_alloc(struct comparison *c, const double *const *rows, uint32_t n_members)
{
	struct lp_series *s = c->series;
	size_t n = (size_t)n_members * s->n_windows;

	c->votes = calloc(n, sizeof(*c->votes));
	c->data = calloc(n, sizeof(*c->data));
	c->own = calloc(n, sizeof(*c->own));
	c->peers = calloc(n, sizeof(*c->peers));
	c->first_slot = calloc(n_members, sizeof(*c->first_slot));
	if (!c->votes || !c->data || !c->own || !c->peers || !c->first_slot ||
		series_alloc(s, n_members) < 0)
		return -ENOMEM;
	slices_rest();
	for (uint32_t i = 0; i < n_members; i++)
		c->first_slot[i] = row_first_slot(c, i, rows[i], c->v->tables[s->metric]->n_slots);
	for (uint32_t w = 0; w < s->n_windows; w++) {
		s->first[w] = w * c->params.win_shift;
		s->last[w] = s->first[w] + c->params.win_size - 1;
	}
	return 0;
}

/* The votes of the slots after the context. */
static void votes_behind(const struct comparison *c, const struct group_data *g, const double *all)
{
	uint32_t n = g->n_slots - c->context;

	for (uint32_t i = 0; i < g->n_members; i++)
		memcpy(c->votes + (size_t)i * n, all + (size_t)i * g->n_slots + c->context,
			n * sizeof(*all));
}

int comparison_timeseries(struct comparison *c, const struct group_data *g)
{
	size_t n = (size_t)g->n_members * (g->n_slots - c->context);
	_cleanup_free_ double *all = NULL;
	struct timeseries_how how = {.width = c->params.smooth,
		.role = c->role,
		.floor = c->floor,
		.origin = c->past ? c->past->origin : 0};
	int r;

	if (c->context) {
		all = calloc((size_t)g->n_members * g->n_slots + 1, sizeof(*all));
		if (!all)
			return -ENOMEM;
	}
	r = timeseries_votes(g, &how, all ? all : c->votes);
	if (r == 0 && all)
		votes_behind(c, g, all);
	if (r == 0)
		r = comparison_thresholds(c);
	for (size_t i = 0; r == 0 && i < n; i++)
		c->data[i] = !isnan(c->votes[i]);
	return r;
}

/* Compute medians first: usually they show that a member is normal, and no vote is needed. */
static int compare_windows(struct comparison *c)
{
	size_t n = (size_t)c->smoothed.n_members * c->series->n_windows;
	_cleanup_free_ bool *asked = NULL;
	int r = comparison_thresholds(c);

	windows_data(&c->params, &c->smoothed, c->data);
	if (r == 0)
		r = comparison_medians(c);
	asked = calloc(n + 1, sizeof(*asked));
	if (r < 0 || !asked)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		slices_rest_at((uint32_t)i);
		asked[i] = comparison_asks(c, i);
	}
	return votes_exceeding(
		c->opt->measure, &c->params, &c->smoothed, c->series->thresholds, asked, c->votes);
}

uint32_t comparison_sparse(const struct comparison *c)
{
	if (c->role == LP_ROLE_SERVICE)
		return timeseries_width(c->params.step_us);
	if (c->gaps) /* occasional requests prove nothing */
		return c->params.smooth ? c->params.smooth : 1;
	return 0;
}

int comparison_smooth(struct comparison *c, const struct group_data *all)
{
	struct group_data g = *all;

	g.context = c->context;
	return smooth_group(&g, c->params.smooth, comparison_sparse(c), &c->smoothed);
}

static int comparison_run(struct comparison *c, const struct group_data *g)
{
	int r = comparison_alloc(c, g->rows, g->n_members);

	if (r == 0)
		r = comparison_smooth(c, g);
	if (r == 0 && group_has_vectors(c->v, c->series->group))
		r = comparison_vectors(c);
	else if (r == 0)
		r = c->timeseries ? comparison_timeseries(c, g) : compare_windows(c);
	if (r == 0 && c->timeseries)
		r = comparison_medians(c);
	if (r == 0)
		comparison_marks(c);
	return r;
}

/* Is there anything to compare? An engine, which sees a part at a time, also compares values that
 * are the same for a while. */
static bool comparison_worth(
	const struct comparison *c, uint32_t group, uint32_t metric, const struct group_data *g)
{
	bool weighs = !c->past || !c->past->look || c->past->look->weighs;

	if (c->n_rows < 3 || (weighs && group_weighs(c->v, group, metric)))
		return false;
	return (c->past && c->past->always) || group_has_vectors(c->v, group) ||
		group_differs(c->v->tables[metric], g->rows, g->n_members, g->n_slots) ||
		group_misses(g->rows, g->n_members, c->past ? c->past->origin : 0, g->n_slots);
}

/* Determine the data and the windows of a comparison; 0: nothing to compare. */
static int comparison_begin(struct comparison *c, const struct group_data *g)
{
	struct lp_series *s = c->series;
	int r;

	c->metric = c->past && c->past->look
		? c->past->look->metric
		: group_metric(c->v, s->group, c->v->tables[s->metric]->metric);
	r = comparison_floor(c, g);
	if (group_has_vectors(c->v, s->group))
		c->role = LP_ROLE_OTHER; /* the role of its name applies to single numbers only */
	c->timeseries = timeseries_applies(c->opt, c->role);
	if (c->timeseries) {
		c->unit = 1.0 / c->params.win_shift;
		timeseries_params(&c->params);
	}
	/* A latency without a value does not show that a member has stopped, if steps without
	 * requests have no value, or if a metric of work shows it. */
	c->gaps = c->role == LP_ROLE_SERVICE ||
		(c->past && c->role == LP_ROLE_LATENCY &&
			(c->metric || group_has_work(c->v, s->group)));
	if (c->past)
		c->context = c->timeseries ? c->past->context_by_sample : c->past->context;
	s->method = c->timeseries ? "series" : c->opt->measure->name;
	if (group_has_vectors(c->v, s->group))
		s->method = "manhattan";
	s->n_windows =
		g->n_slots > c->context ? window_count(&c->params, g->n_slots - c->context) : 0;
	return r < 0 ? r : s->n_windows > 0;
}

int comparison_fail(const struct comparison *c, int r, struct lp_err *err)
{
	return lp_err_sys(err, r, "cannot compare %s in %s",
		c->v->tables[c->series->metric]->metric, c->v->groups[c->series->group].name);
}

struct group_data group_data_of(const struct lp_table *t, const double **rows, uint32_t n)
{
	return (struct group_data){
		.rows = rows, .n_members = n, .n_slots = t->n_slots, .lazy = t->lazy ? t : NULL};
}

int comparison_open(struct comparison *c, const struct detect_options *opt,
	const struct lp_verdict *v, const struct lp_params *params, uint32_t group, uint32_t metric,
	const struct comparison_past *past, struct lp_series *series, const double **rows)
{
	struct group_data g = group_data_of(v->tables[metric], rows, v->groups[group].n_members);

	*c = (struct comparison){
		.past = past, .opt = opt, .v = v, .params = *params, .series = series, .unit = 1};
	*series = (struct lp_series){.group = group, .metric = metric};
	c->n_rows = group_places(v, group, metric, rows);
	return comparison_worth(c, group, metric, &g) ? comparison_begin(c, &g) : 0;
}

int comparison_make(const struct detect_options *opt, const struct lp_verdict *v,
	const struct lp_params *params, uint32_t group, uint32_t metric,
	const struct comparison_past *past, struct comparison *c, struct lp_series *ret_series,
	struct lp_err *err)
{
	uint32_t n = v->groups[group].n_members;
	_cleanup_free_ const double **rows = calloc((size_t)n + 1, sizeof(*rows));
	struct group_data g = group_data_of(v->tables[metric], rows, n);
	int r;

	*c = (struct comparison){0};
	*ret_series = (struct lp_series){.group = group, .metric = metric};
	if (!rows)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	r = comparison_open(c, opt, v, params, group, metric, past, ret_series, rows);
	if (r > 0)
		r = comparison_run(c, &g) < 0 ? -ENOMEM : 1;
	return r < 0 ? comparison_fail(c, r, err) : r;
}
