#include "explain/coverage.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "detect/group/verdict_tables.h"
#include "model/table_view.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <limpet/metric.h>
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

/* The index of an observer, which is added if it is new. */
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

/* Slot i covers the step that ends at its time. */
static void observer_widen(struct observer_coverage *o, const struct lp_table *t, uint32_t row)
{
	int64_t first_us, last_us;
	uint32_t first, end;

	table_row_span(t, row, &first, &end);
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
	table_row_span(t, own, &first, &end);
	for (uint32_t i = 0; i < g->n_members && n + 1 < COVERAGE_PEERS_LEAST; i++) {
		uint32_t row = v->row_of[f->metric][g->members[i]], from, to;

		if (row == UINT32_MAX || row == own)
			continue;
		table_row_span(t, row, &from, &to);
		n += from < end && first < to;
	}
	return first == end || n + 1 >= COVERAGE_PEERS_LEAST;
}

/* What others measure about an observer is not its own data. */
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

/* A component that has data in a window, or is missing there, has a mark. */
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

/* An observer that has no data for longer is silent, and absent if its peers are not
 * (engine.md). */
#define AWAY_US (60 * US_PER_SEC)
/* Fewer slots in total do not show how regular the data is. */
#define SLOTS_LEAST 60
#define NAMED_MAX 8

/* When observers have data. */
struct presence_map {
	struct strmap index;
	const char **observers;
	uint32_t *observer_of; /* [component] */
	uint32_t n, n_slots;
	uint8_t *there; /* [observer * n_slots + slot] has it data? */
	uint32_t *gaps; /* [observer] slots without data */
};

static void map_release(struct presence_map *m)
{
	strmap_release(&m->index);
	free(m->observers);
	free(m->observer_of);
	free(m->there);
	free(m->gaps);
}

/* Latencies are missing if there was no request. */
static bool is_regular(const struct lp_table *t)
{
	enum lp_role role = lp_metric_role(NULL, t->metric);

	return role != LP_ROLE_LATENCY && role != LP_ROLE_SERVICE && role != LP_ROLE_WINDOW;
}

static int map_number(struct presence_map *m, const struct lp_verdict *v)
{
	m->observer_of = calloc((size_t)v->n_components + 1, sizeof(*m->observer_of));
	m->observers = calloc((size_t)v->n_components + 1, sizeof(*m->observers));
	if (!m->observer_of || !m->observers)
		return -ENOMEM;
	for (uint32_t c = 0; c < v->n_components; c++) {
		const char *observer = v->components[c]->observer;

		if (strmap_get(&m->index, observer, &m->observer_of[c]))
			continue;
		m->observer_of[c] = m->n;
		m->observers[m->n] = observer;
		if (strmap_put(&m->index, observer, m->n++) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* An observer that has data in all slots needs no more rows. */
static void map_row(struct presence_map *m, const struct lp_table *t, uint32_t row, uint32_t at)
{
	uint8_t *there = m->there + (size_t)at * m->n_slots;
	const double *values = m->gaps[at] ? table_values(t, row) : NULL;

	for (uint32_t s = 0; values && s < m->n_slots; s++) {
		bool news = !there[s] && !isnan(values[s]);

		there[s] |= news;
		m->gaps[at] -= news;
	}
}

static int map_make(struct presence_map *m, const struct lp_verdict *v)
{
	m->n_slots = v->n_tables ? v->tables[0]->n_slots : 0;
	if (m->n_slots < SLOTS_LEAST)
		return 0;
	if (map_number(m, v) < 0)
		return -ENOMEM;
	m->there = calloc((size_t)m->n * m->n_slots + 1, 1);
	m->gaps = calloc((size_t)m->n + 1, sizeof(*m->gaps));
	if (!m->there || !m->gaps)
		return -ENOMEM;
	for (uint32_t o = 0; o < m->n; o++)
		m->gaps[o] = m->n_slots;
	for (uint32_t t = 0; t < v->n_tables; t++) {
		for (uint32_t c = 0; c < v->n_components; c++) {
			uint32_t row = v->row_of[t][c];

			if (row != UINT32_MAX && v->tables[t]->n_slots == m->n_slots &&
				is_regular(v->tables[t]))
				map_row(m, v->tables[t], row, m->observer_of[c]);
		}
	}
	return 0;
}

/* The slots in which most observers have data. */
static uint8_t *map_usual(const struct presence_map *m)
{
	uint8_t *usual = calloc((size_t)m->n_slots + 1, 1);

	for (uint32_t s = 0; usual && s < m->n_slots; s++) {
		uint32_t n = 0;

		for (uint32_t o = 0; o < m->n; o++)
			n += m->there[(size_t)o * m->n_slots + s];
		usual[s] = n * 2 > m->n;
	}
	return usual;
}

/* The share of the usual slots in which an observer has data, from its first to its last slot; 1 if
 * it is away for more than AWAY_US at a time. */
static double share_there(
	const struct presence_map *m, uint32_t observer, const uint8_t *usual, uint32_t away_max)
{
	const uint8_t *there = m->there + (size_t)observer * m->n_slots;
	uint32_t first = 0, end = m->n_slots, away = 0, n = 0, n_there = 0;

	while (first < end && !there[first])
		first++;
	while (end > first && !there[end - 1])
		end--;
	for (uint32_t s = first; s < end; s++) {
		away = there[s] ? 0 : away + usual[s];
		if (away > away_max)
			return 1;
		n += usual[s];
		n_there += usual[s] && there[s];
	}
	return n >= SLOTS_LEAST ? (double)n_there / n : 1;
}

int patchy_judge(struct lp_verdict *v)
{
	_cleanup_(map_release) struct presence_map m = {0};
	_cleanup_free_ uint8_t *usual = NULL;
	uint32_t away_max, n = 0;
	int r = map_make(&m, v);

	if (r < 0 || !m.there || v->tables[0]->step_us <= 0)
		return r;
	usual = map_usual(&m);
	if (!usual)
		return -ENOMEM;
	away_max = (uint32_t)(AWAY_US / v->tables[0]->step_us);
	for (uint32_t o = 0; r == 0 && o < m.n; o++) {
		double share = share_there(&m, o, usual, away_max);

		if (share <= 0.5 && n++ < NAMED_MAX)
			r = verdict_unknown(v,
				"%s has data in only %.0f%% of the time in which most others do, "
				"in short pieces: too little to judge it",
				m.observers[o], 100 * share);
	}
	if (r == 0 && n > NAMED_MAX)
		r = verdict_unknown(v, "the same is true of %u more observers", n - NAMED_MAX);
	return r;
}
