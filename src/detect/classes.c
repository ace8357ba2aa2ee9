#include "detect/classes.h"

#include "base/cleanup.h"
#include "base/median.h"
#include "base/strbuf.h"
#include "detect/group/discover_work.h"
#include "detect/load.h"
#include "model/metric_role.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From this share on the slow ones may as well be the usual ones. */
#define MANY 0.4
/* Fewer that did not become slow when the others did are enough: so many at least. */
#define FEW 0.2
#define FEW_LEAST 2
#define MEMBERS_LEAST 5
#define APART_LEAST 0.405 /* log 1.5: less than that is no class */
#define SPREAD_LEAST 0.05

/* They were so from the beginning if at least half of the difference shows in the first eighth of
 * the time. */
#define EVER_PART 8
#define EVER_SHARE 0.5

/* Members that are listed by name, and groups that are listed. */
#define NAMES_MAX 50
#define GROUPS_MAX 4

struct two_classes {
	const struct lp_peer_group *g;
	const struct work_feature *f;
	double floor;
	double *level; /* [member] logarithms; NaN: no data */
	struct stats_cut cut;
};

static double level_log(double level, double floor)
{
	return isnan(level) ? NAN : log(level + floor);
}

/* The median over the members of one class of their logarithms in the first blocks. */
static double class_first(
	const struct two_classes *c, const struct group_work *w, bool high, double *scratch)
{
	uint32_t blocks = (w->n_blocks + EVER_PART - 1) / EVER_PART;
	size_t n = 0;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		if (isnan(c->level[i]) || (c->level[i] >= c->cut.at) != high)
			continue;
		scratch[n] = level_log(group_work_level(w, c->f, i, 0, blocks), c->floor);
		n += !isnan(scratch[n]);
	}
	return median_of(scratch, n);
}

/* Did the slower class become so while it was looked at? */
static bool became(const struct two_classes *c, const struct group_work *w, double *scratch)
{
	double high = class_first(c, w, true, scratch), low = class_first(c, w, false, scratch);

	return high - low < EVER_SHARE * (c->cut.high - c->cut.low);
}

/* Does a latency of a group show two classes? `scratch` has room for two values a member. */
static bool classes_find(struct two_classes *c, const struct group_work *w, double *scratch)
{
	size_t n = 0, least;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		scratch[n] = group_work_usual(w, c->f, i);
		n += !isnan(scratch[n]);
	}
	c->floor = fmax(c->f->floor, SPREAD_LEAST * median_of(scratch, n));
	n = 0;
	for (uint32_t i = 0; i < c->g->n_members; i++) {
		c->level[i] = level_log(group_work_usual(w, c->f, i), c->floor);
		scratch[n] = c->level[i];
		n += !isnan(scratch[n]);
	}
	if (n < MEMBERS_LEAST || !(c->floor > 0))
		return false;
	least = (size_t)ceil(MANY * (double)n);
	if (stats_cut(scratch, n, least, SPREAD_LEAST, APART_LEAST, scratch + n, &c->cut))
		return 2 * c->cut.n_high >= n || !became(c, w, scratch);
	/* Most may have become slow; who was faster than most from the beginning is better. */
	least = (size_t)fmax(FEW_LEAST, ceil(FEW * (double)n));
	return stats_cut(scratch, n, least, SPREAD_LEAST, APART_LEAST, scratch + n, &c->cut) &&
		2 * c->cut.n_high > n && became(c, w, scratch);
}

/* The median over the members of one class of what they do. */
static double class_work(
	const struct two_classes *c, const struct group_work *w, bool high, double *scratch)
{
	size_t n = 0;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		if (isnan(c->level[i]) || (c->level[i] >= c->cut.at) != high)
			continue;
		scratch[n] = group_work_usual(w, &w->features[0], i);
		n += !isnan(scratch[n]);
	}
	return median_of(scratch, n);
}

/* Who works more may take longer in proportion, and a quarter more, as everywhere else. */
static bool load_explains(const struct two_classes *c, const struct group_work *w, double *scratch)
{
	double load;

	if (w->features[0].waits)
		return false;
	load = class_work(c, w, true, scratch) / class_work(c, w, false, scratch);
	return load > LOAD_MORE && exp(c->cut.high - c->cut.low) <= LOAD_SLACK * load;
}

static void class_list(
	const struct lp_verdict *v, const struct two_classes *c, bool high, struct strbuf *to)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		if (isnan(c->level[i]) || (c->level[i] >= c->cut.at) != high)
			continue;
		if (n++ < NAMES_MAX)
			strbuf_printf(to, "%s%s", n > 1 ? ", " : "",
				v->components[c->g->members[i]]->text);
	}
	if (n > NAMES_MAX)
		strbuf_printf(to, " and %u more", n - NAMES_MAX);
}

static int classes_tell(struct lp_verdict *v, const struct two_classes *c)
{
	_cleanup_(strbuf_release) struct strbuf high = {0}, low = {0};

	class_list(v, c, true, &high);
	class_list(v, c, false, &low);
	if (high.failed || low.failed)
		return -ENOMEM;
	return verdict_unknown(v,
		"the components of '%s' are two classes, and which one is right cannot be told: in "
		"%s, %zu of them take %.1f times as long as the other %zu (the slower ones: %s; "
		"the others: %s)",
		c->g->name, c->f->metric, c->cut.n_high,
		(exp(c->cut.high) - c->floor) / (exp(c->cut.low) - c->floor), c->cut.n_low,
		high.text, low.text);
}

/* Nobody of the group is accused of being slow. */
static void classes_clear(struct lp_verdict *v, uint32_t group)
{
	for (uint32_t i = 0; i < v->n_findings; i++) {
		struct lp_finding *f = &v->findings[i];

		if (f->group == group && f->direction != LP_MARK_ABSENT &&
			role_is_slowness(lp_metric_role(NULL, v->tables[f->metric]->metric)))
			f->culprit = false;
	}
}

static int group_judge(struct lp_verdict *v, uint32_t group, uint32_t *n_told)
{
	const struct lp_peer_group *g = &v->groups[group];
	_cleanup_(group_work_release) struct group_work w = {0};
	_cleanup_free_ double *level = calloc((size_t)g->n_members + 1, sizeof(*level));
	_cleanup_free_ double *scratch = calloc(2 * (size_t)g->n_members + 1, sizeof(*scratch));
	int r = level && scratch ? group_work_make(v, g, &w) : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < w.n_features; i++) {
		struct two_classes c = {.g = g, .f = &w.features[i], .level = level};

		if (!c.f->waits || !classes_find(&c, &w, scratch) || load_explains(&c, &w, scratch))
			continue;
		classes_clear(v, group);
		return (*n_told)++ < GROUPS_MAX ? classes_tell(v, &c) : 0;
	}
	return r;
}

int classes_judge(struct lp_verdict *v)
{
	uint32_t n_told = 0;
	int r = 0;

	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		if (!v->groups[g].refused && v->groups[g].n_members >= MEMBERS_LEAST)
			r = group_judge(v, g, &n_told);
	}
	if (r == 0 && n_told > GROUPS_MAX)
		r = verdict_unknown(v, "%u more groups are two classes each", n_told - GROUPS_MAX);
	return r;
}
