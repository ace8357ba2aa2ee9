#include "explain/flood.h"

#include "base/time.h"
#include <math.h>
#include <string.h>

/* The mean of a component's values in the time of a finding; 0 if there are none. */
static double mean_meanwhile(const struct lp_verdict *v, uint32_t table, const struct lp_finding *f)
{
	const struct lp_table *t = v->tables[table];
	uint32_t row = v->row_of[table][f->component];
	double sum = 0;
	int64_t from, to, n = 0;

	if (row == UINT32_MAX || t->step_us <= 0)
		return 0;
	/* Slot i covers the step that ends at its time. */
	from = floor_div(f->first_us - t->start_us, t->step_us) + 1;
	to = floor_div(f->last_us - t->start_us, t->step_us);
	for (int64_t slot = from < 0 ? 0 : from; slot <= to && slot < t->n_slots; slot++) {
		double value = t->values[(size_t)row * t->n_slots + (size_t)slot];

		if (!isnan(value)) {
			sum += value;
			n++;
		}
	}
	return n ? sum / (double)n : 0;
}

double flood_share(const struct inquiry *q, uint32_t finding)
{
	const struct lp_verdict *v = q->v;
	const struct lp_finding *f = &v->findings[finding];
	const char *unit = v->tables[f->metric]->unit;
	double traffic = 0;

	/* Packets and bytes are not added up: what has the finding's unit is. */
	for (uint32_t t = 0; t < v->n_tables; t++) {
		if (lp_metric_role("net", v->tables[t]->metric) == LP_ROLE_WORK &&
			!strcmp(v->tables[t]->unit, unit))
			traffic += mean_meanwhile(v, t, f);
	}
	return traffic > 0 ? fmin((f->own - f->peers) / traffic, 1) : 0;
}
