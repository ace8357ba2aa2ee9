/* Thresholds: fixed by hand, learnt in training, or from the peers themselves.
 *
 * Without training every member is trained on the data at hand, as Detection 8 says, and the group
 * takes what the member at the lower third of them needs, times 2. Up to half of the members may be
 * bad: they need large thresholds themselves, and make the healthy ones need somewhat larger ones,
 * which is why it is not the median.
 */
#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/compare.h"
#include "detect/compare/marks.h"
#include "detect/train/train.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More members say no more about their median. */
#define SAMPLE_MAX 127

/* Thresholds that were given. False: of at least one member nothing is known. */
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

/* Is row number `seen` of `n_rows` taken, where `n` were taken before it? They are evenly spaced.
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

/* What the member at the lower third needs. */
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

/* The votes of congestion windows are quotients, 1 where all are alike: what doubles is the
 * distance from 1. */
static double doubled(const struct comparison *c, double limit)
{
	if (c->role == LP_ROLE_WINDOW)
		return 1 + 2 * fmax(train_tenth(limit) - 1, 0.1);
	return 2 * train_tenth(limit);
}

/* The votes that some members cast on each other. (All members would be more than is needed to know
 * what is usual: this is to cost little in large groups.) */
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
	for (uint32_t i = 0; i < c->smoothed.n_members; i++)
		s->thresholds[i] = threshold;
	return 0;
}

int comparison_thresholds(struct comparison *c)
{
	c->calibrated = !thresholds_given(c);
	if (c->calibrated && c->past && !isnan(c->past->threshold)) {
		for (uint32_t i = 0; i < c->smoothed.n_members; i++)
			c->series->thresholds[i] = c->past->threshold;
		return 0;
	}
	return c->calibrated ? thresholds_calibrate(c) : 0;
}
