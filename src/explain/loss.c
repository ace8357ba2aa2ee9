#include "explain/loss.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RETRANS "retrans"

/* Loss is steady: there are retransmits in most samples. A full queue on the path loses many
 * packets at once, and then none for a long time; that happens to healthy servers, too. So the
 * share of samples with retransmits must be TIMES_PEERS times that of the peers, and SHARE_MORE
 * more. */
#define TIMES_PEERS 2.0
#define SHARE_MORE 0.1
/* If all have retransmits in this share of the samples, their number decides. */
#define SHARE_MANY 0.4

static uint32_t table_find(const struct lp_verdict *v, const char *metric)
{
	uint32_t t = 0;

	while (t < v->n_tables && strcmp(v->tables[t]->metric, metric) != 0)
		t++;
	return t;
}

/* The retransmits of a component during a finding. */
struct losses {
	double share; /* of the samples with retransmits; NaN: there are no samples */
	double rate;  /* mean */
};

static struct losses row_losses(const struct lp_table *t, uint32_t row, const struct lp_finding *f)
{
	uint32_t from, end, n = 0, n_some = 0;
	double sum = 0;

	context_slots(t, f, &from, &end);
	for (uint32_t slot = from; row != UINT32_MAX && slot < end; slot++) {
		double value = table_value(t, row, slot);

		if (isnan(value))
			continue;
		n++;
		n_some += value > 0;
		sum += value;
	}
	return n ? (struct losses){(double)n_some / n, sum / n} : (struct losses){NAN, NAN};
}

static double median_of_keys(uint64_t *keys, size_t n)
{
	return n ? order_quantile(keys, n, 0.5, keys + n) : 0;
}

/* Medians of the finding's peers; 0 if they have none. */
static struct losses peers_losses(const struct explain_context *ctx, uint32_t table,
	const struct lp_finding *f, uint64_t *keys)
{
	const struct lp_peer_group *g = &ctx->v->groups[f->group];
	uint64_t *rates = keys, *shares = keys + 2 * (size_t)g->n_members;
	size_t n = 0;

	for (uint32_t m = 0; m < g->n_members; m++) {
		uint32_t row = ctx->v->row_of[table][g->members[m]];
		struct losses l = row_losses(ctx->v->tables[table], row, f);

		if (g->members[m] == f->component || isnan(l.rate))
			continue;
		rates[n] = order_key(l.rate);
		shares[n++] = order_key(l.share);
	}
	return (struct losses){
		.share = median_of_keys(shares, n), .rate = median_of_keys(rates, n)};
}

/* True if its retransmits were not recorded. */
static bool loss_is_seen(const struct explain_context *ctx, uint32_t table,
	const struct lp_finding *f, uint64_t *keys)
{
	uint32_t row = ctx->v->row_of[table][f->component];
	const struct lp_metric *m = lp_metric_find("tcp", RETRANS);
	struct losses own = row_losses(ctx->v->tables[table], row, f), peers;

	if (isnan(own.share))
		return true;
	peers = peers_losses(ctx, table, f, keys);
	if (peers.share > SHARE_MANY)
		return own.rate > TIMES_PEERS * peers.rate + (m ? m->floor : 0);
	return own.share > TIMES_PEERS * peers.share + SHARE_MORE;
}

/* Small congestion windows and retransmits indicate loss. */
static bool speaks_of_loss(const struct explain_context *ctx, uint32_t table, uint32_t finding)
{
	const struct finding_facts *facts = &ctx->facts[finding];
	const struct lp_finding *f = &ctx->v->findings[finding];

	if (facts->fate != FATE_CULPRIT)
		return false;
	return (facts->role == LP_ROLE_WINDOW && f->direction == LP_MARK_BELOW) ||
		(f->metric == table && f->direction == LP_MARK_ABOVE);
}

int loss_filter(struct explain_context *ctx, struct lp_err *err)
{
	const struct lp_verdict *v = ctx->v;
	uint32_t table = table_find(v, RETRANS);
	_cleanup_free_ uint64_t *keys = calloc(4 * ((size_t)v->n_components + 1), sizeof(*keys));

	if (!keys)
		return lp_err_sys(err, -ENOMEM, "cannot look for lost packets");
	for (uint32_t i = 0; table < v->n_tables && i < v->n_findings; i++) {
		if (speaks_of_loss(ctx, table, i) &&
			!loss_is_seen(ctx, table, &v->findings[i], keys))
			ctx->facts[i].fate = FATE_ASIDE;
	}
	return 0;
}
