/* A disk that works twice as hard may take twice as long for it. A component that is slower than
 * its load explains, or busy with work that no client asked for, is a culprit; the rest is an
 * imbalance.
 */
#include "detect/load.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "detect/compare/compare.h"
#include "detect/mild.h"
#include "detect/traffic.h"
#include "model/metric_role.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_LESS 0.5

/* Enough peers to know how much work is usual. */
#define PEERS_MAX 64

static bool is_work(const struct lp_table *t)
{
	return lp_metric_role(NULL, t->metric) == LP_ROLE_WORK;
}

/* The mean of a component's work from `first` to `last`, summed over all metrics of one unit (read
 * and written, received and sent); NaN: unknown. */
static double work_done(const struct lp_verdict *v, uint32_t component, const char *unit,
	int64_t first, int64_t last)
{
	double total = NAN;

	for (uint32_t t = 0; t < v->n_tables; t++) {
		const struct lp_table *table = v->tables[t];
		uint32_t row = v->row_of[t][component], n = 0, from, end;
		const double *values;
		double sum = 0;

		if (row == UINT32_MAX || !is_work(table) || strcmp(table->unit, unit) != 0)
			continue;
		table_slots(table, first, last, &from, &end);
		values = table_values(table, row);
		for (uint32_t s = from; s < end; s++) {
			sum += isnan(values[s]) ? 0 : values[s];
			n += !isnan(values[s]);
		}
		if (n)
			total = (isnan(total) ? 0 : total) + sum / n;
	}
	return total;
}

/* The unit of the component's first work metric. */
const char *load_unit(const struct lp_verdict *v, uint32_t component)
{
	for (uint32_t t = 0; t < v->n_tables; t++) {
		if (v->row_of[t][component] != UINT32_MAX && is_work(v->tables[t]))
			return v->tables[t]->unit;
	}
	return NULL;
}

double load_work(const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us)
{
	const char *unit = load_unit(v, component);

	return unit && last_us > first_us ? work_done(v, component, unit, first_us, last_us) : NAN;
}

double load_active(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us)
{
	double most = NAN;

	for (uint32_t t = 0; t < v->n_tables; t++) {
		const struct lp_table *table = v->tables[t];
		uint32_t row = v->row_of[t][component], n = 0, active = 0, from, end;
		const double *values;

		if (row == UINT32_MAX || !is_work(table))
			continue;
		table_slots(table, first_us, last_us, &from, &end);
		values = table_values(table, row);
		for (uint32_t s = from; s < end; s++) {
			n += !isnan(values[s]);
			active += values[s] > 0;
		}
		if (n)
			most = fmax(most, (double)active / n);
	}
	return most;
}

double load_work_of_peers(const struct lp_verdict *v, uint32_t group, uint32_t component,
	int64_t first_us, int64_t last_us)
{
	const struct lp_peer_group *g = &v->groups[group];
	uint32_t n = 0, every = g->n_members / PEERS_MAX + 1;
	double peers[PEERS_MAX];

	for (uint32_t i = 0; i < g->n_members && n < PEERS_MAX; i += every) {
		if (g->members[i] == component)
			continue;
		peers[n] = load_work(v, g->members[i], first_us, last_us);
		n += !isnan(peers[n]);
	}
	return n ? median_of(peers, n) : NAN;
}

double load_floor(const struct lp_verdict *v, uint32_t group, uint32_t component)
{
	const char *unit = load_unit(v, component);
	double floor = 0;

	for (uint32_t t = 0; unit && t < v->n_tables; t++) {
		const struct lp_metric *m = group_metric(v, group, v->tables[t]->metric);

		if (m && m->role == LP_ROLE_WORK && !strcmp(v->tables[t]->unit, unit))
			floor += m->floor;
	}
	return floor;
}

double load_of_member(const struct lp_verdict *v, uint32_t group, uint32_t member, int64_t first_us,
	int64_t last_us)
{
	const struct lp_peer_group *g = &v->groups[group];
	const char *unit = load_unit(v, g->members[member]);
	double peers[PEERS_MAX], own, usual, floor;
	uint32_t n = 0, every = g->n_members / PEERS_MAX + 1;

	if (!unit)
		return NAN;
	own = work_done(v, g->members[member], unit, first_us, last_us);
	for (uint32_t i = 0; i < g->n_members && n < PEERS_MAX; i += every) {
		if (i == member)
			continue;
		peers[n] = work_done(v, g->members[i], unit, first_us, last_us);
		n += !isnan(peers[n]);
	}
	/* A little more than nothing is not infinitely much. */
	floor = load_floor(v, group, g->members[member]);
	usual = median_of(peers, n) + floor;
	return usual > 0 ? (own + floor) / usual : NAN;
}

static enum lp_role finding_role(const struct lp_verdict *v, const struct lp_finding *f)
{
	return f->role ? f->role : lp_metric_role(NULL, v->tables[f->metric]->metric);
}

static bool is_slow(const struct lp_verdict *v, const struct lp_finding *f)
{
	enum lp_role role = finding_role(v, f);

	return role_is_slowness(role) && f->culprit && !f->mild && f->direction == LP_MARK_ABOVE &&
		!f->explained_by_load && !f->explained_by_idle;
}

/* More work alone does not make a culprit. It does if the component is slower than its load
 * explains; if it is traffic that the other components of its observer do not have, and that did
 * not come from another of its interfaces; or if it is work of a disk that the interfaces did not
 * carry.
 */
static bool work_accused(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_metric *m = group_metric(v, f->group, v->tables[f->metric]->metric);
	bool others_work_more = false, slow = false;

	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *o = &v->findings[i];

		slow |= o->component == f->component && is_slow(v, o);
		others_work_more |= o->component != f->component && o->group != f->group &&
			traffic_same_observer(v, o->component, f->component) &&
			finding_role(v, o) == LP_ROLE_WORK && o->direction == LP_MARK_ABOVE &&
			o->ratio > LOAD_MORE;
	}
	if (slow || !m)
		return slow;
	if (!strcmp(m->resource, "network"))
		return !others_work_more && !traffic_moved(v, f);
	return !strcmp(m->resource, "storage") && traffic_lacks(v, f);
}

/* For mild findings the effect of the load counts exactly; a component with half the work of its
 * peers cannot be called a little slower than they are. It does not matter there whether clients
 * caused the load: on a server with many disks, a quarter more work on one disk is a few percent of
 * the server's traffic, less than the usual difference between servers. */
static bool load_explains(const struct lp_verdict *v, const struct lp_finding *f)
{
	if (f->mild)
		return f->load_ratio < LOAD_LESS ||
			(f->load_ratio > 1 && f->ratio < MILD_RATIO_LEAST * f->load_ratio);
	return f->direction == LP_MARK_ABOVE && f->load_ratio > LOAD_MORE &&
		f->ratio <= LOAD_SLACK * f->load_ratio && traffic_brings(v, f);
}

/* Idle moments: without requests the wait is 0, so a component with work in every second looks slow
 * compared with peers that are idle half of the time. */

/* If the peers were idle for less than this share of the time, zeros do not decide. */
#define IDLE_SHARE 0.2
/* A component that is slower by less than this while it works is like its peers: it is never idle,
 * so it has a queue, and a request that waits for another one takes twice as long. */
#define WORKING_RATIO 2.0
/* At least this many values are needed to know how long work takes. */
#define WORKING_LEAST 5

struct moments {
	double *values; /* the values while it works */
	uint32_t n;
	uint32_t n_idle;
};

/* Add a component's values in the slots from .. end - 1. */
static void moments_add(
	struct moments *m, const struct lp_table *t, uint32_t row, uint32_t from, uint32_t end)
{
	const double *values = table_values(t, row);

	for (uint32_t s = from; s < end; s++) {
		if (values[s] > 0)
			m->values[m->n++] = values[s];
		else if (!isnan(values[s]))
			m->n_idle++;
	}
}

/* The peers of the component of a finding. */
struct peers_at_work {
	struct moments all; /* of all together */
	double medians[PEERS_MAX + 1];
	uint32_t n_medians, n_peers;
};

/* How long requests of the peers take: the median over the peers, because slower ones work for
 * longer and have more samples. Peers that hardly ever work are taken together. */
static double peers_median(struct peers_at_work *p)
{
	if (2 * p->n_medians > p->n_peers)
		return median_of(p->medians, p->n_medians);
	return median_of(p->all.values, p->all.n);
}

static void peer_add(struct peers_at_work *p, const struct lp_table *t, uint32_t row, uint32_t from,
	uint32_t end, struct moments one)
{
	moments_add(&one, t, row, from, end);
	memcpy(p->all.values + p->all.n, one.values, one.n * sizeof(*one.values));
	p->all.n += one.n;
	p->all.n_idle += one.n_idle;
	p->n_peers++;
	if (one.n >= WORKING_LEAST)
		p->medians[p->n_medians++] = median_of(one.values, one.n);
}

static bool alike_at_work(struct moments *own, struct peers_at_work *peers)
{
	const struct moments *all = &peers->all;

	if (own->n < WORKING_LEAST || all->n < WORKING_LEAST ||
		all->n_idle < IDLE_SHARE * (all->n + all->n_idle))
		return false;
	return median_of(own->values, own->n) < WORKING_RATIO * peers_median(peers);
}

bool load_idle_explains(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	const struct lp_table *t = v->tables[f->metric];
	uint32_t from, end, every = g->n_members / PEERS_MAX + 1;
	_cleanup_free_ double *values = NULL, *scratch = NULL, *all = NULL;
	struct moments own = {0};
	struct peers_at_work peers = {0};

	table_slots(t, f->first_us, f->last_us, &from, &end);
	own.values = values = calloc((size_t)(end - from) + 1, sizeof(double));
	scratch = calloc((size_t)(end - from) + 1, sizeof(double));
	peers.all.values = all = calloc((size_t)(end - from) * (PEERS_MAX + 1) + 1, sizeof(double));
	if (!values || !scratch || !all)
		return false;
	for (uint32_t i = 0; i < g->n_members; i++) {
		uint32_t row = v->row_of[f->metric][g->members[i]];

		if (row == UINT32_MAX)
			continue;
		if (i == f->member)
			moments_add(&own, t, row, from, end);
		else if (i % every == 0)
			peer_add(&peers, t, row, from, end, (struct moments){.values = scratch});
	}
	return alike_at_work(&own, &peers);
}

int load_judge(struct lp_verdict *v)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		struct lp_finding *f = &v->findings[i];
		enum lp_role role = finding_role(v, f);

		slices_rest();
		/* Whole observers and classes were already judged as such. */
		if (!role_is_slowness(role) || f->whole || f->crowd)
			continue;
		f->load_ratio = load_of_member(v, f->group, f->member, f->first_us, f->last_us);
		f->explained_by_load = load_explains(v, f);
		f->explained_by_idle = !f->explained_by_load && role == LP_ROLE_LATENCY &&
			f->direction == LP_MARK_ABOVE && load_idle_explains(v, f);
	}
	for (uint32_t i = 0; i < v->n_findings; i++) {
		struct lp_finding *f = &v->findings[i];

		if (finding_role(v, f) == LP_ROLE_WORK && f->direction == LP_MARK_ABOVE)
			f->culprit = work_accused(v, f);
	}
	return 0;
}
