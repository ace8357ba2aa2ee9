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
#include "model/metric_role.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOAD_LESS 0.5

/* The kind of component through which a server receives its work. */
#define INTERFACE "net"

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

/* The unit of the work of a component: that of its first work metric. */
static const char *work_unit(const struct lp_verdict *v, uint32_t component)
{
	for (uint32_t t = 0; t < v->n_tables; t++) {
		if (v->row_of[t][component] != UINT32_MAX && is_work(v->tables[t]))
			return v->tables[t]->unit;
	}
	return NULL;
}

double load_work(const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us)
{
	const char *unit = work_unit(v, component);

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

/* The amount of work that is negligible, summed over all metrics of that unit. */
static double work_floor(const struct lp_verdict *v, uint32_t group, const char *unit)
{
	double floor = 0;

	for (uint32_t t = 0; t < v->n_tables; t++) {
		const struct lp_metric *m = group_metric(v, group, v->tables[t]->metric);

		if (m && m->role == LP_ROLE_WORK && !strcmp(v->tables[t]->unit, unit))
			floor += m->floor;
	}
	return floor;
}

/* The work of a member of a group from `first` to `last` divided by that of its peers; NaN:
 * unknown. */
static double member_load(
	const struct lp_verdict *v, uint32_t group, uint32_t member, int64_t first, int64_t last)
{
	const struct lp_peer_group *g = &v->groups[group];
	const char *unit = work_unit(v, g->members[member]);
	double peers[PEERS_MAX], own, usual, floor;
	uint32_t n = 0, every = g->n_members / PEERS_MAX + 1;

	if (!unit)
		return NAN;
	own = work_done(v, g->members[member], unit, first, last);
	for (uint32_t i = 0; i < g->n_members && n < PEERS_MAX; i += every) {
		if (i == member)
			continue;
		peers[n] = work_done(v, g->members[i], unit, first, last);
		n += !isnan(peers[n]);
	}
	/* A little more than nothing is not infinitely much. */
	floor = work_floor(v, group, unit);
	usual = median_of(peers, n) + floor;
	return usual > 0 ? (own + floor) / usual : NAN;
}

static bool same_observer(const struct lp_verdict *v, uint32_t a, uint32_t b)
{
	return !strcmp(v->components[a]->observer, v->components[b]->observer);
}

static bool is_interface(const struct lp_verdict *v, uint32_t component)
{
	return !strcmp(v->components[component]->kind, INTERFACE);
}

/* The same for the traffic of a finding's observer, if its interfaces were recorded. */
static double traffic_load(const struct lp_verdict *v, const struct lp_finding *f)
{
	double most = NAN;

	for (uint32_t g = 0; g < v->n_groups; g++) {
		for (uint32_t m = 0; m < v->groups[g].n_members; m++) {
			uint32_t c = v->groups[g].members[m];

			if (same_observer(v, c, f->component) && is_interface(v, c))
				most = fmax(most, member_load(v, g, m, f->first_us, f->last_us));
		}
	}
	return most;
}

/* Does the load of a component come from clients? Servers of a file system get their load through
 * the network: if less than half of the additional work came that way, a process on the server
 * itself causes it. */
static bool load_is_given(const struct lp_verdict *v, const struct lp_finding *f)
{
	double traffic = traffic_load(v, f);

	return isnan(traffic) || traffic - 1 >= (f->load_ratio - 1) / 2;
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

/* The work of all interfaces of a component's observer; NaN: nothing is known. */
static double traffic_of(const struct lp_verdict *v, uint32_t component, const char *unit,
	int64_t first, int64_t last, uint32_t *ret_interfaces)
{
	double total = NAN;

	*ret_interfaces = 0;
	for (uint32_t c = 0; c < v->n_components; c++) {
		double work;

		if (!is_interface(v, c) || !same_observer(v, c, component))
			continue;
		work = work_done(v, c, unit, first, last);
		if (isnan(work))
			continue;
		total = (isnan(total) ? 0 : total) + work;
		++*ret_interfaces;
	}
	return total;
}

/* Does an interface only carry what another one of its observer usually does? If one link of a bond
 * is down, or the traffic is divided in another way, all interfaces together carry no more than
 * those of the peers. */
static bool traffic_moved(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	const char *unit = work_unit(v, f->component);
	uint32_t n = 0, every = g->n_members / PEERS_MAX + 1, n_interfaces;
	double peers[PEERS_MAX], own, floor;

	if (!unit || !is_interface(v, f->component))
		return false;
	own = traffic_of(v, f->component, unit, f->first_us, f->last_us, &n_interfaces);
	if (n_interfaces < 2)
		return false;
	for (uint32_t i = 0; i < g->n_members && n < PEERS_MAX; i += every) {
		if (same_observer(v, g->members[i], f->component))
			continue;
		peers[n] =
			traffic_of(v, g->members[i], unit, f->first_us, f->last_us, &n_interfaces);
		n += !isnan(peers[n]);
	}
	floor = work_floor(v, f->group, unit);
	return n && own + floor <= LOAD_MORE * (median_of(peers, n) + floor);
}

/* More work alone does not make a culprit. It does if the component is slower than its load
 * explains, or if it is traffic that the other components of its observer do not have, and that did
 * not come from another of its interfaces. */
static bool work_accused(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_metric *m = group_metric(v, f->group, v->tables[f->metric]->metric);
	bool others_work_more = false, slow = false;

	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *o = &v->findings[i];

		slow |= o->component == f->component && is_slow(v, o);
		others_work_more |= o->component != f->component && o->group != f->group &&
			same_observer(v, o->component, f->component) &&
			finding_role(v, o) == LP_ROLE_WORK && o->direction == LP_MARK_ABOVE &&
			o->ratio > LOAD_MORE;
	}
	return slow ||
		(m && !strcmp(m->resource, "network") && !others_work_more && !traffic_moved(v, f));
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
		f->ratio <= LOAD_SLACK * f->load_ratio && load_is_given(v, f);
}

/* Idle moments: without requests the wait is 0, so a component with work in every second looks slow
 * compared with peers that are idle half of the time. */

/* If the peers were idle for less than this share of the time, zeroes do not decide. */
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
		f->load_ratio = member_load(v, f->group, f->member, f->first_us, f->last_us);
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
