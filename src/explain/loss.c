#include "explain/loss.h"

#include <math.h>
#include <string.h>

/* Lost packets are sent again in this share of all samples, at least: loss is steady, while a full
 * queue on the way loses many at once, and none for long. */
#define SHARE_LEAST 0.1

static uint32_t table_find(const struct lp_verdict *v, const char *metric)
{
	uint32_t t = 0;

	while (t < v->n_tables && strcmp(v->tables[t]->metric, metric) != 0)
		t++;
	return t;
}

/* In which share of the samples was there something? NaN: no samples. */
static double row_share(const struct lp_table *t, uint32_t row, const struct lp_finding *f)
{
	uint32_t from, end, n = 0, n_some = 0;

	inquiry_slots(t, f, &from, &end);
	for (uint32_t slot = from; slot < end; slot++) {
		double value = t->values[(size_t)row * t->n_slots + slot];

		n += !isnan(value);
		n_some += value > 0;
	}
	return n ? (double)n_some / n : NAN;
}

/* The share of the finding's own component; where that has none, the largest of its observer's. */
static double own_share(const struct inquiry *q, uint32_t table, const struct lp_finding *f)
{
	const struct lp_verdict *v = q->v;
	const uint32_t *row_of = v->row_of[table];
	double most = NAN;

	if (row_of[f->component] != UINT32_MAX)
		return row_share(v->tables[table], row_of[f->component], f);
	for (uint32_t c = 0; c < v->n_components; c++) {
		if (q->observer[c] == q->observer[f->component] && row_of[c] != UINT32_MAX)
			most = fmax(most, row_share(v->tables[table], row_of[c], f));
	}
	return most;
}

static bool loss_is_seen(const struct inquiry *q, uint32_t table, const struct lp_finding *f)
{
	double share = own_share(q, table, f);

	return isnan(share) || share >= SHARE_LEAST; /* NaN: that was not recorded */
}

static bool speaks_of_loss(const struct inquiry *q, uint32_t finding)
{
	const struct finding_facts *facts = &q->facts[finding];

	return facts->role == LP_ROLE_WINDOW && facts->fate == FATE_CULPRIT &&
		q->v->findings[finding].direction == LP_MARK_BELOW;
}

void loss_filter(struct inquiry *q)
{
	const struct lp_verdict *v = q->v;
	uint32_t table = table_find(v, "retrans");

	for (uint32_t i = 0; table < v->n_tables && i < v->n_findings; i++) {
		if (speaks_of_loss(q, i) && !loss_is_seen(q, table, &v->findings[i]))
			q->facts[i].fate = FATE_ASIDE;
	}
}
