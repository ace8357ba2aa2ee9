#include "explain/loss.h"

#include "base/cleanup.h"
#include "detect/order.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RETRANS "retrans"
/* Lost packets are sent again in this share of all samples, at least: loss is steady, while a full
 * queue on the way loses many at once, and none for long. */
#define SHARE_LEAST 0.1
/* And so many times as often as at the peers, and more often by the floor of the metric: some are
 * sent again everywhere. */
#define TIMES_PEERS 2.0

static uint32_t table_find(const struct lp_verdict *v, const char *metric)
{
	uint32_t t = 0;

	while (t < v->n_tables && strcmp(v->tables[t]->metric, metric) != 0)
		t++;
	return t;
}

/* How a component lost packets in the time of a finding. */
struct losses {
	double share; /* of the samples that have some; NaN: there are no samples */
	double rate;  /* mean */
};

static struct losses row_losses(const struct lp_table *t, uint32_t row, const struct lp_finding *f)
{
	uint32_t from, end, n = 0, n_some = 0;
	double sum = 0;

	inquiry_slots(t, f, &from, &end);
	for (uint32_t slot = from; row != UINT32_MAX && slot < end; slot++) {
		double value = t->values[(size_t)row * t->n_slots + slot];

		if (isnan(value))
			continue;
		n++;
		n_some += value > 0;
		sum += value;
	}
	return n ? (struct losses){(double)n_some / n, sum / n} : (struct losses){NAN, NAN};
}

/* The median rate of the finding's peers; 0 if they have none. */
static double peers_rate(
	const struct inquiry *q, uint32_t table, const struct lp_finding *f, uint64_t *keys)
{
	const struct lp_peer_group *g = &q->v->groups[f->group];
	size_t n = 0;

	for (uint32_t m = 0; m < g->n_members; m++) {
		uint32_t row = q->v->row_of[table][g->members[m]];
		double rate = row_losses(q->v->tables[table], row, f).rate;

		if (g->members[m] != f->component && !isnan(rate))
			keys[n++] = order_key(rate);
	}
	return n ? order_quantile(keys, n, 0.5, keys + n) : 0;
}

/* Without a record of its retransmits: yes. */
static bool loss_is_seen(
	const struct inquiry *q, uint32_t table, const struct lp_finding *f, uint64_t *keys)
{
	uint32_t row = q->v->row_of[table][f->component];
	const struct lp_metric *m = lp_metric_find("tcp", RETRANS);
	struct losses own = row_losses(q->v->tables[table], row, f);
	double peers;

	if (isnan(own.share))
		return true;
	peers = peers_rate(q, table, f, keys);
	return own.share >= SHARE_LEAST && own.rate > TIMES_PEERS * peers &&
		own.rate > peers + (m ? m->floor : 0);
}

static bool speaks_of_loss(const struct inquiry *q, uint32_t finding)
{
	const struct finding_facts *facts = &q->facts[finding];

	return facts->role == LP_ROLE_WINDOW && facts->fate == FATE_CULPRIT &&
		q->v->findings[finding].direction == LP_MARK_BELOW;
}

int loss_filter(struct inquiry *q, struct lp_err *err)
{
	const struct lp_verdict *v = q->v;
	uint32_t table = table_find(v, RETRANS);
	_cleanup_free_ uint64_t *keys = calloc(2 * ((size_t)v->n_components + 1), sizeof(*keys));

	if (!keys)
		return lp_err_sys(err, -ENOMEM, "cannot look for lost packets");
	for (uint32_t i = 0; table < v->n_tables && i < v->n_findings; i++) {
		if (speaks_of_loss(q, i) && !loss_is_seen(q, table, &v->findings[i], keys))
			q->facts[i].fate = FATE_ASIDE;
	}
	return 0;
}
