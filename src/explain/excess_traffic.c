#include "explain/excess_traffic.h"

#include "model/table_view.h"
#include <math.h>
#include <string.h>

/* The mean of a component's values during a finding; 0 if there are none. */
static double mean_meanwhile(const struct lp_verdict *v, uint32_t table, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[table];
	uint32_t row = v->row_of[table][f->component];
	uint32_t from, end, n = 0;
	double sum = 0;

	if (row == UINT32_MAX)
		return 0;
	context_slots(t, f, &from, &end);
	for (uint32_t slot = from; slot < end; slot++) {
		double value = table_value(t, row, slot);

		sum += isnan(value) ? 0 : value;
		n += !isnan(value);
	}
	return n ? sum / n : 0;
}

double excess_traffic_share(const struct explain_context *ctx, uint32_t finding)
{
	const struct lp_verdict *v = ctx->v;
	const struct lp_finding *f = &v->findings[finding];
	const char *unit = v->tables[f->metric]->unit;
	double traffic = 0;

	/* Packets and bytes are not added up: use only tables with the finding's unit. */
	for (uint32_t t = 0; t < v->n_tables; t++) {
		if (lp_metric_role("net", v->tables[t]->metric) == LP_ROLE_WORK &&
			!strcmp(v->tables[t]->unit, unit))
			traffic += mean_meanwhile(v, t, f);
	}
	return traffic > 0 ? fmin((f->own - f->peers) / traffic, 1) : 0;
}
