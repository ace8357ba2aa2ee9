#include "detect/weigh.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "detect/compare/marks.h"
#include "detect/mild.h"
#include "model/metric_role.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A window in which a member is off by a factor of 1.5 weighs 1, before the cost per window is
 * subtracted. */
#define UNIT_RATIO 1.5
#define COST 0.5
/* Doing nothing, or being absent, weighs as much as a factor of 4; nothing weighs more than a
 * factor of 32. */
#define ABSENT_RATIO 4.0
#define RATIO_MAX 32.0
#define AT_THRESHOLD 1.2

#define BAR_WINDOW 1.0
#define BAR_LEAST 5.0
#define BAR_SPAN 2.5
#define BAR_MOST 100.0
/* A steady difference needs half of the weight, and one that comes and goes needs twice the
 * weight. */
#define STEADY_TIMES 2.0

double weigh_bar(double n_windows, double span, enum steadiness steady)
{
	double bar = BAR_WINDOW * n_windows;

	if (steady == STEADY)
		bar /= STEADY_TIMES;
	else if (steady == STEADY_NOT)
		bar *= STEADY_TIMES;
	bar = fmin(bar, fmin(BAR_SPAN * sqrt(span), BAR_MOST));
	return fmax(bar, BAR_LEAST);
}

bool weigh_culprit(enum lp_role role, enum lp_mark direction)
{
	if (direction == LP_MARK_ABSENT)
		return true;
	return direction == (role_is_worse_below(role) ? LP_MARK_BELOW : LP_MARK_ABOVE);
}

/* If thresholds were given, or the user named the metric, the user knows its meaning. Differences
 * between functions always matter. */
static bool accuses(const struct comparison *c, enum lp_mark direction)
{
	const char *metric = c->v->tables[c->series->metric]->metric;

	if (!weigh_culprit(c->role, direction))
		return false;
	if (role_is_harm(c->role) || direction == LP_MARK_ABSENT || !c->calibrated ||
		group_has_vectors(c->v, c->series->group))
		return true;
	for (uint32_t i = 0; i < c->opt->n_asked; i++) {
		if (!strcmp(c->opt->asked[i], metric))
			return true;
	}
	return false;
}

static double window_weight(enum lp_mark direction, double ratio)
{
	if (direction == LP_MARK_ABSENT)
		ratio = ABSENT_RATIO;
	else if (direction == LP_MARK_BELOW)
		ratio = ratio > 0 ? 1 / ratio : RATIO_MAX;
	return log(fmin(ratio, RATIO_MAX)) / log(UNIT_RATIO);
}

/* For a vector the distance beyond the spread of its peers counts: the sum over all functions hides
 * a single function, however far off it is. At its threshold it weighs as much as a value that is
 * off by a factor of 1.2. */
static double vector_weight(enum lp_mark direction, double distance, double threshold)
{
	if (direction == LP_MARK_ABSENT || threshold <= 0)
		return window_weight(direction, RATIO_MAX);
	return window_weight(LP_MARK_ABOVE, AT_THRESHOLD * distance / threshold);
}

static const enum lp_mark directions[] = {LP_MARK_ABSENT, LP_MARK_ABOVE, LP_MARK_BELOW};

/* The heaviest stretch of windows in one direction. */
struct stretch {
	double weight;
	double share;	      /* of the required weight */
	uint32_t first, last; /* windows, both anomalous */
	uint32_t n_windows;   /* with data, in the whole series */
	uint32_t n_anomalous; /* in this direction, in the whole series */
	uint32_t fired;	      /* the window in which step 6 fired first within the stretch */
	bool fires;
	struct steady_count samples; /* that were examined */
};

/* The weight that a member must reach after `n_windows` windows with data. A weight that was once
 * enough stays enough for a span, so that later data does not change it. After that (`settled`) the
 * weight for a whole span is required, even in the first windows. */
static double stretch_bar(const struct comparison *c, uint32_t n_windows, enum steadiness steady)
{
	uint32_t span = c->span ? c->span : n_windows;

	return weigh_bar(c->unit * (c->settled ? span : n_windows), c->unit * span, steady);
}

static uint32_t count_data(const uint8_t *marks, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t w = 0; w < n; w++)
		found += marks[w] != LP_MARK_NONE;
	return found;
}

/* The weight of an anomalous window of a member. */
static double hit_weight(
	const struct comparison *c, uint32_t member, uint32_t window, enum lp_mark direction)
{
	const struct lp_series *s = c->series;
	size_t at = (size_t)member * s->n_windows + window;

	return group_has_vectors(c->v, s->group)
		? vector_weight(direction, s->distances[at], s->thresholds[member])
		: window_weight(direction, s->ratios[at]);
}

/* The weight of a member so far, as a share of the required weight. Examines samples only if they
 * decide. */
static int stretch_share(struct steady *steady, uint32_t member, enum lp_mark direction, double sum,
	uint32_t n_windows, uint32_t window, struct stretch *st, double *ret)
{
	const struct comparison *c = steady->c;
	double least = stretch_bar(c, n_windows, STEADY);
	enum steadiness is = STEADY_UNKNOWN;
	int r = 0;

	if (sum >= least && least < stretch_bar(c, n_windows, STEADY_NOT))
		r = steady_look(
			steady, member, direction, c->series->last[window] + 1, &st->samples, &is);
	*ret = sum / stretch_bar(c, n_windows, is);
	return r;
}

/* A window that is part of a stretch. */
static void stretch_extend(struct stretch *st, double sum, double share, uint32_t window)
{
	st->share = fmax(st->share, share);
	if (sum <= st->weight)
		return;
	st->weight = sum;
	st->last = window;
}

/* The number of windows with data that counts: `n` so far, or a whole span if that much data
 * follows. */
static uint32_t windows_by_then(const struct comparison *c, uint32_t n, uint32_t n_all)
{
	return c->span && n_all - n >= c->span && n < c->span ? c->span : n;
}

/* A running sum that does not fall below zero: it forgets everything before its last zero. */
static int stretch_find(
	struct steady *steady, uint32_t member, enum lp_mark direction, struct stretch *ret)
{
	const struct comparison *c = steady->c;
	const struct lp_series *s = c->series;
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows;
	struct stretch best = {0}, now = {0};
	uint32_t n = c->n_before, n_anomalous = 0, n_all = n + count_data(marks, s->n_windows);
	double sum = 0, share;

	for (uint32_t w = 0; w < s->n_windows; w++) {
		bool hit = marks[w] == direction;

		n += marks[w] != LP_MARK_NONE;
		n_anomalous += hit;
		if (hit && sum <= 0)
			now = (struct stretch){.first = w, .samples.end = s->first[w]};
		if (marks[w] != LP_MARK_NONE)
			sum += c->unit * ((hit ? hit_weight(c, member, w, direction) : 0) - COST);
		sum = fmax(sum, 0);
		if (!hit || sum <= 0)
			continue;
		if (stretch_share(steady, member, direction, sum, windows_by_then(c, n, n_all), w,
			    &now, &share) < 0)
			return -ENOMEM;
		stretch_extend(&now, sum, share, w);
		if (now.share >= best.share)
			best = now;
	}
	best.n_windows = count_data(marks, s->n_windows);
	best.n_anomalous = n_anomalous;
	*ret = best;
	return 0;
}

/* Step 6 within a stretch. */
static int stretch_fire(
	const struct comparison *c, uint32_t member, enum lp_mark direction, struct stretch *st)
{
	const struct lp_series *s = c->series;
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows + st->first;
	uint32_t n = st->last - st->first + 1;
	_cleanup_free_ uint8_t *only = calloc(n, 1);

	if (!only)
		return -ENOMEM;
	for (uint32_t w = 0; w < n; w++)
		only[w] = marks[w] == direction ? (uint8_t)direction : LP_MARK_NORMAL;
	st->fires = st->n_anomalous && persist_fires(only, n, c->params.k, &st->fired);
	st->fired += st->first;
	return 0;
}

static int number_median(const struct comparison *c, const float *values, uint32_t member,
	enum lp_mark direction, const struct stretch *st, double *ret)
{
	const struct lp_series *s = c->series;
	size_t base = (size_t)member * s->n_windows;
	_cleanup_free_ double *numbers = calloc(st->last - st->first + 1, sizeof(*numbers));
	uint32_t n = 0;

	if (!numbers)
		return -ENOMEM;
	for (uint32_t w = st->first; w <= st->last; w++) {
		if (s->marks[base + w] == direction && !isnan(values[base + w]))
			numbers[n++] = values[base + w];
	}
	*ret = median_of(numbers, n);
	return 0;
}

static int64_t slot_us(const struct comparison *c, uint32_t slot)
{
	const struct lp_table *t = c->v->tables[c->series->metric];

	return lp_table_time(t, slot);
}

static int finding_measure(
	const struct comparison *c, const struct stretch *st, struct lp_finding *f)
{
	int r = number_median(c, c->own, f->member, f->direction, st, &f->own);

	if (r == 0)
		r = number_median(c, c->peers, f->member, f->direction, st, &f->peers);
	if (r == 0)
		r = number_median(
			c, c->series->distances, f->member, f->direction, st, &f->distance);
	if (f->direction == LP_MARK_ABSENT) {
		f->ratio = 0;
		f->own = isnan(f->own) ? NAN : 0;
	} else {
		f->ratio = f->peers > 0 ? f->own / f->peers : INFINITY;
	}
	return r;
}

/* Do all members of the group lack data at the end of a stretch? Then it is the group of one
 * observer, which is missing as a whole. */
static bool is_group_gone(const struct comparison *c, const struct stretch *st)
{
	const struct lp_series *s = c->series;

	for (uint32_t i = 0; i < c->smoothed.n_members; i++) {
		uint8_t mark = s->marks[(size_t)i * s->n_windows + st->last];

		if (mark != LP_MARK_NONE && mark != LP_MARK_ABSENT)
			return false;
	}
	return true;
}

static int finding_add(const struct comparison *c, uint32_t series, uint32_t member,
	enum lp_mark direction, const struct stretch *st, struct findings *fs)
{
	const struct lp_series *s = c->series;
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows;
	struct lp_finding f = {
		.component = c->v->groups[s->group].members[member],
		.group = s->group,
		.metric = s->metric,
		.series = series,
		.member = member,
		.direction = direction,
		.n_windows = st->n_windows,
		.first_us = slot_us(c, s->first[st->first]) - c->v->tables[s->metric]->step_us,
		.last_us = slot_us(c, s->last[st->last]),
		.indicted_us = slot_us(c, s->last[st->fired]),
		.threshold = s->thresholds[member],
		.weight = st->weight,
		.load_ratio = NAN,
		.culprit = accuses(c, direction),
		.whole = direction == LP_MARK_ABSENT && is_group_gone(c, st),
		.role = c->role,
		.floor = c->floor,
	};
	int r = finding_measure(c, st, &f);

	/* Count what persistence counts: a member that is first above and then below its peers is
	 * anomalous all the time. */
	for (uint32_t w = 0; w < s->n_windows; w++) {
		f.n_anomalous += mark_anomalous(marks[w]);
		f.n_aside += mark_anomalous(marks[w]) && marks[w] != direction;
	}
	f.persistence = persist_accumulate(marks, s->n_windows, 0, &f.peak);
	if (r == 0)
		r = array_reserve(&fs->items, &fs->cap, fs->n + 1, sizeof(*fs->items));
	if (r == 0)
		fs->items[fs->n++] = f;
	return r;
}

/* One slow second affects all averages of the next half minute. Service times may come from a
 * single call, so they require more than that. */
static bool is_one_sample(const struct comparison *c, const struct stretch *st)
{
	return c->role == LP_ROLE_SERVICE && c->timeseries && st->n_anomalous <= c->params.smooth;
}

/* Is it still so at the end, in k of the last 2k-1 windows with data? */
static bool is_at_end(const struct comparison *c, uint32_t member, enum lp_mark direction)
{
	const struct lp_series *s = c->series;
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows;
	uint32_t n = 0, found = 0;

	for (uint32_t w = s->n_windows; w-- > 0 && n < 2 * c->params.k - 1;) {
		n += marks[w] != LP_MARK_NONE;
		found += marks[w] == direction;
	}
	return found >= c->params.k;
}

/* The direction in which a member weighs most, culprits first. */
static int weigh_calibrated(
	struct steady *steady, uint32_t series, uint32_t member, struct findings *fs)
{
	const struct comparison *c = steady->c;
	struct stretch best = {0};
	enum lp_mark direction = LP_MARK_NONE;
	bool culprit = false, passed = false, slight = false;

	for (size_t d = 0; d < ARRAY_SIZE(directions); d++) {
		bool bad = accuses(c, directions[d]);
		struct stretch st;
		int r = stretch_find(steady, member, directions[d], &st);

		if (r == 0 && st.n_anomalous)
			r = stretch_fire(c, member, directions[d], &st);
		if (r < 0)
			return r;
		if (!st.fires)
			continue;
		if (st.share < 1 || is_one_sample(c, &st)) {
			slight |= is_at_end(c, member, directions[d]);
			passed = true;
			continue;
		}
		if (direction == LP_MARK_NONE || (bad && !culprit) ||
			(bad == culprit && st.share > best.share)) {
			best = st;
			direction = directions[d];
			culprit = bad;
		}
	}
	if (direction == LP_MARK_NONE) {
		fs->n_slight += slight;
		fs->n_passed += passed && !slight;
		return 0;
	}
	best.weight = best.share;
	return finding_add(c, series, member, direction, &best, fs);
}

/* With given thresholds only step 6 decides, as in the papers. */
static int weigh_given(
	const struct comparison *c, uint32_t series, uint32_t member, struct findings *fs)
{
	const struct lp_series *s = c->series;
	const uint8_t *marks = s->marks + (size_t)member * s->n_windows;
	struct stretch st = {.last = 0};
	uint32_t n[LP_MARK_ABSENT + 1] = {0};
	enum lp_mark direction = LP_MARK_ABSENT;

	if (!persist_fires(marks, s->n_windows, c->params.k, &st.fired))
		return 0;
	st.first = st.fired >= 2 * c->params.k - 2 ? st.fired - (2 * c->params.k - 2) : 0;
	while (marks[st.first] <= LP_MARK_NORMAL)
		st.first++;
	for (uint32_t w = 0; w < s->n_windows; w++) {
		n[marks[w]]++;
		if (marks[w] > LP_MARK_NORMAL)
			st.last = w;
	}
	for (size_t d = 0; d < ARRAY_SIZE(directions); d++) {
		if (n[directions[d]] > n[direction])
			direction = directions[d];
	}
	st.n_windows = s->n_windows - n[LP_MARK_NONE];
	st.n_anomalous = n[LP_MARK_ABOVE] + n[LP_MARK_BELOW] + n[LP_MARK_ABSENT];
	persist_accumulate(marks, s->n_windows, 0, &n[LP_MARK_NONE]);
	st.weight = n[LP_MARK_NONE] / (double)c->params.k;
	return finding_add(c, series, member, direction, &st, fs);
}

int weigh_comparison(const struct comparison *c, uint32_t series, struct findings *fs)
{
	_cleanup_(steady_release) struct steady steady;
	size_t first = fs->n;
	int r = 0;

	steady_init(&steady, c);
	for (uint32_t i = 0; r == 0 && i < c->smoothed.n_members; i++) {
		slices_rest_at(i);
		r = c->calibrated ? weigh_calibrated(&steady, series, i, fs)
				  : weigh_given(c, series, i, fs);
	}
	return r < 0 ? r : mild_find(c, series, first, fs);
}
