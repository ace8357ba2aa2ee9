#include "explain/loss.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "model/hosts.h"
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

/* Retransmits count at both ends of a connection. An end is not accused of those that the other end
 * explains: the other side of the connections lost at least this many times as many packets. */
#define FAR_TIMES 2.0

/* Does the observer of pooled connections accept them? Others see them from the other end. */
static bool accepts(const struct connection *c)
{
	return c->end == CONNECTION_PEERS ? c->out : !c->out;
}

/* A finding that indicates loss. */
struct excess {
	uint32_t finding;
	double more;		  /* retransmits beyond those of its peers in its time */
	struct connection pooled; /* `end` is CONNECTION_REMOTE if it is not pooled */
};

static struct excess excess_of(const struct lp_verdict *v, uint32_t finding, double more)
{
	struct excess e = {.finding = finding, .more = more};

	if (!connection_parse(v->components[v->findings[finding].component], &e.pooled))
		e.pooled.end = CONNECTION_REMOTE;
	return e;
}

/* Are they pooled rows of two observers, one of which accepts connections and one opens them? */
static bool are_opposite(const struct connection *a, const struct connection *b)
{
	return a->end != CONNECTION_REMOTE && b->end != CONNECTION_REMOTE &&
		a->servers == b->servers && accepts(a) != accepts(b) &&
		strcmp(a->observer, b->observer) != 0;
}

static int compare_excesses(const void *a, const void *b)
{
	const struct excess *x = a, *y = b;

	if (x->more != y->more)
		return x->more > y->more ? -1 : 1;
	return x->finding < y->finding ? -1 : 1;
}

/* Do the losses of `far` include those of `f`? */
static bool explains_far_end(
	const struct explain_context *ctx, const struct excess *far, const struct excess *f)
{
	const struct lp_verdict *v = ctx->v;
	const struct lp_finding *a = &v->findings[far->finding], *b = &v->findings[f->finding];

	return ctx->facts[far->finding].fate == FATE_CULPRIT && far->more >= FAR_TIMES * f->more &&
		are_opposite(&far->pooled, &f->pooled) &&
		times_overlap(a->first_us, a->last_us, b->first_us, b->last_us);
}

/* The greatest losses come first, so that a finding that is explained explains no other one. */
static void far_ends_filter(struct explain_context *ctx, struct excess *excesses, uint32_t n)
{
	qsort(excesses, n, sizeof(*excesses), compare_excesses);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < i; k++) {
			if (!explains_far_end(ctx, &excesses[k], &excesses[i]))
				continue;
			ctx->facts[excesses[i].finding].fate = FATE_ASIDE;
			break;
		}
	}
}

/* Set findings aside that are not about steady loss, and then those that the far end explains. */
static void findings_filter(
	struct explain_context *ctx, uint32_t table, uint64_t *keys, struct excess *excesses)
{
	const struct lp_verdict *v = ctx->v;
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->n_findings; i++) {
		const struct lp_finding *f = &v->findings[i];
		uint32_t row = v->row_of[table][f->component];
		double own;

		if (!speaks_of_loss(ctx, table, i))
			continue;
		if (!loss_is_seen(ctx, table, f, keys)) {
			ctx->facts[i].fate = FATE_ASIDE;
			continue;
		}
		own = row_losses(v->tables[table], row, f).rate;
		if (!isnan(own))
			excesses[n++] =
				excess_of(v, i, own - peers_losses(ctx, table, f, keys).rate);
	}
	far_ends_filter(ctx, excesses, n);
}

int loss_filter(struct explain_context *ctx, struct lp_err *err)
{
	const struct lp_verdict *v = ctx->v;
	uint32_t table = table_find(v, RETRANS);
	_cleanup_free_ uint64_t *keys = calloc(4 * ((size_t)v->n_components + 1), sizeof(*keys));
	_cleanup_free_ struct excess *excesses =
		calloc((size_t)v->n_findings + 1, sizeof(*excesses));

	if (!keys || !excesses)
		return lp_err_sys(err, -ENOMEM, "cannot look for lost packets");
	if (table < v->n_tables)
		findings_filter(ctx, table, keys, excesses);
	return 0;
}
