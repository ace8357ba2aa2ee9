#include "detect/crowd.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/strbuf.h"
#include "detect/compare/compare.h"
#include "detect/group/discover_work.h"
#include "detect/load.h"
#include "model/metric_role.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A class has at least this share of the members. */
#define SHARE_LEAST 0.2
#define MEMBERS_LEAST 5
/* Its requests take twice as long as those of the others: an update of firmware may make less of a
 * difference. */
#define APART_LEAST 0.693 /* log 2 */
#define SPREAD_LEAST 0.05
/* It became slow if less than half of the difference shows in the first eighth of the time. A part
 * of the time shows the class if half of the part does. */
#define PAST_PART 8
#define BLOCKS_LEAST 8
#define SHOWS 0.5
/* Windows are weighed as in weigh.c. */
#define UNIT 0.405 /* log 1.5 */
#define WINDOW_COST 0.5
/* The slowness may have begun late: examine the whole time, then its last half and its last
 * quarter. */
#define PARTS_MOST 4

struct crowd {
	const struct lp_verdict *v;
	uint32_t group;
	const struct lp_peer_group *g;
	struct group_work w;
	const struct work_feature *f;
	double *level;	/* [member] logarithms; NaN: no data */
	double *values; /* room for two numbers of each member */
	struct stats_cut cut;
	double load;		    /* work of the slow members divided by that of the others */
	uint32_t from, end, n_slow; /* blocks that show it: the first, the one after the last, and
				     * their number */
};

static void crowd_release(struct crowd *c)
{
	group_work_release(&c->w);
	free(c->level);
	free(c->values);
}

static bool is_slow(const struct crowd *c, uint32_t member)
{
	return c->level[member] >= c->cut.at;
}

/* How far apart the classes are in some blocks; NaN: unknown. */
static double apart_in(const struct crowd *c, uint32_t from, uint32_t end)
{
	double medians[2];

	for (int slow = 0; slow < 2; slow++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < c->g->n_members; i++) {
			double level = isnan(c->level[i]) || is_slow(c, i) != slow
				? NAN
				: group_work_level(&c->w, c->f, i, from, end);

			if (level > 0)
				c->values[n++] = log(level);
		}
		medians[slow] = median_of(c->values, n);
	}
	return medians[1] - medians[0];
}

/* Do the members fall into two classes from block `from` on? */
static bool classes_cut(struct crowd *c, uint32_t from)
{
	uint32_t n = 0, least;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		double level = group_work_level(&c->w, c->f, i, from, c->w.n_blocks);

		c->level[i] = level > c->f->floor ? log(level) : NAN;
		c->values[n] = c->level[i];
		n += !isnan(c->values[n]);
	}
	least = (uint32_t)ceil(SHARE_LEAST * n);
	return n >= MEMBERS_LEAST &&
		stats_cut(c->values, n, least, SPREAD_LEAST, APART_LEAST, c->values + n, &c->cut) &&
		2 * c->cut.n_high < n;
}

/* Find when the slowness shows, and whether that is long enough. */
static bool time_weigh(struct crowd *c)
{
	double windows = (double)c->w.block_slots / c->v->params.win_shift;
	double apart = c->cut.high - c->cut.low;

	c->from = c->w.n_blocks;
	c->end = c->n_slow = 0;
	for (uint32_t b = 0; b < c->w.n_blocks; b++) {
		if (!(apart_in(c, b, b + 1) >= SHOWS * apart))
			continue;
		c->from = b < c->from ? b : c->from;
		c->end = b + 1;
		c->n_slow++;
	}
	return windows * c->n_slow * (apart / UNIT - WINDOW_COST) >=
		weigh_bar(windows * c->w.n_blocks, windows * c->w.n_blocks, STEADY_UNKNOWN);
}

/* The median work of the slow members compared with the others. */
static double load_of(const struct crowd *c)
{
	double medians[2];

	if (c->w.features[0].waits)
		return NAN;
	for (int slow = 0; slow < 2; slow++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < c->g->n_members; i++) {
			if (isnan(c->level[i]) || is_slow(c, i) != slow)
				continue;
			c->values[n] =
				group_work_level(&c->w, &c->w.features[0], i, c->from, c->end);
			n += !isnan(c->values[n]);
		}
		medians[slow] = median_of(c->values, n);
	}
	return medians[1] / medians[0];
}

/* Is there a class of members that became slow, without additional work that explains it? */
static bool crowd_is_slow(struct crowd *c)
{
	uint32_t past = (c->w.n_blocks + PAST_PART - 1) / PAST_PART;

	for (uint32_t part = 1; part <= PARTS_MOST; part *= 2) {
		double apart;

		if (!classes_cut(c, c->w.n_blocks - c->w.n_blocks / part) || !time_weigh(c))
			continue;
		apart = c->cut.high - c->cut.low;
		c->load = load_of(c);
		return !(apart_in(c, 0, past) >= SHOWS * apart) &&
			!(c->load > LOAD_MORE && exp(apart) <= LOAD_SLACK * c->load);
	}
	return false;
}

static struct lp_finding finding_make(const struct crowd *c, uint32_t series, uint32_t member)
{
	const struct lp_series *s = &c->v->series[series];
	const struct lp_table *t = c->v->tables[s->metric];
	double windows = (double)c->w.block_slots / c->v->params.win_shift;
	bool ended = c->end < c->w.n_blocks;
	uint32_t last = ended ? c->end * c->w.block_slots - 1 : t->n_slots - 1;
	struct lp_finding f = {.component = c->g->members[member],
		.group = c->group,
		.metric = s->metric,
		.series = series,
		.member = member,
		.role = LP_ROLE_LATENCY,
		.direction = LP_MARK_ABOVE,
		.crowd = true,
		.culprit = true,
		.n_windows = (uint32_t)fmax(1, windows * c->w.n_blocks),
		.n_anomalous = (uint32_t)fmax(1, windows * c->n_slow),
		.own = group_work_level(&c->w, c->f, member, c->from, c->end),
		.peers = exp(c->cut.low),
		.distance = c->cut.score,
		.threshold = 1,
		.weight = 1,
		.load_ratio = c->load,
		.first_us = lp_table_time(t, c->from * c->w.block_slots) - t->step_us,
		.last_us = lp_table_time(t, last),
		.onset_error_us = c->w.block_slots * t->step_us,
		.ended = ended};

	f.ratio = f.own / f.peers;
	f.peak = f.n_anomalous;
	f.persistence = ended ? 0 : f.n_anomalous;
	f.indicted_us = f.first_us + (int64_t)c->w.block_slots * t->step_us;
	return f;
}

/* The finding about a component as a culprit; NULL: none. */
static struct lp_finding *finding_of(const struct findings *f, uint32_t component, uint32_t metric)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->items[i].component == component && f->items[i].metric == metric &&
			f->items[i].culprit)
			return &f->items[i];
	}
	return NULL;
}

/* Add a finding, unless windows already show it for most of that time. */
static int finding_add(const struct lp_finding *made, struct findings *f)
{
	struct lp_finding *known = finding_of(f, made->component, made->metric);

	if (known) {
		if (4 * known->n_anomalous < 3 * made->n_anomalous)
			*known = *made;
		return 0;
	}
	if (array_reserve(&f->items, &f->cap, f->n + 1, sizeof(*f->items)) < 0)
		return -ENOMEM;
	f->items[f->n++] = *made;
	return 0;
}

static int crowd_add(const struct crowd *c, struct findings *f)
{
	uint32_t series = 0;
	int r = 0;

	while (series < c->v->n_series &&
		(c->v->series[series].group != c->group ||
			strcmp(c->v->tables[c->v->series[series].metric]->metric, c->f->metric) !=
				0))
		series++;
	for (uint32_t i = 0; r == 0 && series < c->v->n_series && i < c->g->n_members; i++) {
		struct lp_finding made;

		if (isnan(c->level[i]) || !is_slow(c, i))
			continue;
		made = finding_make(c, series, i);
		r = finding_add(&made, f);
	}
	return r;
}

static int group_find(const struct lp_verdict *v, uint32_t group, struct findings *f)
{
	_cleanup_(crowd_release) struct crowd c = {.v = v, .group = group, .g = &v->groups[group]};
	size_t n = c.g->n_members;
	int r = group_work_make(v, c.g, &c.w);

	c.level = calloc(n + 1, sizeof(*c.level));
	c.values = calloc(2 * n + 1, sizeof(*c.values));
	if (r < 0 || !c.level || !c.values)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && c.w.n_blocks >= BLOCKS_LEAST && i < c.w.n_features; i++) {
		c.f = &c.w.features[i];
		if (c.f->waits && crowd_is_slow(&c))
			r = crowd_add(&c, f);
	}
	return r;
}

int crowd_find(const struct lp_verdict *v, struct findings *f)
{
	int r = 0;

	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		if (!v->groups[g].refused && v->groups[g].n_members >= MEMBERS_LEAST &&
			!group_has_vectors(v, g))
			r = group_find(v, g, f);
	}
	return r;
}

/* If at least this share of the members is slow, the slow ones may be the normal ones. */
#define MANY 0.4
/* If a minority stayed fast while the others became slow, this share is enough. */
#define FEW 0.2
#define FEW_LEAST 2
#define CLASS_APART_LEAST 0.405 /* log 1.5: a smaller difference is not a class */

/* At most this many members are listed by name, and this many groups. */
#define NAMES_MAX 50
#define TOLD_MAX 4

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

/* The median of the logarithms of one class in the first blocks. */
static double class_first(
	const struct two_classes *c, const struct group_work *w, bool high, double *scratch)
{
	uint32_t blocks = (w->n_blocks + PAST_PART - 1) / PAST_PART;
	size_t n = 0;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		if (isnan(c->level[i]) || (c->level[i] >= c->cut.at) != high)
			continue;
		scratch[n] = level_log(group_work_level(w, c->f, i, 0, blocks), c->floor);
		n += !isnan(scratch[n]);
	}
	return median_of(scratch, n);
}

/* Did the slower class become slow within the data? */
static bool became(const struct two_classes *c, const struct group_work *w, double *scratch)
{
	double high = class_first(c, w, true, scratch), low = class_first(c, w, false, scratch);

	return high - low < SHOWS * (c->cut.high - c->cut.low);
}

/* Does a latency of a group show two classes? `scratch` has room for two values per member. */
static bool classes_find(struct two_classes *c, const struct group_work *w, double *scratch)
{
	size_t n = 0, least;
	double usual;

	for (uint32_t i = 0; i < c->g->n_members; i++) {
		scratch[n] = group_work_usual(w, c->f, i);
		n += !isnan(scratch[n]);
	}
	usual = median_of(scratch, n);
	c->floor = c->f->storage ? latency_floor(usual, c->f->floor) : c->f->floor;
	c->floor = fmax(c->floor, SPREAD_LEAST * usual);
	n = 0;
	for (uint32_t i = 0; i < c->g->n_members; i++) {
		c->level[i] = level_log(group_work_usual(w, c->f, i), c->floor);
		scratch[n] = c->level[i];
		n += !isnan(scratch[n]);
	}
	if (n < MEMBERS_LEAST || !(c->floor > 0))
		return false;
	least = (size_t)ceil(MANY * (double)n);
	if (stats_cut(scratch, n, least, SPREAD_LEAST, CLASS_APART_LEAST, scratch + n, &c->cut))
		return 2 * c->cut.n_high >= n || !became(c, w, scratch);
	/* Most members may have become slow. A member that was faster than most from the beginning
	 * is a better one. */
	least = (size_t)fmax(FEW_LEAST, ceil(FEW * (double)n));
	return stats_cut(
		       scratch, n, least, SPREAD_LEAST, CLASS_APART_LEAST, scratch + n, &c->cut) &&
		2 * c->cut.n_high > n && became(c, w, scratch);
}

/* The median work of one class. */
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

/* A member with more work may take longer in proportion, plus a quarter, as everywhere else. */
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
		"the components of '%s' are two classes, and limpet cannot say which one is right: "
		"in "
		"%s, %zu of them take %.1f times as long as the other %zu (the slower ones: %s; "
		"the others: %s)",
		c->g->name, c->f->metric, c->cut.n_high,
		(exp(c->cut.high) - c->floor) / (exp(c->cut.low) - c->floor), c->cut.n_low,
		high.text, low.text);
}

/* Remove the accusation of slowness from all members of the group. */
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
		v->groups[group].undecided = true;
		return (*n_told)++ < TOLD_MAX ? classes_tell(v, &c) : 0;
	}
	return r;
}

int crowd_judge(struct lp_verdict *v)
{
	uint32_t n_told = 0;
	int r = 0;

	for (uint32_t g = 0; r == 0 && g < v->n_groups; g++) {
		if (!v->groups[g].refused && v->groups[g].n_members >= MEMBERS_LEAST)
			r = group_judge(v, g, &n_told);
	}
	if (r == 0 && n_told > TOLD_MAX)
		r = verdict_unknown(v, "%u more groups are two classes each", n_told - TOLD_MAX);
	return r;
}
