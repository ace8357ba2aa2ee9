#include "engine/episodes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/time.h"
#include "detect/detect.h"
#include "model/metric_role.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void episode_release(struct episode *item)
{
	free(item->component);
	free(item->metric);
	free(item->unit);
	free(item->windows);
	*item = (struct episode){0};
}

void episodes_release(struct episodes *e)
{
	for (size_t i = 0; i < e->n; i++)
		episode_release(&e->items[i]);
	free(e->items);
	*e = (struct episodes){0};
}

static bool episode_same(const struct episode *a, const struct episode *b)
{
	return a->finding.direction == b->finding.direction &&
		!strcmp(a->component, b->component) && !strcmp(a->metric, b->metric) &&
		a->finding.first_us <= b->finding.last_us &&
		b->finding.first_us <= a->finding.last_us;
}

/* The heavier of two equal episodes stays, with the duration of both. */
static void episode_merge(struct episode *old, struct episode *item)
{
	int64_t first = old->finding.first_us < item->finding.first_us ? old->finding.first_us
								       : item->finding.first_us;
	int64_t last = old->finding.last_us > item->finding.last_us ? old->finding.last_us
								    : item->finding.last_us;

	if (item->finding.weight > old->finding.weight) {
		struct episode lighter = *old;

		*old = *item;
		*item = lighter;
	}
	old->finding.first_us = first;
	old->finding.last_us = last;
	episode_release(item);
}

int episodes_add(struct episodes *e, struct episode *item)
{
	for (size_t i = 0; i < e->n; i++) {
		if (episode_same(&e->items[i], item)) {
			episode_merge(&e->items[i], item);
			return 0;
		}
	}
	if (array_reserve(&e->items, &e->cap, e->n + 1, sizeof(*e->items)) < 0) {
		episode_release(item);
		return -ENOMEM;
	}
	e->items[e->n++] = *item;
	*item = (struct episode){0};
	return 0;
}

static int episode_copy(const struct episode *from, struct episode *ret)
{
	*ret = *from;
	ret->component = strdup(from->component);
	ret->metric = strdup(from->metric);
	ret->unit = strdup(from->unit);
	ret->windows = calloc((size_t)from->n_windows + 1, sizeof(*ret->windows));
	if (!ret->component || !ret->metric || !ret->unit || !ret->windows) {
		episode_release(ret);
		return -ENOMEM;
	}
	memcpy(ret->windows, from->windows, from->n_windows * sizeof(*ret->windows));
	return 0;
}

int episodes_add_all(struct episodes *e, const struct episodes *from)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < from->n; i++) {
		struct episode copy;

		r = episode_copy(&from->items[i], &copy);
		if (r == 0)
			r = episodes_add(e, &copy);
	}
	return r;
}

/* The places of the parts of an episode in a verdict. */
struct place {
	uint32_t component, group, member, table;
};

/* Find the group of a component, and its number there; false: it is in none. */
static bool member_find(
	const struct lp_verdict *v, uint32_t component, uint32_t *ret_group, uint32_t *ret_member)
{
	for (*ret_group = 0; *ret_group < v->n_groups; ++*ret_group) {
		const struct lp_peer_group *g = &v->groups[*ret_group];

		for (*ret_member = 0; *ret_member < g->n_members; ++*ret_member) {
			if (g->members[*ret_member] == component)
				return true;
		}
	}
	return false;
}

static bool place_find(const struct lp_verdict *v, const struct strmap *numbers,
	const struct episode *item, struct place *ret)
{
	if (!strmap_get(numbers, item->component, &ret->component))
		return false;
	for (ret->table = 0; ret->table < v->n_tables; ret->table++) {
		if (!strcmp(v->tables[ret->table]->metric, item->metric))
			break;
	}
	return member_find(v, ret->component, &ret->group, &ret->member);
}

/* Copy a group of another verdict, with the members that this verdict has as well. */
static int group_take(const struct lp_verdict *from, const struct lp_peer_group *group,
	const struct strmap *numbers, struct lp_verdict *v)
{
	struct lp_peer_group *groups =
		reallocarray(v->groups, (size_t)v->n_groups + 1, sizeof(*groups));
	struct lp_peer_group g = {.discovered = group->discovered};

	if (!groups)
		return -ENOMEM;
	v->groups = groups;
	g.members = calloc((size_t)group->n_members + 1, sizeof(*g.members));
	if (!g.members || asprintf(&g.name, "%s, with new members", group->name) < 0) {
		free(g.members);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < group->n_members; i++) {
		if (strmap_get(numbers, from->components[group->members[i]]->text,
			    &g.members[g.n_members]))
			g.n_members++;
	}
	v->groups[v->n_groups++] = g;
	return 0;
}

/* Does an episode lack a group, because its component appeared after limpet looked for peers? 1: it
 * has none, and `finer`, which may be NULL, has none either; 0: it has one, or its group was copied
 * from `finer`. */
static int episode_house(const struct episode *item, const struct strmap *numbers,
	const struct lp_verdict *finer, struct lp_verdict *v)
{
	uint32_t component, group, member;

	if (!strmap_get(numbers, item->component, &component) ||
		member_find(v, component, &group, &member))
		return 0;
	for (uint32_t i = 0; finer && i < finer->n_components; i++) {
		if (!strcmp(finer->components[i]->text, item->component) &&
			member_find(finer, i, &group, &member))
			return group_take(finer, &finer->groups[group], numbers, v);
	}
	return 1;
}

/* A table without values, for a metric that needs a finer grid than the verdict has. */
static int table_add(struct lp_verdict *v, const struct episode *item)
{
	uint32_t n = v->n_tables;
	struct lp_table **tables =
		reallocarray(v->tables, (size_t)n + 1, sizeof(struct lp_table *));
	uint32_t **rows;
	struct lp_table *t = calloc(1, sizeof(*t));

	if (tables)
		v->tables = tables;
	rows = reallocarray(v->row_of, (size_t)n + 1, sizeof(uint32_t *));
	if (rows)
		v->row_of = rows;
	if (!tables || !rows || !t) {
		free(t);
		return -ENOMEM;
	}
	t->metric = strdup(item->metric);
	t->unit = strdup(item->unit);
	t->values = calloc(1, sizeof(*t->values));
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	t->components = calloc(1, sizeof(*t->components));
	t->step_us = n ? v->tables[0]->step_us : item->shift_us;
	t->start_us = n ? v->tables[0]->start_us : item->begin_us;
	v->row_of[n] = malloc(((size_t)v->n_components + 1) * sizeof(uint32_t));
	if (!t->metric || !t->unit || !t->values || !t->components || !v->row_of[n]) {
		free(v->row_of[n]);
		lp_table_free(t);
		return -ENOMEM;
	}
	memset(v->row_of[n], 0xff, ((size_t)v->n_components + 1) * sizeof(uint32_t));
	v->tables[v->n_tables++] = t;
	return 0;
}

static uint32_t slot_of(const struct lp_table *t, int64_t time_us)
{
	int64_t slot = lp_table_slot(t, time_us);

	return slot < 0 ? 0 : (uint32_t)slot;
}

/* A series that has only the windows of the episode. */
static int series_of(const struct episode *item, const struct lp_verdict *v, const struct place *at,
	struct lp_series *ret)
{
	const struct lp_table *t = v->tables[at->table];
	uint32_t n_members = v->groups[at->group].n_members, n = item->n_windows;

	*ret = (struct lp_series){
		.group = at->group, .metric = at->table, .n_windows = n, .method = item->method};
	if (series_alloc(ret, n_members) < 0)
		return -ENOMEM;
	/* Only the windows of one component were kept: the others are like their peers. */
	memset(ret->marks, LP_MARK_NORMAL, (size_t)n_members * n);
	for (size_t i = 0; i < (size_t)n_members * n; i++)
		ret->ratios[i] = 1;
	for (uint32_t i = 0; i < n_members; i++)
		ret->thresholds[i] = item->finding.threshold;
	for (uint32_t w = 0; w < n; w++) {
		size_t cell = (size_t)at->member * n + w;
		int64_t begin_us = item->begin_us + (int64_t)w * item->shift_us;

		ret->marks[cell] = item->windows[w].mark;
		ret->ratios[cell] = item->windows[w].ratio;
		ret->distances[cell] = item->windows[w].distance;
		ret->first[w] = slot_of(t, begin_us) + 1;
		ret->last[w] = slot_of(t, begin_us + item->size_us);
		if (ret->last[w] < ret->first[w])
			ret->last[w] = ret->first[w];
	}
	return 0;
}

/* The finding of the verdict about the same component, metric and direction; NULL: none. */
static struct lp_finding *finding_same(
	struct lp_verdict *v, const struct episode *item, const struct place *at)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		struct lp_finding *f = &v->findings[i];

		if (f->component == at->component && f->direction == item->finding.direction &&
			!strcmp(v->tables[f->metric]->metric, item->metric))
			return f;
	}
	return NULL;
}

static int finding_put(struct lp_verdict *v, const struct lp_finding *f, struct lp_finding *old)
{
	struct lp_finding *findings;

	if (old) {
		*old = *f;
		return 0;
	}
	findings = reallocarray(v->findings, (size_t)v->n_findings + 1, sizeof(*findings));
	if (!findings)
		return -ENOMEM;
	v->findings = findings;
	v->findings[v->n_findings++] = *f;
	return 0;
}

/* Slowness that only a finer horizon shows was short, or is new. A factor of this size counts in
 * any case. Milder slowness counts as long as that horizon reaches back to it; then it has to have
 * lasted until the coarser one shows it. With more components than FINER_MEMBERS_MAX, some are
 * always a few times as slow as the others for a quarter of an hour, so there it does not count at
 * all.
 */
#define FINER_SLOW_LEAST 5.0
#define FINER_MEMBERS_MAX 100

static bool episode_counts(const struct episode *item, int64_t since_us, uint32_t n_members)
{
	const struct lp_finding *f = &item->finding;

	if (since_us == INT64_MIN || f->direction != LP_MARK_ABOVE ||
		!role_is_slowness(lp_metric_role(NULL, item->metric)))
		return true;
	return f->ratio >= FINER_SLOW_LEAST ||
		(f->last_us > since_us && n_members <= FINER_MEMBERS_MAX);
}

static int episode_join(const struct episode *item, int64_t since_us, const struct strmap *numbers,
	struct lp_verdict *v)
{
	struct lp_finding f = item->finding, *old;
	struct lp_series series;
	struct place at;
	int r = 0;

	if (!place_find(v, numbers, item, &at) ||
		!episode_counts(item, since_us, v->groups[at.group].n_members))
		return 0;
	old = finding_same(v, item, &at);
	if (old && old->weight >= f.weight)
		return 0;
	if (at.table == v->n_tables)
		r = table_add(v, item);
	if (r == 0)
		r = series_of(item, v, &at, &series);
	if (r < 0)
		return r;
	if (verdict_add_series(v, &series) < 0) {
		series_release(&series);
		return -ENOMEM;
	}
	f.component = at.component;
	f.group = at.group;
	f.member = at.member;
	f.metric = at.table;
	f.series = v->n_series - 1;
	return finding_put(v, &f, old);
}

int episodes_join(const struct episodes *e, int64_t since_us, const struct lp_verdict *finer,
	struct lp_verdict *v)
{
	_cleanup_(strmap_release) struct strmap numbers = {0};
	int r = 0, homeless = 0;

	for (uint32_t i = 0; e->n && r == 0 && i < v->n_components; i++)
		r = strmap_put(&numbers, v->components[i]->text, i);
	for (size_t i = 0; r == 0 && i < e->n; i++) {
		int housed = episode_house(&e->items[i], &numbers, finer, v);

		homeless |= housed > 0;
		r = housed < 0 ? housed : episode_join(&e->items[i], since_us, &numbers, v);
	}
	return r < 0 ? r : homeless;
}
