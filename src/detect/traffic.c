#include "detect/traffic.h"

#include "base/median.h"
#include "detect/load.h"
#include "model/quantity.h"
#include <math.h>
#include <string.h>

/* The kind of component through which a server receives its work. */
#define INTERFACE "net"

/* Enough peers to know how much traffic is usual. */
#define PEERS_MAX 64

/* A disk with this multiple of its peers' work does more for others than for clients. */
#define LOCAL_LOAD 2.0
/* Traffic shows what disks do only if it is at least this share of the disks' work on the peers:
 * not where data takes another way (RDMA). */
#define CARRIED_SHARE 0.5

bool traffic_same_observer(const struct lp_verdict *v, uint32_t a, uint32_t b)
{
	return !strcmp(v->components[a]->observer, v->components[b]->observer);
}

static bool is_interface(const struct lp_verdict *v, uint32_t component)
{
	return !strcmp(v->components[component]->kind, INTERFACE);
}

/* The largest load of the interfaces of a finding's observer; NaN: none is known. */
static double traffic_load(const struct lp_verdict *v, const struct lp_finding *f)
{
	double most = NAN;

	for (uint32_t g = 0; g < v->n_groups; g++) {
		for (uint32_t m = 0; m < v->groups[g].n_members; m++) {
			uint32_t c = v->groups[g].members[m];

			if (traffic_same_observer(v, c, f->component) && is_interface(v, c))
				most = fmax(most, load_of_member(v, g, m, f->first_us, f->last_us));
		}
	}
	return most;
}

bool traffic_brings(const struct lp_verdict *v, const struct lp_finding *f)
{
	double traffic = traffic_load(v, f);

	return isnan(traffic) || traffic - 1 >= (f->load_ratio - 1) / 2;
}

/* The work of all interfaces of a component's observer; NaN: nothing is known. */
static double traffic_of(const struct lp_verdict *v, uint32_t component, int64_t first_us,
	int64_t last_us, uint32_t *ret_interfaces)
{
	double total = NAN;

	*ret_interfaces = 0;
	for (uint32_t c = 0; c < v->n_components; c++) {
		double work;

		if (!is_interface(v, c) || !traffic_same_observer(v, c, component))
			continue;
		work = load_work(v, c, first_us, last_us);
		if (isnan(work))
			continue;
		total = (isnan(total) ? 0 : total) + work;
		++*ret_interfaces;
	}
	return total;
}

bool traffic_moved(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	uint32_t n = 0, every = g->n_members / PEERS_MAX + 1, n_interfaces;
	double peers[PEERS_MAX], own, floor;

	if (!is_interface(v, f->component))
		return false;
	own = traffic_of(v, f->component, f->first_us, f->last_us, &n_interfaces);
	if (n_interfaces < 2)
		return false;
	for (uint32_t i = 0; i < g->n_members && n < PEERS_MAX; i += every) {
		if (traffic_same_observer(v, g->members[i], f->component))
			continue;
		peers[n] = traffic_of(v, g->members[i], f->first_us, f->last_us, &n_interfaces);
		n += !isnan(peers[n]);
	}
	floor = load_floor(v, f->group, f->component);
	return n && own + floor <= LOAD_MORE * (median_of(peers, n) + floor);
}

static void traffic_add(struct traffic *b, const struct lp_verdict *v, uint32_t group,
	uint32_t component, int64_t first_us, int64_t last_us)
{
	double unit = quantity_bytes(load_unit(v, component));
	double own = load_work(v, component, first_us, last_us);
	double usual = load_work_of_peers(v, group, component, first_us, last_us);

	if (isnan(own))
		return;
	b->own = (isnan(b->own) ? 0 : b->own) + own * unit;
	b->usual = (isnan(b->usual) ? 0 : b->usual) + usual * unit;
	b->floor += load_floor(v, group, component) * unit;
}

struct traffic traffic_of_observer(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us)
{
	struct traffic b = {NAN, NAN, 0};

	for (uint32_t g = 0; g < v->n_groups; g++) {
		for (uint32_t m = 0; m < v->groups[g].n_members; m++) {
			uint32_t c = v->groups[g].members[m];

			if (is_interface(v, c) && traffic_same_observer(v, c, component))
				traffic_add(&b, v, g, c, first_us, last_us);
		}
	}
	return b;
}

/* The largest load of any component of the observer other than its interfaces, as a multiple of its
 * peers; at least 1. */
static double load_beside(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us)
{
	double most = 1;

	for (uint32_t g = 0; g < v->n_groups; g++) {
		for (uint32_t m = 0; m < v->groups[g].n_members; m++) {
			uint32_t c = v->groups[g].members[m];

			if (!is_interface(v, c) && traffic_same_observer(v, c, component))
				most = fmax(most, load_of_member(v, g, m, first_us, last_us));
		}
	}
	return most;
}

/* Clients that ask more of a server than of its peers make its disks and its interfaces work more,
 * by the same factor: file systems that keep several copies send each request on. */
double traffic_excess(
	const struct lp_verdict *v, uint32_t component, int64_t first_us, int64_t last_us)
{
	struct traffic b = traffic_of_observer(v, component, first_us, last_us);
	double asked;

	if (!(b.own > b.usual))
		return 0;
	asked = (b.usual + b.floor) * load_beside(v, component, first_us, last_us);
	return fmax(1 - asked / (b.own + b.floor), 0);
}

/* A server with a cold cache reads from its disk what its peers read from memory, and a backup of a
 * disk that has no clients harms nobody: the additional bytes must be more than all that the server
 * sent and received, on a disk that has clients. Any comparison with an unknown number is false. */
bool traffic_lacks(const struct lp_verdict *v, const struct lp_finding *f)
{
	double unit = quantity_bytes(load_unit(v, f->component));
	double own = load_work(v, f->component, f->first_us, f->last_us);
	double usual = load_work_of_peers(v, f->group, f->component, f->first_us, f->last_us);
	struct traffic traffic;

	if (!(usual >= load_floor(v, f->group, f->component) && own >= LOCAL_LOAD * usual))
		return false;
	traffic = traffic_of_observer(v, f->component, f->first_us, f->last_us);
	return traffic.usual >= CARRIED_SHARE * usual * unit && (own - usual) * unit > traffic.own;
}
