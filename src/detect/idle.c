#include "detect/idle.h"

#include "base/median.h"
#include "model/table_slots.h"
#include <math.h>
#include <stdlib.h>

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
	for (uint32_t s = from; s < end; s++) {
		double value = t->values[(size_t)row * t->n_slots + s];

		if (value > 0)
			m->values[m->n++] = value;
		else if (!isnan(value))
			m->n_idle++;
	}
}

static bool alike_at_work(struct moments *own, struct moments *peers)
{
	if (own->n < WORKING_LEAST || peers->n < WORKING_LEAST ||
		peers->n_idle < IDLE_SHARE * (peers->n + peers->n_idle))
		return false;
	return median_of(own->values, own->n) < WORKING_RATIO * median_of(peers->values, peers->n);
}

bool idle_explains(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	const struct lp_table *t = v->tables[f->metric];
	uint32_t from, end, every = g->n_members / PEERS_MAX + 1;
	struct moments own = {0}, peers = {0};
	bool explained = false;

	table_slots(t, f->first_us, f->last_us, &from, &end);
	own.values = calloc((size_t)(end - from) + 1, sizeof(double));
	peers.values = calloc((size_t)(end - from) * (PEERS_MAX + 1) + 1, sizeof(double));
	if (own.values && peers.values) {
		for (uint32_t i = 0; i < g->n_members; i++) {
			uint32_t row = v->row_of[f->metric][g->members[i]];

			if (row != UINT32_MAX && (i == f->member || i % every == 0))
				moments_add(i == f->member ? &own : &peers, t, row, from, end);
		}
		explained = alike_at_work(&own, &peers);
	}
	free(own.values);
	free(peers.values);
	return explained;
}
