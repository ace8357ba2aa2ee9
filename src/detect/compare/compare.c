#include "detect/compare/compare.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "detect/compare/marks.h"
#include "detect/compare/timeseries.h"
#include "detect/compare/vector_spread.h"
#include "detect/group/verdict_tables.h"
#include "detect/train/train.h"
#include "model/table_view.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* For a metric of unknown unit: this share of the usual value in the group does not matter. */
#define FLOOR_SHARE 0.05

/* Thresholds are learnt from at most this many members: more would not change what is usual. */
#define SAMPLE_MAX 127

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

/* Is any value missing, from the slot on in which data begins? */
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

/* The usual value in the group: the median over its members of their medians over non-zero values.
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

/* Is there a metric of the work of the members of a group? */
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

static int comparison_floor(struct comparison *c, const double *const *rows, uint32_t n)
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
	if (m) {
		c->floor = m->floor;
		return 0;
	}
	rows_read(t, rows, n);
	r = group_level(rows, n, t->n_slots, &c->floor);
	c->floor *= FLOOR_SHARE;
	return r;
}

/* Thresholds: fixed by hand, learnt in training, or from the peers themselves.
 *
 * Without training every member is trained on the present data, as in detection step 8, and the
 * group uses what the member at the lower third of them needs, times 2. Up to half of the members
 * may be bad: they need large thresholds themselves, and make the healthy ones need somewhat larger
 * ones, so the median would be too high.
 */

/* Given thresholds. False: for at least one member none is known. */
static bool thresholds_given(struct comparison *c)
{
	const struct lp_peer_group *g = &c->v->groups[c->series->group];
	const char *metric = c->v->tables[c->series->metric]->metric;
	double fixed;

	if (c->opt->fixed && fixed_thresholds_get(c->opt->fixed, metric, &fixed)) {
		for (uint32_t i = 0; i < g->n_members; i++)
			c->series->thresholds[i] = fixed;
		return true;
	}
	for (uint32_t i = 0; i < g->n_members; i++) {
		if (!c->opt->trained ||
			!thresholds_get(c->opt->trained, metric, c->v->components[g->members[i]],
				&c->series->thresholds[i]))
			return false;
	}
	return true;
}

/* Is row number `seen` of `n_rows` selected, if `n` were selected before it? They are evenly
 * spaced.
 */
static bool sample_takes(uint32_t seen, uint32_t n, uint32_t n_rows)
{
	return n < SAMPLE_MAX &&
		(n_rows <= SAMPLE_MAX || (uint64_t)seen * SAMPLE_MAX >= (uint64_t)n * n_rows);
}

static uint32_t count_rows(const double *const *rows, uint32_t n)
{
	uint32_t n_rows = 0;

	for (uint32_t i = 0; i < n; i++)
		n_rows += rows[i] != NULL;
	return n_rows;
}

void sample_rows(const double **rows, uint32_t n)
{
	uint32_t n_rows = count_rows(rows, n), taken = 0, seen = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!rows[i])
			continue;
		if (sample_takes(seen++, taken, n_rows))
			taken++;
		else
			rows[i] = NULL;
	}
}

/* Members to learn from, of those that have the metric. */
static uint32_t sample_members(const struct comparison *c, uint32_t *members)
{
	uint32_t n_rows = count_rows(c->smoothed.rows, c->smoothed.n_members), n = 0, seen = 0;

	for (uint32_t i = 0; i < c->smoothed.n_members; i++) {
		if (c->smoothed.rows[i] && sample_takes(seen++, n, n_rows))
			members[n++] = i;
	}
	return n;
}

/* The threshold that the member at the lower third needs. */
static double limits_third(const struct comparison *c, const double *votes, uint32_t n)
{
	uint32_t n_windows = c->series->n_windows, n_limits = 0;
	double limits[SAMPLE_MAX];

	for (uint32_t i = 0; i < n; i++) {
		double limit = persist_limit(votes + (size_t)i * n_windows, n_windows, c->params.k);

		if (!isnan(limit))
			limits[n_limits++] = limit;
	}
	if (!n_limits)
		return 0;
	median_sort(limits, n_limits);
	return limits[(n_limits + 1) / 3];
}

/* The votes of congestion windows are quotients, 1 if all are alike: the distance from 1 is
 * doubled. */
static double doubled(const struct comparison *c, double limit)
{
	if (c->role == LP_ROLE_WINDOW)
		return 1 + 2 * fmax(train_tenth(limit) - 1, 0.1);
	return 2 * train_tenth(limit);
}

/* The votes of some members on each other. (All members would be more than is needed to know what
 * is usual, and would cost too much in large groups.) */
static int sample_votes(
	const struct comparison *c, const uint32_t *members, uint32_t n, double *ret_votes)
{
	const struct lp_series *s = c->series;
	const double *rows[SAMPLE_MAX];
	struct smoothed some = {.rows = rows, .n_members = n, .n_slots = c->smoothed.n_slots};
	bool known = c->timeseries || c->vectors;

	for (uint32_t i = 0; i < n; i++) {
		rows[i] = c->smoothed.rows[members[i]];
		if (known)
			memcpy(ret_votes + (size_t)i * s->n_windows,
				c->votes + (size_t)members[i] * s->n_windows,
				s->n_windows * sizeof(*ret_votes));
	}
	if (known)
		return 0;
	return votes_all(c->opt->measure, &c->params, &some, NULL, n, ret_votes, NULL);
}

static int thresholds_calibrate(struct comparison *c)
{
	const struct lp_series *s = c->series;
	_cleanup_free_ double *votes = NULL;
	uint32_t members[SAMPLE_MAX], n = sample_members(c, members);
	double threshold;
	int r;

	votes = calloc((size_t)n * s->n_windows + 1, sizeof(*votes));
	if (!votes)
		return -ENOMEM;
	r = sample_votes(c, members, n, votes);
	if (r < 0)
		return r;
	threshold = doubled(c, limits_third(c, votes, n));
	/* Votes by spread are the part beyond it, and 0 if there is none. */
	if (c->vectors && c->vectors->by_spread)
		threshold = fmax(threshold, VECTOR_SPREAD_LEAST / 2);
	for (uint32_t i = 0; i < c->smoothed.n_members; i++)
		s->thresholds[i] = threshold;
	return 0;
}

int comparison_thresholds(struct comparison *c)
{
	c->calibrated = !thresholds_given(c);
	if (c->calibrated && c->past && c->past->look) {
		for (uint32_t i = 0; i < c->smoothed.n_members; i++)
			c->series->thresholds[i] = c->past->look->threshold;
		return 0;
	}
	return c->calibrated ? thresholds_calibrate(c) : 0;
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

static int compare_timeseries(struct comparison *c, const struct group_data *g)
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

/* Medians come first: usually they show that a member is normal, whatever its vote. */
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

/* Averages use the slots before the first window; windows do not. */
static int comparison_smooth(struct comparison *c, const struct group_data *all)
{
	struct group_data g = *all;
	uint32_t sparse = 0;

	g.context = c->context;
	if (c->role == LP_ROLE_SERVICE)
		sparse = timeseries_width(c->params.step_us);
	else if (c->gaps) /* a request from time to time proves nothing */
		sparse = c->params.smooth ? c->params.smooth : 1;
	return smooth_group(&g, c->params.smooth, sparse, &c->smoothed);
}

static int comparison_run(struct comparison *c, const struct group_data *g)
{
	int r = comparison_alloc(c, g->rows, g->n_members);

	if (r == 0)
		r = comparison_smooth(c, g);
	if (r == 0 && group_has_vectors(c->v, c->series->group))
		r = comparison_vectors(c);
	else if (r == 0)
		r = c->timeseries ? compare_timeseries(c, g) : compare_windows(c);
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

/* Find out what is compared, and in which windows; 0: nothing. */
static int comparison_begin(struct comparison *c, const struct group_data *g)
{
	struct lp_series *s = c->series;
	int r;

	c->metric = c->past && c->past->look
		? c->past->look->metric
		: group_metric(c->v, s->group, c->v->tables[s->metric]->metric);
	r = comparison_floor(c, g->rows, g->n_members);
	if (group_has_vectors(c->v, s->group))
		c->role = LP_ROLE_OTHER; /* whatever its name means for a single number */
	c->timeseries = timeseries_applies(c->opt, c->role);
	if (c->timeseries) {
		c->unit = 1.0 / c->params.win_shift;
		timeseries_params(&c->params);
	}
	/* The time that requests take does not show which member has stopped if no request makes a
	 * gap, or if the work is known. */
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

static int comparison_fail(const struct comparison *c, int r, struct lp_err *err)
{
	return lp_err_sys(err, r, "cannot compare %s in %s",
		c->v->tables[c->series->metric]->metric, c->v->groups[c->series->group].name);
}

static struct group_data group_data_of(const struct lp_table *t, const double **rows, uint32_t n)
{
	return (struct group_data){
		.rows = rows, .n_members = n, .n_slots = t->n_slots, .lazy = t->lazy ? t : NULL};
}

/* The rows of the members, and how to compare them; 0: nothing. */
static int comparison_open(struct comparison *c, const struct detect_options *opt,
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

/* Room for the calibration. */
static int calibration_alloc(struct comparison *c, uint32_t n_members)
{
	size_t n = c->timeseries ? (size_t)n_members * c->series->n_windows : 0;

	c->votes = calloc(n + 1, sizeof(*c->votes));
	c->data = calloc(n + 1, sizeof(*c->data));
	c->series->thresholds = calloc((size_t)n_members + 1, sizeof(*c->series->thresholds));
	return c->votes && c->data && c->series->thresholds ? 0 : -ENOMEM;
}

/* Thresholds of windows come from some members: only these are smoothed. */
static int comparison_learn(struct comparison *c, const struct group_data *g, const double **rows)
{
	int r = calibration_alloc(c, g->n_members);

	if (!c->timeseries)
		sample_rows(rows, g->n_members);
	if (r == 0 && c->timeseries)
		return compare_timeseries(c, g);
	if (r == 0)
		r = comparison_smooth(c, g);
	return r < 0 ? r : comparison_thresholds(c);
}

int comparison_calibrate(const struct detect_options *opt, const struct lp_verdict *v,
	const struct lp_params *params, uint32_t group, uint32_t metric,
	const struct comparison_past *past, struct comparison_look *ret, struct lp_err *err)
{
	_cleanup_(comparison_release) struct comparison c = {0};
	_cleanup_(series_release) struct lp_series s = {0};
	uint32_t n = v->groups[group].n_members;
	_cleanup_free_ const double **rows = calloc((size_t)n + 1, sizeof(*rows));
	struct group_data g = group_data_of(v->tables[metric], rows, n);
	int r;

	if (!rows)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	/* Vectors are few, and compared as a whole. */
	if (group_has_vectors(v, group)) {
		r = comparison_make(opt, v, params, group, metric, past, &c, &s, err);
	} else {
		r = comparison_open(&c, opt, v, params, group, metric, past, &s, rows);
		if (r > 0)
			r = comparison_learn(&c, &g, rows) < 0 ? -ENOMEM : 1;
		if (r < 0)
			return comparison_fail(&c, r, err);
	}
	if (r > 0)
		*ret = (struct comparison_look){.threshold = s.thresholds[0],
			.floor = c.floor,
			.metric = c.metric,
			.weighs = c.metric && lp_metric_is_weight(c.metric),
			.role = c.role,
			.by_sample = c.timeseries,
			.method = s.method};
	return r;
}
