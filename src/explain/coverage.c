#include "explain/coverage.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "detect/group/verdict_tables.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void coverage_release(struct coverage *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free(c->items[i].observer);
	free(c->items);
	strmap_release(&c->index);
	*c = (struct coverage){0};
}

const struct observer_coverage *coverage_find(const struct coverage *c, const char *observer)
{
	uint32_t at;

	return strmap_get(&c->index, observer, &at) ? &c->items[at] : NULL;
}

bool coverage_has_data(const struct observer_coverage *o)
{
	return o->last_us > o->first_us;
}

bool coverage_is_alone(const struct coverage *c, const struct observer_coverage *o)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct observer_coverage *other = &c->items[i];

		if (other != o && other->first_us < o->last_us && o->first_us < other->last_us)
			return false;
	}
	return true;
}

/* The position of an observer, which is added if it is new. */
static int observer_place(struct coverage *c, const char *observer, uint32_t *ret)
{
	_cleanup_free_ char *name = NULL;

	if (strmap_get(&c->index, observer, ret))
		return 0;
	name = strdup(observer);
	if (!name || array_reserve(&c->items, &c->cap, (size_t)c->n + 1, sizeof(*c->items)) < 0 ||
		strmap_put(&c->index, name, c->n) < 0)
		return -ENOMEM;
	*ret = c->n;
	c->items[c->n++] = (struct observer_coverage){.observer = TAKE_PTR(name)};
	return 0;
}

/* The slots of a row from `*ret_first` up to, but not including, `*ret_end` have its data; equal:
 * it has none. */
static void row_span(const struct lp_table *t, uint32_t row, uint32_t *ret_first, uint32_t *ret_end)
{
	const double *values = t->values + (size_t)row * t->n_slots;
	uint32_t first = 0, end = t->n_slots;

	while (first < end && isnan(values[first]))
		first++;
	while (end > first && isnan(values[end - 1]))
		end--;
	*ret_first = first;
	*ret_end = end;
}

/* Slot i covers the step that ends at its time. */
static void observer_widen(struct observer_coverage *o, const struct lp_table *t, uint32_t row)
{
	int64_t first_us, last_us;
	uint32_t first, end;

	row_span(t, row, &first, &end);
	if (first == end)
		return;
	first_us = lp_table_time(t, first) - t->step_us;
	last_us = lp_table_time(t, (int64_t)end - 1);
	if (!coverage_has_data(o) || first_us < o->first_us)
		o->first_us = first_us;
	if (last_us > o->last_us)
		o->last_us = last_us;
}

bool coverage_had_peers(const struct lp_verdict *v, const struct lp_finding *f)
{
	const struct lp_peer_group *g = &v->groups[f->group];
	const struct lp_table *t = v->tables[f->metric];
	uint32_t own = v->row_of[f->metric][f->component], first, end, n = 0;

	if (own == UINT32_MAX)
		return true;
	row_span(t, own, &first, &end);
	for (uint32_t i = 0; i < g->n_members && n + 1 < COVERAGE_PEERS_LEAST; i++) {
		uint32_t row = v->row_of[f->metric][g->members[i]], from, to;

		if (row == UINT32_MAX || row == own)
			continue;
		row_span(t, row, &from, &to);
		n += from < end && first < to;
	}
	return first == end || n + 1 >= COVERAGE_PEERS_LEAST;
}

/* What others saw of an observer is no data of its own. */
static void observers_widen(
	struct coverage *c, const struct lp_verdict *v, const uint32_t *observer_of)
{
	for (uint32_t t = 0; t < v->n_tables; t++) {
		for (uint32_t i = 0; i < v->n_components; i++) {
			uint32_t row = v->row_of[t][i];

			if (row != UINT32_MAX && !pool_is_far_view(v->components[i]))
				observer_widen(&c->items[observer_of[i]], v->tables[t], row);
		}
	}
}

/* Who has data in a window, or is missing there, has a mark. */
static bool window_compares(const struct lp_series *s, uint32_t n_members, uint32_t window)
{
	uint32_t n = 0;

	for (uint32_t m = 0; m < n_members && n < COVERAGE_PEERS_LEAST; m++)
		n += s->marks[(size_t)m * s->n_windows + window] != LP_MARK_NONE;
	return n == COVERAGE_PEERS_LEAST;
}

static int series_count(struct coverage *c, const struct lp_verdict *v, const struct lp_series *s,
	const uint32_t *observer_of)
{
	const struct lp_peer_group *g = &v->groups[s->group];
	_cleanup_free_ bool *compares = calloc((size_t)s->n_windows + 1, sizeof(*compares));
	uint32_t n = 0;

	if (!compares)
		return -ENOMEM;
	for (uint32_t w = 0; w < s->n_windows; w++) {
		compares[w] = window_compares(s, g->n_members, w);
		n += compares[w];
	}
	c->n_compared = n > c->n_compared ? n : c->n_compared;
	for (uint32_t m = 0; m < g->n_members; m++) {
		struct observer_coverage *o = &c->items[observer_of[g->members[m]]];
		const uint8_t *marks = s->marks + (size_t)m * s->n_windows;
		uint32_t own = 0;

		for (uint32_t w = 0; w < s->n_windows; w++)
			own += compares[w] && marks[w] != LP_MARK_NONE &&
				marks[w] != LP_MARK_ABSENT;
		o->n_compared = own > o->n_compared ? own : o->n_compared;
	}
	return 0;
}

int coverage_make(const struct lp_verdict *v, struct coverage *ret)
{
	_cleanup_free_ uint32_t *observer_of =
		calloc((size_t)v->n_components + 1, sizeof(*observer_of));
	int r = observer_of ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < v->n_components; i++)
		r = observer_place(ret, v->components[i]->observer, &observer_of[i]);
	if (r == 0)
		observers_widen(ret, v, observer_of);
	for (uint32_t i = 0; r == 0 && i < v->n_series; i++)
		r = series_count(ret, v, &v->series[i], observer_of);
	return r;
}
