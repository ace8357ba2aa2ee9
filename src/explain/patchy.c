#include "explain/patchy.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>

/* Who is away for longer is silent, and absent where its peers are not (engine.md). */
#define AWAY_US (60 * US_PER_SEC)
/* Data of fewer slots in all says nothing about how regular it is. */
#define SLOTS_LEAST 60
#define NAMED_MAX 8

/* Which observers have data when. */
struct presence_map {
	struct strmap index;
	const char **observers;
	uint32_t *observer_of; /* [component] */
	uint32_t n, n_slots;
	uint8_t *there; /* [observer * n_slots + slot] */
};

static void map_release(struct presence_map *m)
{
	strmap_release(&m->index);
	free(m->observers);
	free(m->observer_of);
	free(m->there);
}

/* Latencies are missing where there was no request. */
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

static void map_row(struct presence_map *m, const struct lp_table *t, uint32_t row, uint32_t at)
{
	for (uint32_t s = 0; s < m->n_slots; s++)
		m->there[(size_t)at * m->n_slots + s] |=
			!isnan(t->values[(size_t)row * t->n_slots + s]);
}

static int map_make(struct presence_map *m, const struct lp_verdict *v)
{
	m->n_slots = v->n_tables ? v->tables[0]->n_slots : 0;
	if (m->n_slots < SLOTS_LEAST)
		return 0;
	if (map_number(m, v) < 0)
		return -ENOMEM;
	m->there = calloc((size_t)m->n * m->n_slots + 1, 1);
	if (!m->there)
		return -ENOMEM;
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

/* The share of the usual slots in which it has data, from its first to its last; 1 where it is away
 * for longer at a time. */
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
				"%s has data in only %.0f%% of the time in which most others have, "
				"in pieces: too little to judge it by",
				m.observers[o], 100 * share);
	}
	if (r == 0 && n > NAMED_MAX)
		r = verdict_unknown(v, "so do %u more observers", n - NAMED_MAX);
	return r;
}
