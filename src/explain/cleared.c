#include "explain/cleared.h"

#include "base/cleanup.h"
#include "explain/rank.h"
#include <errno.h>
#include <math.h>

static int64_t slot_time(const struct lp_table *t, uint32_t slot)
{
	return t->start_us + (int64_t)slot * t->step_us;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The median of what is there; NaN if nothing is. */
static double median(double *values, size_t n)
{
	if (!n)
		return NAN;
	qsort(values, n, sizeof(*values), compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The first window that counts. */
static uint32_t first_window(const struct lp_series *s, const struct lp_table *t, int64_t since_us)
{
	uint32_t w = 0;

	while (w < s->n_windows && slot_time(t, s->first[w]) < since_us)
		w++;
	return w;
}

/* Are k of the last 2k-1 windows up to `w`, none before `from`, marked so? */
static bool fires(const uint8_t *marks, uint32_t from, uint32_t w, uint32_t k, uint8_t direction)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 2 * k - 1 && w - i + 1 > from; i++) {
		n += marks[w - i] == direction;
		if (w == i)
			break;
	}
	return n >= k;
}

/* Count again from window `from` on; true if it is still a finding. */
static bool recount(struct lp_finding *f, const struct lp_series *s, const struct lp_table *t,
	uint32_t from, uint32_t k)
{
	const uint8_t *marks = s->marks + (size_t)f->member * s->n_windows;
	bool fired = false;

	f->n_windows = f->n_anomalous = f->persistence = f->peak = 0;
	for (uint32_t w = from; w < s->n_windows; w++) {
		bool anomalous = marks[w] == f->direction;

		if (marks[w] == LP_MARK_NONE)
			continue;
		f->n_windows++;
		if (anomalous && !f->n_anomalous++)
			f->first_us = slot_time(t, s->first[w]);
		if (anomalous)
			f->last_us = slot_time(t, s->last[w]);
		if (anomalous)
			f->persistence++;
		else if (f->persistence)
			f->persistence--;
		if (f->persistence > f->peak)
			f->peak = f->persistence;
		if (!fired && anomalous && fires(marks, from, w, k ? k : 1, f->direction)) {
			fired = true;
			f->indicted_us = slot_time(t, s->last[w]);
		}
	}
	return fired;
}

/* Medians of the windows that are left: `own` from the values, ratio and distance from the
 * series. */
static int remeasure(const struct lp_verdict *v, struct lp_finding *f, uint32_t from)
{
	const struct lp_series *s = &v->series[f->series];
	const struct lp_table *t = v->tables[f->metric];
	uint32_t row = v->row_of[f->metric][f->component], next_slot = 0;
	_cleanup_free_ double *ratios = calloc(s->n_windows + 1, sizeof(double));
	_cleanup_free_ double *distances = calloc(s->n_windows + 1, sizeof(double));
	_cleanup_free_ double *values = calloc((size_t)t->n_slots + 1, sizeof(double));
	size_t n_ratios = 0, n_distances = 0, n_values = 0;

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
			double value = t->values[(size_t)row * t->n_slots + next_slot];

			if (!isnan(value))
				values[n_values++] = value;
		}
	}
	if (f->direction == LP_MARK_ABSENT)
		return 0;
	if (n_distances)
		f->distance = median(distances, n_distances);
	if (n_ratios && n_values) {
		f->ratio = median(ratios, n_ratios);
		f->own = median(values, n_values);
		if (isfinite(f->ratio) && f->ratio > 0)
			f->peers = f->own / f->ratio;
	}
	return 0;
}

static int clear_finding(struct inquiry *q, uint32_t finding, int64_t since_us)
{
	struct lp_verdict *v = q->v;
	struct lp_finding *f = &v->findings[finding];
	struct finding_facts *facts = &q->facts[finding];
	const struct lp_series *s = &v->series[f->series];
	uint32_t from = first_window(s, v->tables[f->metric], since_us);

	if (from == 0)
		return 0;
	if (!recount(f, s, v->tables[f->metric], from, v->params.k)) {
		facts->fate = FATE_CLEARED;
		return 0;
	}
	if (remeasure(v, f, from) < 0)
		return -ENOMEM;
	facts->size = rank_size(f, facts->floor);
	facts->severity = rank_severity(facts->size, f->persistence, f->peak);
	return 0;
}

int cleared_apply(struct inquiry *q, struct lp_err *err)
{
	int r = 0;

	for (uint32_t i = 0; q->state && r == 0 && i < q->v->n_findings; i++) {
		const char *component = q->v->components[q->v->findings[i].component];
		int64_t since_us = state_cleared(q->state, component);

		if (since_us)
			r = clear_finding(q, i, since_us);
	}
	return r < 0 ? lp_err_sys(err, r, "cannot take what was cleared into account") : 0;
}
