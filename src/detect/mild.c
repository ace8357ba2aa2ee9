#include "detect/mild.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/time.h"
#include "model/metric_role.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* From here on it is no longer little: what is certain makes a suspect. */
#define LARGE_RATIO 2.0
/* For so long, and in so many windows: what lasts minutes passes. */
#define LASTING_US (2 * 3600 * US_PER_SEC)
#define WINDOWS_LEAST 16
/* Of fewer members nobody can say how far they usually are from each other. */
#define MEMBERS_LEAST 6
/* In three quarters of the windows it is so many times as far from its peers as a member usually is
 * in one window, and in the median so many times as far as members' medians are from each other. */
#define OF_WINDOWS 1.75
#define OF_MEMBERS 3.0
/* Members' medians differ by this much at least, as a logarithm. */
#define SPREAD_LEAST 0.01
/* It may have begun, or have ended, at any time: beside all of the data each span, and the halves
 * and quarters of spans, are looked at by themselves. */
#define PARTS_MOST 4
/* The median distance from the median, as a standard deviation. */
#define MAD_SIGMA 1.4826

/* The windows from .. end - 1 of a comparison, and what is usual among its members there. */
struct usual {
	const struct comparison *c;
	uint32_t from, end;
	double *values;	 /* room for a number of each member, or window */
	double *medians; /* [member] of its logarithms over these windows; NaN: too few */
	double windows;	 /* how far a member is from its peers in a window, usually */
};

/* How far a member is on the worse side of its peers in a window; NaN: unknown. */
static double excess(const struct comparison *c, uint32_t member, uint32_t window)
{
	double ratio = c->series->ratios[(size_t)member * c->series->n_windows + window];

	if (!(ratio > 0) || isinf(ratio))
		return NAN;
	return role_is_worse_below(c->role) ? -log(ratio) : log(ratio);
}

/* The numbers of a member in all windows into `values`; how many there are. */
static uint32_t member_excess(const struct usual *u, uint32_t member)
{
	uint32_t n = 0;

	for (uint32_t w = u->from; w < u->end; w++) {
		u->values[n] = excess(u->c, member, w);
		n += !isnan(u->values[n]);
	}
	return n;
}

/* The spread of n numbers around their median; they are overwritten. */
static double spread(double *values, uint32_t n)
{
	double middle = median_of(values, n);

	for (uint32_t i = 0; i < n; i++)
		values[i] = fabs(values[i] - middle);
	return MAD_SIGMA * median_of(values, n);
}

static bool lasts(const struct comparison *c, uint32_t n_windows)
{
	return n_windows >= WINDOWS_LEAST &&
		(int64_t)n_windows * c->params.win_shift * c->params.step_us >= LASTING_US;
}

/* Is anybody that far off at all? */
static bool any_off(struct usual *u)
{
	bool any = false;

	for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
		uint32_t n = member_excess(u, i);

		u->medians[i] = lasts(u->c, n) ? median_of(u->values, n) : NAN;
		any |= u->medians[i] >= log(MILD_RATIO_LEAST);
	}
	return any;
}

/* The usual spread within a window: the median over all windows that tell. */
static int windows_spread(struct usual *u)
{
	_cleanup_free_ double *of = calloc((size_t)(u->end - u->from) + 1, sizeof(*of));
	uint32_t n_of = 0;

	if (!of)
		return -ENOMEM;
	for (uint32_t w = u->from; w < u->end; w++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
			u->values[n] = excess(u->c, i, w);
			n += !isnan(u->values[n]);
		}
		if (n >= MEMBERS_LEAST)
			of[n_of++] = spread(u->values, n);
	}
	u->windows = median_of(of, n_of);
	return 0;
}

/* How far the medians of all but one member are from each other. */
static double members_spread(const struct usual *u, uint32_t member)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
		u->values[n] = u->medians[i];
		n += i != member && !isnan(u->medians[i]);
	}
	if (n + 1 < MEMBERS_LEAST)
		return INFINITY;
	/* A few may be alike by chance: part of what one window differs by stays in medians. */
	return fmax(hypot(spread(u->values, n), u->windows / 4), SPREAD_LEAST);
}

/* How certain it is that a member is off: in terms of what it takes. */
static double certainty(const struct usual *u, uint32_t member)
{
	uint32_t n = member_excess(u, member);
	double quarter;

	if (!(u->medians[member] >= log(MILD_RATIO_LEAST)) || isnan(u->windows))
		return 0;
	median_sort(u->values, n);
	quarter = u->values[n / 4];
	return fmin(quarter / (OF_WINDOWS * fmax(u->windows, SPREAD_LEAST)),
		u->medians[member] / (OF_MEMBERS * members_spread(u, member)));
}

static double window_values(const struct usual *u, const float *of, uint32_t member)
{
	const struct lp_series *s = u->c->series;
	uint32_t n = 0;

	for (uint32_t w = u->from; w < u->end; w++) {
		u->values[n] = of[(size_t)member * s->n_windows + w];
		n += !isnan(u->values[n]);
	}
	return median_of(u->values, n);
}

static int64_t slot_us(const struct comparison *c, uint32_t slot)
{
	return lp_table_time(c->v->tables[c->series->metric], slot);
}

static struct lp_finding finding_make(
	const struct usual *u, uint32_t series, uint32_t member, double certain)
{
	const struct comparison *c = u->c;
	const struct lp_series *s = c->series;
	uint32_t first = u->end, last = u->from;
	struct lp_finding f = {.component = c->v->groups[s->group].members[member],
		.group = s->group,
		.metric = s->metric,
		.series = series,
		.member = member,
		.role = c->role,
		.direction = role_is_worse_below(c->role) ? LP_MARK_BELOW : LP_MARK_ABOVE,
		.distance = certain,
		.threshold = 1,
		.load_ratio = NAN,
		.culprit = true};

	for (uint32_t w = u->from; w < u->end; w++) {
		double off = excess(c, member, w);

		if (isnan(off))
			continue;
		f.n_windows++;
		f.n_anomalous += off > u->windows;
		first = first == u->end ? w : first;
		last = w;
	}
	f.persistence = f.peak = f.n_anomalous;
	f.own = window_values(u, c->own, member);
	f.peers = window_values(u, c->peers, member);
	f.ratio = f.peers > 0 ? f.own / f.peers : INFINITY;
	f.mild = u->medians[member] < log(LARGE_RATIO);
	f.weight = f.mild ? 0 : certain;
	f.first_us = slot_us(c, s->first[first]) - c->v->tables[s->metric]->step_us;
	f.last_us = f.indicted_us = slot_us(c, s->last[last]);
	f.since_before = !u->from;
	f.onset_error_us = f.since_before ? 0 : f.last_us - f.first_us;
	return f;
}

static bool has_finding(const struct findings *f, size_t first, uint32_t component)
{
	for (size_t i = first; i < f->n; i++) {
		if (f->items[i].component == component)
			return true;
	}
	return false;
}

static int part_find(struct usual *u, uint32_t series, size_t first, struct findings *f)
{
	const struct comparison *c = u->c;

	if (!any_off(u))
		return 0;
	if (windows_spread(u) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->smoothed.n_members; i++) {
		uint32_t component = c->v->groups[c->series->group].members[i];
		double certain = certainty(u, i);

		if (certain < c->opt->warn_at || certain <= 0 || has_finding(f, first, component))
			continue;
		if (array_reserve(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) < 0)
			return -ENOMEM;
		f->items[f->n++] = finding_make(u, series, i, certain);
	}
	return 0;
}

/* All parts of so many windows, the last of which ends with the data. */
static int parts_find(
	struct usual *u, uint32_t size, uint32_t series, size_t first, struct findings *f)
{
	int r = 0;

	for (uint32_t end = u->c->series->n_windows; r == 0 && size && end > 0;) {
		u->end = end;
		u->from = end > size ? end - size : 0;
		r = part_find(u, series, first, f);
		end = u->from;
	}
	return r;
}

int mild_find(const struct comparison *c, uint32_t series, size_t first, struct findings *f)
{
	uint32_t n_windows = c->series->n_windows, n_members = c->smoothed.n_members;
	uint32_t n = n_members > n_windows ? n_members : n_windows;
	_cleanup_free_ double *values = NULL, *medians = NULL;
	struct usual u = {.c = c, .end = n_windows};
	int r = 0;

	if (!c->span || !c->calibrated || c->timeseries || n_members < MEMBERS_LEAST ||
		(c->role != LP_ROLE_LATENCY && c->role != LP_ROLE_YIELD) || !lasts(c, n_windows))
		return 0;
	u.values = values = calloc((size_t)n + 1, sizeof(*values));
	u.medians = medians = calloc((size_t)n_members + 1, sizeof(*medians));
	if (!values || !medians)
		return -ENOMEM;
	r = part_find(&u, series, first, f);
	for (uint32_t part = 1; r == 0 && part <= PARTS_MOST; part *= 2)
		r = parts_find(&u, c->span / part, series, first, f);
	return r;
}
