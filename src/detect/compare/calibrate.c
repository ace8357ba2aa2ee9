#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/compare.h"
#include "detect/compare/kept_votes.h"
#include "detect/compare/marks.h"
#include "detect/compare/vector_spread.h"
#include "detect/train/train.h"
#include "model/table_view.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Thresholds are learnt from at most this many members; more would hardly change them. */
#define SAMPLE_MAX 127

/* Thresholds: fixed by hand, learnt in training, or from the peers themselves.
 *
 * Without training every member is trained on the present data, as in detection step 8. The group
 * uses twice the threshold of the member at the lower third. Up to half of the members may be bad:
 * they need large thresholds themselves, and raise those of the healthy members a little, so the
 * median would be too high.
 */

/* Use given thresholds. False: at least one member has none. */
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

/* Is row number `seen` of `n_rows` selected, if `n` were selected before it? The selection is
 * evenly spaced.
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

/* Select members to learn from, among those that have the metric. */
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

/* Double a threshold. The votes of congestion windows are quotients, 1 if all members are alike, so
 * the distance from 1 is doubled. */
static double doubled(const struct comparison *c, double limit)
{
	if (c->role == LP_ROLE_WINDOW)
		return 1 + 2 * fmax(train_tenth(limit) - 1, 0.1);
	return 2 * train_tenth(limit);
}

/* The votes of some members against each other. (All members would hardly change the thresholds,
 * and would cost too much in large groups.) */
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

/* Set the thresholds of all members from the votes of `n` of them. */
static void thresholds_set(struct comparison *c, const double *votes, uint32_t n)
{
	double threshold = doubled(c, limits_third(c, votes, n));

	/* Votes by spread are already the part beyond the spread, and 0 if there is none. */
	if (c->vectors && c->vectors->by_spread)
		threshold = fmax(threshold, VECTOR_SPREAD_LEAST / 2);
	for (uint32_t i = 0; i < c->v->groups[c->series->group].n_members; i++)
		c->series->thresholds[i] = threshold;
}

static int thresholds_calibrate(struct comparison *c)
{
	_cleanup_free_ double *votes = NULL;
	uint32_t members[SAMPLE_MAX], n = sample_members(c, members);
	int r;

	votes = calloc((size_t)n * c->series->n_windows + 1, sizeof(*votes));
	if (!votes)
		return -ENOMEM;
	r = sample_votes(c, members, n, votes);
	if (r == 0)
		thresholds_set(c, votes, n);
	return r;
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

/* Allocate memory for the calibration. */
static int calibration_alloc(struct comparison *c, uint32_t n_members)
{
	size_t n = c->timeseries ? (size_t)n_members * c->series->n_windows : 0;

	c->votes = calloc(n + 1, sizeof(*c->votes));
	c->data = calloc(n + 1, sizeof(*c->data));
	c->series->thresholds = calloc((size_t)n_members + 1, sizeof(*c->series->thresholds));
	return c->votes && c->data && c->series->thresholds ? 0 : -ENOMEM;
}

/* The rows to learn from; members without a row are left out. */
struct learning {
	struct comparison *c;
	struct group_data g;
	const double *rows[SAMPLE_MAX];
	const struct lp_identity *members[SAMPLE_MAX];
};

static void learning_init(struct learning *l, struct comparison *c, const struct group_data *g)
{
	const struct lp_peer_group *group = &c->v->groups[c->series->group];

	l->c = c;
	l->g = *g;
	l->g.rows = l->rows;
	l->g.n_members = 0;
	for (uint32_t i = 0; i < g->n_members; i++) {
		if (!g->rows[i])
			continue;
		l->members[l->g.n_members] = c->v->components[group->members[i]];
		l->rows[l->g.n_members++] = g->rows[i];
	}
}

/* Compute the votes in the windows first .. end - 1, and store them at their places. */
static int learning_vote(struct learning *l, uint32_t first, uint32_t end, double *votes)
{
	const struct lp_params *p = &l->c->params;
	uint32_t n = end - first, n_windows = l->c->series->n_windows;
	_cleanup_free_ double *some = calloc((size_t)l->g.n_members * n + 1, sizeof(*some));
	_cleanup_(smoothed_release) struct smoothed smoothed = {0};
	int r;

	if (!some)
		return -ENOMEM;
	l->g.context = first * p->win_shift;
	l->g.end = (end - 1) * p->win_shift + p->win_size;
	r = smooth_group(&l->g, p->smooth, comparison_sparse(l->c), &smoothed);
	if (r == 0)
		r = votes_all(l->c->opt->measure, p, &smoothed, NULL, l->g.n_members, some, NULL);
	for (uint32_t i = 0; r == 0 && i < l->g.n_members; i++)
		memcpy(votes + (size_t)i * n_windows + first, some + (size_t)i * n,
			n * sizeof(*some));
	return r;
}

/* Are the votes in a window the same whenever they are computed? Values that are computed from
 * other rows or from earlier slots may change. Averages must not reach from before the first window
 * into the second one. */
static bool votes_last(const struct comparison *c)
{
	const struct lp_table *t = c->v->tables[c->series->metric];

	return c->past && c->past->kept && t->lazy && !t->lazy->peak && !t->n_cuts &&
		c->params.smooth <= c->params.win_shift &&
		comparison_sparse(c) <= c->params.win_shift;
}

/* Learn from votes; those of earlier epochs are known. */
static int thresholds_recall(struct comparison *c, const struct group_data *g)
{
	struct learning l = {0};
	uint32_t n_windows = c->series->n_windows, from;
	_cleanup_free_ double *votes = NULL;
	struct kept_votes_of of;
	bool head;
	int r = 0;

	learning_init(&l, c, g);
	of = (struct kept_votes_of){.group = c->v->groups[c->series->group].name,
		.metric = c->v->tables[c->series->metric]->metric,
		.members = l.members,
		.n_members = l.g.n_members,
		.first = c->past->first_window,
		.n_windows = n_windows};
	votes = calloc((size_t)l.g.n_members * n_windows + 1, sizeof(*votes));
	if (!votes)
		return -ENOMEM;
	from = kept_votes_get(c->past->kept, &of, votes, &head);
	if (!head && from)
		r = learning_vote(&l, 0, 1, votes);
	if (r == 0 && from < n_windows)
		r = learning_vote(&l, from, n_windows, votes);
	if (r < 0)
		return r;
	thresholds_set(c, votes, l.g.n_members);
	return kept_votes_put(c->past->kept, &of, TAKE_PTR(votes));
}

/* Window thresholds come from some members: only those are smoothed. */
static int comparison_learn(struct comparison *c, const struct group_data *g, const double **rows)
{
	int r = calibration_alloc(c, g->n_members);

	if (r == 0 && c->timeseries)
		return comparison_timeseries(c, g);
	sample_rows(rows, g->n_members);
	if (r == 0 && votes_last(c)) {
		c->calibrated = !thresholds_given(c);
		return c->calibrated ? thresholds_recall(c, g) : 0;
	}
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
	/* Vectors are few, so all of them are compared. */
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
