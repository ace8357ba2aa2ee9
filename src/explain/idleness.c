#include "explain/idleness.h"

#include "detect/load.h"
#include "explain/absence.h"
#include <math.h>
#include <string.h>

#define WORKED_SHARE 0.1
#define NEARLY_IDLE_SHARE 0.05

/* So many samples tell whether it worked before. */
#define BEFORE_LEAST 3

/* The mean of a component in the finding's own metric from the beginning of the table up to a time;
 * NaN: too little is known. */
static double mean_before(
	const struct lp_verdict *v, uint32_t table, uint32_t component, int64_t end_us)
{
	const struct lp_table *t = v->tables[table];
	uint32_t row = v->row_of[table][component], n = 0;
	double sum = 0;

	for (uint32_t s = 0; row != UINT32_MAX && s < t->n_slots; s++) {
		double value = t->values[(size_t)row * t->n_slots + s];

		if (lp_table_time(t, s) > end_us)
			break;
		sum += isnan(value) ? 0 : value;
		n += !isnan(value);
	}
	return n >= BEFORE_LEAST ? sum / n : NAN;
}

/* The same of all members together. */
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

	/* How long requests take says nothing about how many there were. */
	work = load_work(v, f->component, begin_us, f->first_us);
	if (role == LP_ROLE_WORK || isnan(work))
		return !isnan(own) && own > 0 && own >= WORKED_SHARE * peers_before(v, f);
	usual = load_work_of_peers(v, f->group, f->component, begin_us, f->first_us);
	return !isnan(own) && work > 0 && !(work < WORKED_SHARE * usual);
}

static bool nearly_idle(const struct lp_verdict *v, const struct lp_finding *f, uint32_t component)
{
	double own = load_work(v, component, f->first_us, f->last_us);
	double usual = load_work_of_peers(v, f->group, component, f->first_us, f->last_us);

	return own < NEARLY_IDLE_SHARE * usual;
}

/* Do most components of the same name on other observers hardly work, either? */
static bool namesakes_idle(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	const char *name = v->components[f->component]->name;
	uint32_t n = 0, n_idle = 0;

	for (uint32_t i = 0; i < g->n_members; i++) {
		uint32_t c = g->members[i];

		if (c == f->component || strcmp(v->components[c]->name, name) != 0)
			continue;
		n++;
		n_idle += nearly_idle(v, f, c);
	}
	return n >= 2 && 2 * n_idle > n;
}

bool idleness_excuses(const struct lp_verdict *v, const struct lp_finding *f, enum lp_role role)
{
	if (f->direction == LP_MARK_ABSENT)
		return !worked_before(v, f, role) || absence_is_chance(v, f);
	return f->direction == LP_MARK_ABOVE && role == LP_ROLE_LATENCY &&
		nearly_idle(v, f, f->component) && namesakes_idle(v, f);
}
