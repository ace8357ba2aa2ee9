#include "explain/idleness.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "detect/load.h"
#include "explain/absence.h"
#include "model/identity.h"
#include "model/table_view.h"
#include <math.h>
#include <string.h>

#define WORKED_SHARE 0.1
#define NEARLY_IDLE_SHARE 0.05
#define SELDOM_PART 0.5
#define NAMESAKES_LEAST 3

/* Samples needed to know whether it worked before. */
#define BEFORE_LEAST 3

/* The mean of a component in the finding's own metric from the beginning of the table up to a time;
 * NaN: too few values. */
static double mean_before(
	const struct lp_verdict *v, uint32_t table, uint32_t component, int64_t end_us)
{
	const struct lp_table *t = v->tables[table];
	uint32_t row = v->row_of[table][component], n = 0;
	double sum = 0;

	for (uint32_t s = 0; row != UINT32_MAX && s < t->n_slots; s++) {
		double value = table_value(t, row, s);

		if (lp_table_time(t, s) > end_us)
			break;
		sum += isnan(value) ? 0 : value;
		n += !isnan(value);
	}
	return n >= BEFORE_LEAST ? sum / n : NAN;
}

/* The same for all members together. */
static double peers_before(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_members; i++) {
		double mean = mean_before(v, f->metric, g->members[i], f->first_us);

		sum += isnan(mean) ? 0 : mean;
		n += !isnan(mean);
	}
	return n ? sum / n : NAN;
}

/* Did the component work before the finding, as its peers did? */
static bool worked_before(const struct lp_verdict *v, const struct lp_finding *f, enum lp_role role)
{
	const struct lp_table *t = v->tables[f->metric];
	int64_t begin_us = t->start_us - t->step_us;
	double own = mean_before(v, f->metric, f->component, f->first_us), work, usual;

	/* The duration of requests does not show their number. */
	work = load_work(v, f->component, begin_us, f->first_us);
	if (role == LP_ROLE_WORK || isnan(work))
		return !isnan(own) && own > 0 && own >= WORKED_SHARE * peers_before(v, f);
	usual = load_work_of_peers(v, f->group, f->component, begin_us, f->first_us);
	return !isnan(own) && work > 0 && !(work < WORKED_SHARE * usual);
}

/* Does a member of a group hardly work, compared with the others? */
static bool nearly_idle(
	const struct lp_verdict *v, const struct lp_finding *f, uint32_t group, uint32_t component)
{
	double own = load_work(v, component, f->first_us, f->last_us);
	double usual = load_work_of_peers(v, group, component, f->first_us, f->last_us);

	return own < NEARLY_IDLE_SHARE * usual;
}

static bool is_namesake(const struct lp_verdict *v, uint32_t a, uint32_t b)
{
	return a != b && !strcmp(v->components[a]->name, v->components[b]->name) &&
		!strcmp(v->components[a]->kind, v->components[b]->kind);
}

/* Do most components of the same name on other observers hardly work, either? They need not be
 * peers: disks may be compared only with disks of the same host. */
static bool namesakes_idle(const struct lp_verdict *v, const struct lp_finding *f)
{
	uint32_t n = 0, n_idle = 0;

	for (uint32_t g = 0; g < v->n_groups; g++) {
		for (uint32_t i = 0; i < v->groups[g].n_members; i++) {
			uint32_t c = v->groups[g].members[i];

			if (!is_namesake(v, c, f->component))
				continue;
			n++;
			n_idle += nearly_idle(v, f, g, c);
		}
	}
	return n >= 2 && 2 * n_idle > n;
}

/* Does it work in at most half as many samples as its peers? A slow component never finishes its
 * work. If requests take time without visible work, there are requests that the metric does not
 * count. */
static bool works_seldom(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	double own = load_active(v, f->component, f->first_us, f->last_us), sum = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_members; i++) {
		double share = load_active(v, g->members[i], f->first_us, f->last_us);

		sum += isnan(share) ? 0 : share;
		n += !isnan(share);
	}
	return n && own > 0 && own <= SELDOM_PART * sum / n;
}

/* Does it work only from time to time, as it always did, or as its namesakes do? The duration of
 * single requests must not be compared with that of busy peers. */
static bool idle_by_nature(
	const struct lp_verdict *v, const struct lp_finding *f, enum lp_role role)
{
	if (!nearly_idle(v, f, f->group, f->component))
		return false;
	return namesakes_idle(v, f) || (works_seldom(v, f) && !worked_before(v, f, role));
}

/* The number of components of a kind on each observer, if all have the same number; otherwise 0. */
static uint32_t count_on_each(const struct lp_verdict *v, const char *kind, uint32_t *ret_observers)
{
	_cleanup_(strmap_release) struct strmap numbers = {0};
	_cleanup_free_ uint32_t *n = calloc((size_t)v->n_components + 1, sizeof(*n));
	uint32_t n_observers = 0, number;

	for (uint32_t c = 0; n && c < v->n_components; c++) {
		const char *observer = v->components[c]->observer;

		if (strcmp(v->components[c]->kind, kind) != 0)
			continue;
		if (!strmap_get(&numbers, observer, &number)) {
			number = n_observers++;
			if (strmap_put(&numbers, observer, number) < 0)
				return 0;
		}
		n[number]++;
	}
	for (uint32_t i = 1; n && i < n_observers; i++) {
		if (n[i] != n[0])
			return 0;
	}
	*ret_observers = n_observers;
	return n ? n[0] : 0;
}

/* Did it never work, although it should? Spares and boot disks never work, either. But if all
 * observers have the same number of components, including one with this name, and it works on all
 * others, it should work here. */
static bool should_work(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[f->metric];
	const char *kind = v->components[f->component]->kind;
	int64_t begin_us = t->start_us - t->step_us, end_us;
	uint32_t n = 0, n_observers = 0;

	if (!t->n_slots || kind_find(kind)->resource != RESOURCE_STORAGE ||
		kind_find(kind)->of_calls)
		return false;
	end_us = lp_table_time(t, t->n_slots - 1);
	if (load_active(v, f->component, begin_us, end_us) != 0)
		return false;
	for (uint32_t c = 0; c < v->n_components; c++) {
		if (!is_namesake(v, c, f->component))
			continue;
		if (!(load_active(v, c, begin_us, end_us) > 0))
			return false;
		n++;
	}
	return n >= NAMESAKES_LEAST && count_on_each(v, kind, &n_observers) && n + 1 == n_observers;
}

bool idleness_excuses(const struct lp_verdict *v, const struct lp_finding *f, enum lp_role role)
{
	if (f->direction == LP_MARK_ABSENT)
		return (!worked_before(v, f, role) && !should_work(v, f)) ||
			absence_is_chance(v, f);
	return f->direction == LP_MARK_ABOVE && role == LP_ROLE_LATENCY &&
		idle_by_nature(v, f, role);
}
