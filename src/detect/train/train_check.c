#include "detect/train/train_check.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/compare.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An asymmetry is lasting if it shows in more than this share of the windows. */
#define LASTING_SHARE 0.5
/* For a metric of unknown unit: this share of the usual value does not matter. */
#define FLOOR_SHARE 0.05
/* Absence in more than this share of the windows is reported. */
#define ABSENT_SHARE 0.1
/* Load below IDLE_LEVEL of its peak is next to nothing; if that is so for more than IDLE_SHARE of
 * the time, the load is too light. */
#define IDLE_LEVEL 0.1
#define IDLE_SHARE 0.5

int train_warn(struct train_result *ret, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	if (array_reserve(&ret->warnings, &ret->cap_warnings, ret->n_warnings + 1,
		    sizeof(*ret->warnings)) < 0) {
		free(text);
		return -ENOMEM;
	}
	ret->warnings[ret->n_warnings++] = text;
	return 0;
}

static const struct lp_table *pair_table(const struct train_pair *p)
{
	return p->v->tables[p->metric];
}

static const struct lp_peer_group *pair_group(const struct train_pair *p)
{
	return &p->v->groups[p->group];
}

/* The share of its windows in which a member's vote exceeds a threshold. */
static double share_above(const struct train_pair *p, uint32_t member, double threshold)
{
	const double *votes = p->votes + (size_t)member * p->n_windows;
	uint32_t n = 0, above = 0;

	for (uint32_t w = 0; w < p->n_windows; w++) {
		n += !isnan(votes[w]);
		above += votes[w] > threshold;
	}
	return n ? (double)above / n : 0;
}

/* Twice the threshold that the median member needs: the one that the data itself suggests. */
static int usual_threshold(const struct train_pair *p, double *ret)
{
	_cleanup_free_ double *limits = calloc(pair_group(p)->n_members, sizeof(*limits));
	uint32_t n = 0;

	if (!limits)
		return -ENOMEM;
	for (uint32_t i = 0; i < pair_group(p)->n_members; i++) {
		if (!isnan(p->limits[i]))
			limits[n++] = p->limits[i];
	}
	*ret = n ? 2 * train_tenth(median_of(limits, n)) : INFINITY;
	return 0;
}

/* The mean of a row in one of `n_parts` parts of the time. */
static double part_mean(
	const struct lp_table *t, const double *row, uint32_t part, uint32_t n_parts)
{
	uint32_t from = (uint32_t)((uint64_t)part * t->n_slots / n_parts);
	uint32_t to = (uint32_t)((uint64_t)(part + 1) * t->n_slots / n_parts), n = 0;
	double sum = 0;

	to = to > from ? to : from + 1; /* there are more parts than slots */

	for (uint32_t s = from; row && s < to; s++) {
		if (isfinite(row[s])) {
			sum += row[s];
			n++;
		}
	}
	return n ? sum / n : NAN;
}

/* The median of the others' means in that part. */
static double peers_part(
	const struct train_pair *p, uint32_t member, uint32_t part, uint32_t n_parts, double *work)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < pair_group(p)->n_members; i++) {
		double mean = part_mean(pair_table(p), p->rows[i], part, n_parts);

		if (i != member && !isnan(mean))
			work[n++] = mean;
	}
	return median_of(work, n);
}

/* The median of a row; NaN without values. */
static int row_median(const struct lp_table *t, const double *row, double *ret)
{
	_cleanup_free_ double *values = calloc(t->n_slots + (size_t)1, sizeof(*values));
	uint32_t n = 0;

	if (!values)
		return -ENOMEM;
	for (uint32_t s = 0; row && s < t->n_slots; s++) {
		if (isfinite(row[s]))
			values[n++] = row[s];
	}
	*ret = median_of(values, n);
	return 0;
}

/* Medians of all members. */
static int member_medians(const struct train_pair *p, double *medians)
{
	int r = 0;

	for (uint32_t i = 0; i < pair_group(p)->n_members && r == 0; i++)
		r = row_median(pair_table(p), p->rows[i], &medians[i]);
	return r;
}

static double median_of_others_than(
	const double *medians, uint32_t n_members, uint32_t member, double *work)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_members; i++) {
		if (i != member && !isnan(medians[i]))
			work[n++] = medians[i];
	}
	return median_of(work, n);
}

/* Does the difference matter? */
static bool differs(const struct train_pair *p, double own, double peers)
{
	const struct lp_metric *m = group_metric(p->v, p->group, pair_table(p)->metric);
	double floor = m ? m->floor : FLOOR_SHARE * fabs(peers);

	return fabs(own - peers) > floor;
}

/* A component that differs in several runs is shown once, for the run with the largest share.
 * `*ret_slot` is its place; NULL: an earlier run has a larger share. */
static int asymmetry_slot(struct train_result *ret, const char *metric, const char *component,
	double share, struct train_asymmetry **ret_slot)
{
	*ret_slot = NULL;
	for (size_t i = 0; i < ret->n_asymmetries; i++) {
		struct train_asymmetry *a = &ret->asymmetries[i];

		if (strcmp(a->metric, metric) || strcmp(a->component, component))
			continue;
		if (share > a->share) {
			train_asymmetry_release(a);
			*ret_slot = a;
		}
		return 0;
	}
	if (array_reserve(&ret->asymmetries, &ret->cap_asymmetries, ret->n_asymmetries + 1,
		    sizeof(*ret->asymmetries)) < 0)
		return -ENOMEM;
	*ret_slot = &ret->asymmetries[ret->n_asymmetries++];
	return 0;
}

static int add_asymmetry(const struct train_pair *p, uint32_t member, double share, double own,
	double peers, struct train_result *ret)
{
	const struct lp_table *t = pair_table(p);
	uint32_t n_members = pair_group(p)->n_members;
	_cleanup_free_ double *work = calloc(n_members, sizeof(*work));
	const char *component = p->v->components[pair_group(p)->members[member]]->text;
	struct train_asymmetry *a;
	int r = work ? asymmetry_slot(ret, t->metric, component, share, &a) : -ENOMEM;

	if (r < 0 || !a)
		return r;
	*a = (struct train_asymmetry){.share = share,
		.own = own,
		.peers = peers,
		.start_us = t->start_us,
		.end_us = lp_table_time(t, (int64_t)t->n_slots - 1)};
	a->metric = strdup(t->metric);
	a->unit = strdup(t->unit);
	a->component = strdup(component);
	a->group = strdup(pair_group(p)->name);
	if (!a->metric || !a->unit || !a->component || !a->group)
		return -ENOMEM;
	for (uint32_t c = 0; c < TRAIN_CURVE_COLUMNS; c++) {
		a->own_curve[c] = part_mean(t, p->rows[member], c, TRAIN_CURVE_COLUMNS);
		a->peers_curve[c] = peers_part(p, member, c, TRAIN_CURVE_COLUMNS, work);
	}
	return 0;
}

/* Members that differ nearly all the time, by the threshold that their peers need. */
static int check_lasting(const struct train_pair *p, double threshold, struct train_result *ret)
{
	uint32_t n = pair_group(p)->n_members;
	_cleanup_free_ double *medians = NULL, *work = calloc(n, sizeof(*work));
	int r = work ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < n && r == 0; i++) {
		double share = share_above(p, i, threshold), peers;

		if (share <= LASTING_SHARE)
			continue;
		if (!medians) { /* not needed for most groups */
			medians = calloc(n, sizeof(*medians));
			r = medians ? member_medians(p, medians) : -ENOMEM;
			if (r < 0)
				break;
		}
		peers = median_of_others_than(medians, n, i, work);
		if (differs(p, medians[i], peers))
			r = add_asymmetry(p, i, share, medians[i], peers, ret);
	}
	return r;
}

/* The number of windows in which more than half of the others have data, and the number of these in
 * which the member has none. */
static uint32_t count_absent(
	const struct train_pair *p, uint32_t member, const uint32_t *n_data, uint32_t *ret_n)
{
	const bool *data = p->data + (size_t)member * p->n_windows;
	uint32_t others = pair_group(p)->n_members - 1, absent = 0;

	*ret_n = 0;
	for (uint32_t w = 0; w < p->n_windows; w++) {
		if (2 * (uint64_t)(n_data[w] - data[w]) <= others)
			continue;
		++*ret_n;
		absent += !data[w];
	}
	return absent;
}

static int check_absent(const struct train_pair *p, struct train_result *ret)
{
	_cleanup_free_ uint32_t *n_data = calloc(p->n_windows, sizeof(*n_data));
	const struct lp_peer_group *g = pair_group(p);
	int r = n_data ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < (size_t)g->n_members * p->n_windows; i++)
		n_data[i % p->n_windows] += p->data[i];
	for (uint32_t i = 0; i < g->n_members && r == 0; i++) {
		uint32_t n, absent = p->rows[i] ? count_absent(p, i, n_data, &n) : 0;

		if (absent && absent > ABSENT_SHARE * n)
			r = train_warn(ret,
				"%s has no %s in %.0f%% of the windows in which its peers do: "
				"every threshold makes that an anomaly",
				p->v->components[g->members[i]]->text, pair_table(p)->metric,
				100.0 * absent / n);
	}
	return r;
}

int train_check_pair(const struct train_pair *p, struct train_result *ret)
{
	double threshold = 0;
	int r = usual_threshold(p, &threshold);

	if (r == 0)
		r = check_lasting(p, threshold, ret);
	return r < 0 ? r : check_absent(p, ret);
}

/* The mean over the group at each slot. */
static void group_means(const struct lp_verdict *v, const double *const *rows, uint32_t n_members,
	uint32_t metric, double *means)
{
	for (uint32_t s = 0; s < v->tables[metric]->n_slots; s++) {
		double sum = 0;
		uint32_t n = 0;

		for (uint32_t i = 0; i < n_members; i++) {
			if (rows[i] && isfinite(rows[i][s])) {
				sum += rows[i][s];
				n++;
			}
		}
		means[s] = n ? sum / n : NAN;
	}
}

/* The activity of the group at each slot: the largest share of its peak in any kind of work. */
struct activity {
	double *level;	     /* [slot] NaN: nothing known */
	double *means;	     /* work */
	const double **rows; /* work */
	const char *metric;  /* the metric with a significant peak, "" if none */
	const char *unit;
	double peak;
	bool any; /* there is a metric of work at all */
};

static void activity_release(struct activity *a)
{
	free(a->level);
	free(a->means);
	free(a->rows);
}

static void activity_add(
	struct activity *a, const struct lp_verdict *v, uint32_t group, uint32_t metric)
{
	const struct lp_table *t = v->tables[metric];
	const struct lp_metric *m = group_metric(v, group, t->metric);
	double peak = 0;

	if (lp_metric_role(m ? m->kind : NULL, t->metric) != LP_ROLE_WORK ||
		group_weighs(v, group, metric) || !group_rows(v, group, metric, a->rows))
		return;
	group_means(v, a->rows, v->groups[group].n_members, metric, a->means);
	for (uint32_t s = 0; s < t->n_slots; s++)
		peak = a->means[s] > peak ? a->means[s] : peak;
	a->any = true;
	for (uint32_t s = 0; s < t->n_slots; s++) {
		double share = peak > (m ? m->floor : 0) ? a->means[s] / peak : 0;

		if (!isnan(a->means[s]))
			a->level[s] = fmax(a->level[s], share); /* fmax() ignores a NaN */
	}
	if (peak > (m ? m->floor : 0) && peak > a->peak) {
		a->peak = peak;
		a->metric = t->metric;
		a->unit = t->unit;
	}
}

static int warn_activity(
	const struct activity *a, const char *group, uint32_t n_slots, struct train_result *ret)
{
	uint32_t n = 0, idle = 0;

	for (uint32_t s = 0; s < n_slots; s++) {
		n += !isnan(a->level[s]);
		idle += a->level[s] < IDLE_LEVEL;
	}
	if (!n || idle <= IDLE_SHARE * n)
		return 0;
	if (!*a->metric)
		return train_warn(ret,
			"group %s was idle all the time: nothing was learnt about it under load",
			group);
	return train_warn(ret,
		"group %s did next to nothing (below %.0f%% of its peak, %s %.4g %s) for %.0f%% of "
		"the time: the load was hardly a limit, and thresholds may be too low",
		group, 100 * IDLE_LEVEL, a->metric, a->peak, a->unit, 100.0 * idle / n);
}

int train_check_load(const struct lp_verdict *v, uint32_t group, struct train_result *ret)
{
	const struct lp_peer_group *g = &v->groups[group];
	uint32_t n_slots = v->n_tables ? v->tables[0]->n_slots : 0;
	_cleanup_(activity_release) struct activity a = {.metric = ""};

	a.level = calloc(n_slots + (size_t)1, sizeof(*a.level));
	a.means = calloc(n_slots + (size_t)1, sizeof(*a.means));
	a.rows = calloc(g->n_members, sizeof(*a.rows));
	if (!a.level || !a.means || !a.rows)
		return -ENOMEM;
	for (uint32_t s = 0; s < n_slots; s++)
		a.level[s] = NAN;
	for (uint32_t m = 0; m < v->n_tables; m++)
		activity_add(&a, v, group, m);
	return a.any ? warn_activity(&a, g->name, n_slots, ret) : 0;
}
