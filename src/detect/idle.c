#include "detect/idle.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "model/table_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The peers were idle for at least this share of the time, else zeroes do not decide. */
#define IDLE_SHARE 0.2
/* Slower at work by less than this is like the peers: who is never idle has a queue, and one
 * request that waits for another takes twice as long. */
#define WORKING_RATIO 2.0
/* So many values say how long work takes. */
#define WORKING_LEAST 5
/* Of a large group some peers are enough. */
#define PEERS_MAX 64

struct moments {
	double *values; /* those at work */
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

/* The peers of a finding's component. */
struct peers_at_work {
	struct moments all; /* of all together */
	double medians[PEERS_MAX + 1];
	uint32_t n_medians, n_peers;
};

/* How long work takes the peers: the middle of what it takes each, since those who take longer are
 * at work for longer; of peers that hardly ever work, all together. */
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

bool idle_explains(const struct lp_verdict *v, const struct lp_finding *f)
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
