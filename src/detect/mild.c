#include "detect/mild.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/median.h"
#include "base/slices.h"
#include "base/time.h"
#include "model/metric_role.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* From this ratio on a difference is not mild: if it is certain, it makes a suspect. */
#define LARGE_RATIO 2.0
/* It must last at least this long, in at least this many windows: shorter differences pass. */
#define LASTING_US (2 * 3600 * US_PER_SEC)
#define WINDOWS_LEAST 16
/* With fewer members, the usual distance between members is unknown. */
#define MEMBERS_LEAST 6
/* In three quarters of the windows its distance from its peers is at least OF_WINDOWS times the
 * usual distance in a window; and its median is at least OF_MEMBERS times as far away as the
 * medians of members usually are. */
#define OF_WINDOWS 1.75
#define OF_MEMBERS 3.0
/* The medians of members are assumed to differ by at least this much, as a logarithm. */
#define SPREAD_LEAST 0.01
/* A difference may begin and end at any time: limpet examines the whole data, each span, and the
 * halves and quarters of spans. */
#define PARTS_MOST 4
/* Alternatively it shows on three quarters of at least this many days, each with enough data by
 * itself. */
#define DAYS_LEAST 3
/* A difference that this many components of an observer have in common is not about one of them. */
#define COHORT_LEAST 3
/* Factor from the median absolute deviation to a standard deviation. */
#define MAD_SIGMA 1.4826

/* The windows from .. end - 1 of a comparison, and the usual differences among its members
 * there. */
struct usual {
	const struct comparison *c;
	uint32_t from, end;
	double *values;	    /* room for one number per member or window */
	double *medians;    /* [member] of its logarithms over these windows; NaN: too few */
	double windows;	    /* the usual distance of a member from its peers in a window */
	uint32_t *observer; /* [member] */
	size_t ours;	    /* this file added the findings from here on */
	float *common; /* [observer * n_windows + window] the distance that all its members share;
			  NULL: none */
};

/* How far a member is on the worse side of its peers in a window; NaN: unknown. */
static double excess_raw(const struct comparison *c, uint32_t member, uint32_t window)
{
	double ratio = c->series->ratios[(size_t)member * c->series->n_windows + window];

	if (!(ratio > 0) || isinf(ratio))
		return NAN;
	return role_is_worse_below(c->role) ? -log(ratio) : log(ratio);
}

/* The same without the part that is common to its observer: a member that is slow together with the
 * others of its observer belongs to another class, or to a slow host. */
static double excess(const struct usual *u, uint32_t member, uint32_t window)
{
	double raw = excess_raw(u->c, member, window), common = 0;

	if (u->common)
		common = u->common[(size_t)u->observer[member] * u->c->series->n_windows + window];
	return raw - fmax(common, 0);
}

/* Write the distances of a member in all windows to `values`; return their number. */
static uint32_t member_excess(const struct usual *u, uint32_t member)
{
	uint32_t n = 0;

	for (uint32_t w = u->from; w < u->end; w++) {
		u->values[n] = excess(u, member, w);
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

/* Is any member off by enough? */
static bool any_off(struct usual *u)
{
	bool any = false;

	for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
		uint32_t n = member_excess(u, i);

		slices_rest_at(i);
		u->medians[i] = lasts(u->c, n) ? median_of(u->values, n) : NAN;
		any |= u->medians[i] >= log(MILD_RATIO_LEAST);
	}
	return any;
}

/* The usual spread within a window: the median over all windows with enough data. */
static int windows_spread(struct usual *u)
{
	_cleanup_free_ double *of = calloc((size_t)(u->end - u->from) + 1, sizeof(*of));
	uint32_t n_of = 0;

	if (!of)
		return -ENOMEM;
	for (uint32_t w = u->from; w < u->end; w++) {
		uint32_t n = 0;

		slices_rest();
		for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
			u->values[n] = excess(u, i, w);
			n += !isnan(u->values[n]);
		}
		if (n >= MEMBERS_LEAST)
			of[n_of++] = spread(u->values, n);
	}
	u->windows = median_of(of, n_of);
	return 0;
}

/* The spread of the medians of all members but one. */
static double members_spread(const struct usual *u, uint32_t member)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
		u->values[n] = u->medians[i];
		n += i != member && !isnan(u->medians[i]);
	}
	if (n + 1 < MEMBERS_LEAST)
		return INFINITY;
	/* A few members may be alike by chance: a part of the spread within windows remains in
	 * medians. */
	return fmax(hypot(spread(u->values, n), u->windows / 4), SPREAD_LEAST);
}

/* The certainty that a member is off, as a multiple of what is required. */
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
		double off = excess(u, member, w);

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

/* The finding about a component so far; NULL: none. */
static struct lp_finding *finding_of(const struct findings *f, size_t first, uint32_t component)
{
	for (size_t i = first; i < f->n; i++) {
		if (f->items[i].component == component)
			return &f->items[i];
	}
	return NULL;
}

/* Add a finding about a member if it is certain enough; the most certain one is reported. */
static int finding_add(const struct usual *u, uint32_t series, uint32_t member, double certain,
	size_t first, struct findings *f)
{
	uint32_t component = u->c->v->groups[u->c->series->group].members[member];
	struct lp_finding *known = finding_of(f, first, component);

	if (certain < u->c->opt->warn_at || certain <= 0)
		return 0;
	if (known) {
		if (known >= f->items + u->ours && known->distance < certain)
			*known = finding_make(u, series, member, certain);
		return 0;
	}
	if (array_reserve(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) < 0)
		return -ENOMEM;
	f->items[f->n++] = finding_make(u, series, member, certain);
	return 0;
}

static int part_find(struct usual *u, uint32_t series, size_t first, struct findings *f)
{
	int r = 0;

	if (!any_off(u))
		return 0;
	if (windows_spread(u) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < u->c->smoothed.n_members; i++) {
		slices_rest();
		r = finding_add(u, series, i, certainty(u, i), first, f);
	}
	return r;
}

/* Examine all parts of `size` windows; the last part ends with the data. */
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

/* Is any member off in enough windows for a finding? Usually none is. */
static bool worth_a_look(const struct comparison *c)
{
	for (uint32_t i = 0; i < c->smoothed.n_members; i++) {
		uint32_t n = 0;

		slices_rest_at(i);
		for (uint32_t w = 0; w < c->series->n_windows; w++)
			n += excess_raw(c, i, w) >= log(MILD_RATIO_LEAST);
		if (2 * n >= WINDOWS_LEAST)
			return true;
	}
	return false;
}

/* Number the observers of the members; returns their number, or -ENOMEM. */
static int64_t observers_number(struct usual *u)
{
	const struct lp_verdict *v = u->c->v;
	const uint32_t *members = v->groups[u->c->series->group].members;
	_cleanup_(strmap_release) struct strmap names = {0};
	uint32_t n = 0;

	for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
		const char *name = v->components[members[i]]->observer;

		if (strmap_get(&names, name, &u->observer[i]))
			continue;
		u->observer[i] = n++;
		if (strmap_put(&names, name, u->observer[i]) < 0)
			return -ENOMEM;
	}
	return n;
}

/* The median of the members of an observer, which are listed in `own`, in each window. */
static void observer_common(struct usual *u, uint32_t observer, const uint32_t *own, uint32_t n_own)
{
	uint32_t n_windows = u->c->series->n_windows;

	for (uint32_t w = 0; w < n_windows; w++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < n_own; i++) {
			u->values[n] = excess_raw(u->c, own[i], w);
			n += !isnan(u->values[n]);
		}
		u->common[(size_t)observer * n_windows + w] =
			n >= COHORT_LEAST ? (float)median_of(u->values, n) : 0;
	}
}

static int common_make(struct usual *u)
{
	uint32_t n_members = u->c->smoothed.n_members;
	int64_t n = observers_number(u);
	_cleanup_free_ uint32_t *own = calloc((size_t)n_members + 1, sizeof(*own));

	if (n < 0 || !own)
		return -ENOMEM;
	if (n * COHORT_LEAST > n_members)
		return 0; /* a component usually has hardly any others on its observer */
	u->common = calloc((size_t)n * u->c->series->n_windows + 1, sizeof(*u->common));
	if (!u->common)
		return -ENOMEM;
	for (uint32_t o = 0; o < n; o++) {
		uint32_t n_own = 0;

		for (uint32_t i = 0; i < n_members; i++) {
			if (u->observer[i] == o)
				own[n_own++] = i;
		}
		observer_common(u, o, own, n_own);
	}
	return 0;
}

/* The end of the day that begins with window `from`: the first window of the next day. */
static uint32_t day_end(const struct comparison *c, uint32_t from)
{
	int64_t day = floor_div(slot_us(c, c->series->last[from]), US_PER_DAY);
	uint32_t w = from;

	while (w < c->series->n_windows &&
		floor_div(slot_us(c, c->series->last[w]), US_PER_DAY) == day)
		w++;
	return w;
}

static uint32_t days_count(const struct comparison *c)
{
	uint32_t n = 0;

	for (uint32_t w = 0; w < c->series->n_windows; w = day_end(c, w))
		n++;
	return n;
}

/* The medians of all members on all days, [member * n_days + day]. */
static void days_make(struct usual *u, uint32_t n_days, double *of)
{
	uint32_t n_windows = u->c->series->n_windows, day = 0;

	for (u->from = 0; u->from < n_windows; u->from = u->end, day++) {
		u->end = day_end(u->c, u->from);
		for (uint32_t i = 0; i < u->c->smoothed.n_members; i++) {
			uint32_t n = member_excess(u, i);

			slices_rest_at(i);
			of[(size_t)i * n_days + day] =
				lasts(u->c, n) ? median_of(u->values, n) : NAN;
		}
	}
	u->from = 0;
	u->end = n_windows;
}

/* The certainty from the days of a member: it is off by enough to matter, and by more than a member
 * usually is on one day. Chance becomes less likely with more days. Sorts `days`. */
static double days_certainty(double *days, uint32_t n_days, double usual)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < n_days; d++) {
		days[n] = days[d];
		n += !isnan(days[n]);
	}
	if (n < DAYS_LEAST)
		return 0;
	median_sort(days, n);
	return days[n / 4] / (fmax(log(MILD_RATIO_LEAST), usual) * sqrt((double)DAYS_LEAST / n));
}

/* The usual distance of a member on a day. */
static int days_usual(const struct usual *u, const double *of, uint32_t n_days, double *ret)
{
	size_t n_all = (size_t)u->c->smoothed.n_members * n_days;
	_cleanup_free_ double *all = calloc(n_all + 1, sizeof(*all));
	uint32_t n = 0;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n_all; i++) {
		all[n] = fabs(of[i]);
		n += !isnan(all[n]);
	}
	*ret = MAD_SIGMA * median_of(all, n);
	return 0;
}

/* A difference that no single day shows for certain is certain if enough of them show it. */
static int days_find(struct usual *u, uint32_t series, size_t first, struct findings *f)
{
	uint32_t n_members = u->c->smoothed.n_members, n_days = days_count(u->c);
	_cleanup_free_ double *of = NULL;
	double usual = 0;
	int r;

	if (n_days < DAYS_LEAST)
		return 0;
	of = calloc((size_t)n_members * n_days + 1, sizeof(*of));
	if (!of)
		return -ENOMEM;
	days_make(u, n_days, of);
	r = days_usual(u, of, n_days, &usual);
	if (!any_off(u))
		return r;
	if (r == 0)
		r = windows_spread(u);
	for (uint32_t i = 0; r == 0 && i < n_members; i++) {
		double certain = days_certainty(of + (size_t)i * n_days, n_days, usual);

		if (u->medians[i] >= log(MILD_RATIO_LEAST))
			r = finding_add(u, series, i, certain, first, f);
	}
	return r;
}

static int all_find(struct usual *u, uint32_t series, size_t first, struct findings *f)
{
	int r = part_find(u, series, first, f);

	for (uint32_t part = 1; r == 0 && part <= PARTS_MOST; part *= 2)
		r = parts_find(u, u->c->span / part, series, first, f);
	return r < 0 ? r : days_find(u, series, first, f);
}

int mild_find(const struct comparison *c, uint32_t series, size_t first, struct findings *f)
{
	uint32_t n_windows = c->series->n_windows, n_members = c->smoothed.n_members;
	uint32_t n = n_members > n_windows ? n_members : n_windows;
	_cleanup_free_ double *values = NULL, *medians = NULL;
	_cleanup_free_ uint32_t *observer = NULL;
	struct usual u = {.c = c, .end = n_windows, .ours = f->n};
	int r;

	if (!c->span || !c->calibrated || c->timeseries || n_members < MEMBERS_LEAST ||
		(c->role != LP_ROLE_LATENCY && c->role != LP_ROLE_YIELD) || !lasts(c, n_windows) ||
		!worth_a_look(c))
		return 0;
	u.values = values = calloc((size_t)n + 1, sizeof(*values));
	u.medians = medians = calloc((size_t)n_members + 1, sizeof(*medians));
	u.observer = observer = calloc((size_t)n_members + 1, sizeof(*observer));
	if (!values || !medians || !observer)
		return -ENOMEM;
	r = common_make(&u);
	if (r == 0)
		r = all_find(&u, series, first, f);
	free(u.common);
	return r;
}
