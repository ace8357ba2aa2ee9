#include "explain/cleared.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "detect/compare/marks.h"
#include "explain/rank.h"
#include "model/table_view.h"
#include <errno.h>
#include <math.h>

static int64_t slot_time(const struct lp_table *t, uint32_t slot)
{
	return lp_table_time(t, slot);
}

/* The first window that counts. */
static uint32_t first_window(const struct lp_series *s, const struct lp_table *t, int64_t since_us)
{
	uint32_t w = 0;

	while (w < s->n_windows && slot_time(t, s->first[w]) - t->step_us < since_us)
		w++;
	return w;
}

/* Count again from window `from` on. `*ret_fires`: there is still a finding. */
static int recount(const struct lp_verdict *v, struct lp_finding *f, uint32_t from, bool *ret_fires)
{
	const struct lp_series *s = &v->series[f->series];
	const struct lp_table *t = v->tables[f->metric];
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	uint32_t fired = 0, n_windows = s->n_windows;
	/* Count only the same direction: a repaired disk may be faster. */
	_cleanup_free_ uint8_t *only = calloc((size_t)n_windows + 1, 1);

	if (!only)
		return -ENOMEM;
	f->n_windows = f->n_anomalous = f->n_aside = 0;
	for (uint32_t w = from; w < n_windows; w++) {
		bool anomalous = marks[w] == f->direction;

		only[w] = anomalous || marks[w] == LP_MARK_NONE ? marks[w] : LP_MARK_NORMAL;
		f->n_windows += marks[w] != LP_MARK_NONE;
		if (anomalous && !f->n_anomalous++)
			f->first_us = slot_time(t, s->first[w]) - t->step_us;
		if (anomalous)
			f->last_us = slot_time(t, s->last[w]);
	}
	f->persistence = persist_accumulate(only, n_windows, from, &f->peak);
	*ret_fires = persist_fires(only, n_windows, v->params.k, &fired);
	if (*ret_fires)
		f->indicted_us = slot_time(t, s->last[fired]);
	return 0;
}

/* Compute medians over the remaining windows: `own` from the values, ratio and distance from the
 * series. */
static int remeasure(const struct lp_verdict *v, struct lp_finding *f, uint32_t from)
{
	const struct lp_series *s = &v->series[f->series];
	const struct lp_table *t = v->tables[f->metric];
	uint32_t row = v->row_of[f->metric][f->component], next_slot = 0;
	_cleanup_free_ double *ratios = calloc(s->n_windows + 1, sizeof(double));
	_cleanup_free_ double *distances = calloc(s->n_windows + 1, sizeof(double));
	_cleanup_free_ double *values = calloc((size_t)t->n_slots + 1, sizeof(double));
	uint32_t n_ratios = 0, n_distances = 0, n_values = 0;

	if (!ratios || !distances || !values)
		return -ENOMEM;
	for (uint32_t w = from; w < s->n_windows; w++) {
		size_t cell = (size_t)f->member * s->n_windows + w;

		if (s->marks[cell] != f->direction)
			continue;
		if (s->ratios && !isnan(s->ratios[cell]))
			ratios[n_ratios++] = s->ratios[cell];
		if (s->distances && !isnan(s->distances[cell]))
			distances[n_distances++] = s->distances[cell];
		if (next_slot < s->first[w])
			next_slot = s->first[w];
		for (; row != UINT32_MAX && next_slot <= s->last[w] && next_slot < t->n_slots;
			next_slot++) {
			double value = table_value(t, row, next_slot);

			if (!isnan(value))
				values[n_values++] = value;
		}
	}
	if (f->direction == LP_MARK_ABSENT)
		return 0;
	if (n_distances)
		f->distance = median_of(distances, n_distances);
	if (n_ratios && n_values) {
		f->ratio = median_of(ratios, n_ratios);
		f->own = median_of(values, n_values);
		if (isfinite(f->ratio) && f->ratio > 0)
			f->peers = f->own / f->ratio;
	}
	return 0;
}

static int clear_finding(struct explain_context *ctx, uint32_t finding, int64_t since_us)
{
	struct lp_verdict *v = ctx->v;
	struct lp_finding *f = &v->findings[finding];
	struct finding_facts *facts = &ctx->facts[finding];
	const struct lp_series *s = &v->series[f->series];
	uint32_t from = first_window(s, v->tables[f->metric], since_us);
	bool fires = false;
	int r;

	/* A finding that began earlier may have no windows left. */
	if (from == 0 && f->first_us >= since_us)
		return 0;
	r = recount(v, f, from, &fires);
	if (r == 0 && !fires)
		facts->fate = FATE_CLEARED;
	else if (r == 0)
		r = remeasure(v, f, from);
	facts->size = rank_size(f, facts->floor);
	facts->severity = rank_severity(facts->size, f->persistence, f->peak);
	return r;
}

int cleared_apply(struct explain_context *ctx, struct lp_err *err)
{
	int r = 0;

	for (uint32_t i = 0; ctx->state && r == 0 && i < ctx->v->n_findings; i++) {
		const char *component = ctx->v->components[ctx->v->findings[i].component]->text;
		int64_t since_us = state_cleared(ctx->state, component);

		if (since_us)
			r = clear_finding(ctx, i, since_us);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot apply the notes of 'limpet clear'") : 0;
}
