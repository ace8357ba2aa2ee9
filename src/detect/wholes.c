#include "detect/wholes.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "detect/group/discover_work.h"
#include "detect/load.h"
#include "model/verdict_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The usual level is that of the first eighth of the time, of at least this many blocks. */
#define PAST_PART 8
#define BLOCKS_LEAST 8
/* From this ratio on limpet accuses a whole observer. An update of its firmware may make less of a
 * difference. */
#define LARGE 0.693 /* log 2 */
/* A block counts if its ratio is at least 1.5 and three times the usual difference between
 * observers. More than one block is required. A block weighs as much as its windows would (see
 * weigh.c). */
#define BLOCK_LEAST 0.405 /* log 1.5 */
#define BLOCK_SPREADS 3.0
#define WINDOW_COST 0.5
#define STRETCH_LEAST 2
#define MAD_SIGMA 1.4826
#define OBSERVERS_LEAST 3
/* If this share of the observers changed, limpet cannot say which ones are normal. */
#define MANY 0.4
/* A component is part of it if it changed by at least this share of its observer's change. */
#define OWN_PART 0.5

/* Observers that are compared separately, and all their components. */
struct wholes {
	struct lp_verdict *v;
	struct lp_peer_group all;
	uint32_t *groups; /* [observer] */
	uint32_t *start;  /* [observer] its first index in all.members; one more at the end */
	uint32_t n;	  /* observers */
	struct group_work w;
	double *values; /* room for one number per component */
	double *off;	/* [observer * n_blocks + block] how much more it changed than the others */
	double spread;	/* the usual difference between observers */
};

/* The blocks from .. end - 1 in which an observer is slow. */
struct slow_time {
	uint32_t from, end;
	double share;  /* of the required weight */
	double others; /* the change of the others, as a logarithm */
	double off;    /* its additional change */
	double load;   /* the change of its work, as a ratio; NaN: unknown */
};

static void wholes_release(struct wholes *s)
{
	group_work_release(&s->w);
	free(s->all.members);
	free(s->groups);
	free(s->start);
	free(s->values);
	free(s->off);
}

/* Collect the observers of family number `family`, which were split from each other. */
static int wholes_init(struct wholes *s, struct lp_verdict *v, uint32_t family)
{
	uint32_t n = 0;
	int r;

	*s = (struct wholes){.v = v};
	s->groups = calloc((size_t)v->n_groups + 1, sizeof(*s->groups));
	s->start = calloc((size_t)v->n_groups + 1, sizeof(*s->start));
	s->all.members = calloc((size_t)v->n_components + 1, sizeof(*s->all.members));
	if (!s->groups || !s->start || !s->all.members)
		return -ENOMEM;
	for (uint32_t g = 0; g < v->n_groups; g++) {
		const struct lp_peer_group *from = &v->groups[g];

		if (from->family != family || from->refused || !from->n_members ||
			n + from->n_members > v->n_components)
			continue;
		memcpy(s->all.members + n, from->members, from->n_members * sizeof(uint32_t));
		s->groups[s->n] = g;
		n += from->n_members;
		s->start[++s->n] = n;
	}
	s->all.n_members = n;
	if (s->n < OBSERVERS_LEAST)
		return 0;
	r = group_work_make(v, &s->all, &s->w);
	s->values = calloc((size_t)n + WORK_BLOCKS_MAX + 1, sizeof(*s->values));
	s->off = calloc((size_t)s->n * s->w.n_blocks + 1, sizeof(*s->off));
	return r < 0 || !s->values || !s->off ? -ENOMEM : 0;
}

static uint32_t past_blocks(const struct wholes *s)
{
	return (s->w.n_blocks + PAST_PART - 1) / PAST_PART;
}

/* A component in a block, as a logarithm; NaN: it was idle. */
static double block_log(
	const struct wholes *s, const struct work_feature *f, uint32_t member, uint32_t block)
{
	double value = f->blocks[(size_t)member * s->w.n_blocks + block];

	return value > f->floor ? log(value) : NAN;
}

/* The change of a component from the beginning to a block, or to the median of several blocks. */
static double member_change(const struct wholes *s, const struct work_feature *f, uint32_t member,
	uint32_t from, uint32_t end)
{
	double values[WORK_BLOCKS_MAX], before;
	uint32_t n = 0;

	for (uint32_t b = 0; b < past_blocks(s); b++) {
		values[n] = block_log(s, f, member, b);
		n += !isnan(values[n]);
	}
	before = median_of(values, n);
	n = 0;
	for (uint32_t b = from; b < end; b++) {
		values[n] = block_log(s, f, member, b);
		n += !isnan(values[n]);
	}
	return median_of(values, n) - before;
}

/* The same for the median component of an observer; NaN: too few are known. */
static double observer_change(const struct wholes *s, const struct work_feature *f,
	uint32_t observer, uint32_t from, uint32_t end)
{
	uint32_t n = 0, first = s->start[observer], behind = s->start[observer + 1];

	for (uint32_t i = first; i < behind; i++) {
		s->values[n] = member_change(s, f, i, from, end);
		n += !isnan(s->values[n]);
	}
	return 2 * n > behind - first ? median_of(s->values, n) : NAN;
}

/* The change of the median observer in a block is common to all observers. */
static int changes_make(struct wholes *s, const struct work_feature *f)
{
	_cleanup_free_ double *known = calloc((size_t)s->n * s->w.n_blocks + 1, sizeof(*known));
	uint32_t n = 0;

	if (!known)
		return -ENOMEM;
	for (uint32_t b = 0; b < s->w.n_blocks; b++) {
		double middle;

		slices_rest();
		n = 0;
		for (uint32_t o = 0; o < s->n; o++) {
			double change = observer_change(s, f, o, b, b + 1);

			s->off[(size_t)o * s->w.n_blocks + b] = change;
			known[n] = change;
			n += !isnan(change);
		}
		middle = n >= OBSERVERS_LEAST ? median_of(known, n) : NAN;
		for (uint32_t o = 0; o < s->n; o++)
			s->off[(size_t)o * s->w.n_blocks + b] -= middle;
	}
	n = 0;
	for (size_t i = 0; i < (size_t)s->n * s->w.n_blocks; i++) {
		known[n] = fabs(s->off[i]);
		n += !isnan(known[n]);
	}
	s->spread = MAD_SIGMA * median_of(known, n);
	return 0;
}

/* The heaviest stretch of blocks of an observer, weighed like windows. */
static struct slow_time observer_weigh(const struct wholes *s, uint32_t observer)
{
	const double *off = s->off + (size_t)observer * s->w.n_blocks;
	double least = fmax(BLOCK_LEAST, BLOCK_SPREADS * s->spread), sum = 0;
	double windows = (double)s->w.block_slots / s->v->params.win_shift;
	struct slow_time best = {0};
	uint32_t from = 0, n = 0;

	for (uint32_t b = 0; b < s->w.n_blocks; b++) {
		if (isnan(off[b]))
			continue;
		n++;
		if (off[b] >= least && sum <= 0)
			from = b;
		sum += windows * ((off[b] >= least ? off[b] / BLOCK_LEAST : 0) - WINDOW_COST);
		sum = fmax(sum, 0);
		if (off[b] >= least &&
			sum / weigh_bar(windows * n, windows * n, STEADY_UNKNOWN) > best.share &&
			b + 1 - from >= STRETCH_LEAST)
			best = (struct slow_time){.from = from,
				.end = b + 1,
				.share = sum / weigh_bar(windows * n, windows * n, STEADY_UNKNOWN)};
	}
	return best;
}

/* The largest change of the others in that time, except for those that may be slow as well. If a
 * class became faster, the others did not become slow. NaN: no others are left. */
static double others_change(const struct wholes *s, const struct work_feature *f,
	const struct slow_time *slow, uint32_t observer)
{
	const struct slow_time *t = &slow[observer];
	double most = NAN;

	for (uint32_t o = 0; o < s->n; o++) {
		if (o != observer && slow[o].share < 1)
			most = fmax(most, observer_change(s, f, o, t->from, t->end));
	}
	return most;
}

/* The change of an observer's work relative to the median observer, as a ratio; NaN: unknown. */
static double load_of(const struct wholes *s, uint32_t observer, const struct slow_time *t)
{
	const struct work_feature *work = &s->w.features[0];
	_cleanup_free_ double *known = calloc((size_t)s->n + 1, sizeof(*known));
	uint32_t n = 0;

	for (uint32_t o = 0; known && !work->waits && o < s->n; o++) {
		known[n] = observer_change(s, work, o, t->from, t->end);
		n += !isnan(known[n]);
	}
	return n ? exp(observer_change(s, work, observer, t->from, t->end) - median_of(known, n))
		 : NAN;
}

/* Did an observer become slow as a whole? Fills in by how much. */
static bool observer_slow(const struct wholes *s, const struct work_feature *f,
	struct slow_time *slow, uint32_t observer)
{
	struct slow_time *t = &slow[observer];
	double own;

	if (t->share < 1)
		return false;
	t->load = load_of(s, observer, t);
	t->others = others_change(s, f, slow, observer);
	own = observer_change(s, f, observer, t->from, t->end);
	/* An observer that did not change did not become slow, whatever the others did. */
	t->off = fmin(own, own - t->others);
	/* Queues grow faster than the load does. */
	return t->off >= BLOCK_LEAST && !(t->load > LOAD_MORE && exp(t->off) <= t->load * t->load);
}

static const char *observer_name(const struct wholes *s, uint32_t observer)
{
	return s->v->components[s->all.members[s->start[observer]]]->observer;
}

/* The series of a metric in a group; n_series: none. */
static uint32_t series_of(const struct lp_verdict *v, uint32_t group, const char *metric)
{
	for (uint32_t i = 0; i < v->n_series; i++) {
		if (v->series[i].group == group &&
			!strcmp(v->tables[v->series[i].metric]->metric, metric))
			return i;
	}
	return v->n_series;
}

static bool has_finding(const struct findings *f, uint32_t component, uint32_t metric)
{
	for (size_t i = 0; i < f->n; i++) {
		if (f->items[i].component == component && f->items[i].metric == metric &&
			f->items[i].culprit)
			return true;
	}
	return false;
}

static struct lp_finding finding_make(const struct wholes *s, const struct work_feature *f,
	uint32_t member, uint32_t series, const struct slow_time *t, double off)
{
	const struct lp_series *of = &s->v->series[series];
	const struct lp_table *table = s->v->tables[of->metric];
	bool ended = t->end < s->w.n_blocks;
	uint32_t slots = s->w.block_slots, last = ended ? t->end * slots - 1 : table->n_slots - 1;
	double windows = (double)slots / s->v->params.win_shift, own[WORK_BLOCKS_MAX];
	struct lp_finding ret = {.component = s->all.members[member],
		.group = of->group,
		.metric = of->metric,
		.series = series,
		.role = LP_ROLE_LATENCY,
		.direction = LP_MARK_ABOVE,
		.whole = true,
		.culprit = true,
		.n_windows = (uint32_t)fmax(1, windows * s->w.n_blocks),
		.n_anomalous = (uint32_t)fmax(1, windows * (t->end - t->from)),
		.ratio = exp(off),
		.distance = off,
		.threshold = LARGE,
		.weight = t->share,
		.load_ratio = t->load,
		.first_us = lp_table_time(table, t->from * slots) - table->step_us,
		.last_us = lp_table_time(table, last),
		.onset_error_us = slots * table->step_us,
		.ended = ended};
	uint32_t n = 0;

	for (uint32_t b = t->from; b < t->end; b++) {
		own[n] = block_log(s, f, member, b);
		n += !isnan(own[n]);
	}
	ret.own = exp(median_of(own, n));
	ret.peers = ret.own / ret.ratio;
	ret.peak = ret.n_anomalous;
	ret.persistence = ret.ended ? 0 : ret.n_anomalous;
	ret.indicted_us = ret.first_us + STRETCH_LEAST * (int64_t)slots * table->step_us;
	return ret;
}

/* Add findings about the affected components of an observer. */
static int observer_add(const struct wholes *s, const struct work_feature *f, uint32_t observer,
	const struct slow_time *t, struct findings *fs)
{
	uint32_t series = series_of(s->v, s->groups[observer], f->metric);

	if (series == s->v->n_series)
		return 0;
	for (uint32_t i = s->start[observer]; i < s->start[observer + 1]; i++) {
		double off = member_change(s, f, i, t->from, t->end) - t->others;

		if (!(off >= OWN_PART * t->off) ||
			has_finding(fs, s->all.members[i], s->v->series[series].metric))
			continue;
		if (array_reserve(&fs->items, &fs->cap, fs->n + 1, sizeof(*fs->items)) < 0)
			return -ENOMEM;
		fs->items[fs->n] = finding_make(s, f, i, series, t, off);
		fs->items[fs->n++].member = i - s->start[observer];
	}
	return 0;
}

static int little_tell(const struct wholes *s, const struct work_feature *f, uint32_t observer,
	const struct slow_time *t)
{
	return lp_verdict_note(s->v,
		"%s as a whole became %.1f times as slow in %s as before, relative to the other "
		"observers, which is too little to accuse it",
		observer_name(s, observer), exp(t->off), f->metric);
}

static int many_tell(const struct wholes *s, const struct work_feature *f, uint32_t n_slow)
{
	return verdict_unknown(s->v,
		"%u of %u observers became slow as a whole in %s, the others did not: limpet "
		"cannot "
		"say which are right",
		n_slow, s->n, f->metric);
}

/* Judge one latency of observers that are compared separately. */
static int feature_judge(struct wholes *s, const struct work_feature *f, struct findings *fs)
{
	_cleanup_free_ struct slow_time *slow = calloc((size_t)s->n + 1, sizeof(*slow));
	uint32_t n_slow = 0;
	int r = slow ? changes_make(s, f) : -ENOMEM;

	for (uint32_t o = 0; r == 0 && o < s->n; o++)
		slow[o] = observer_weigh(s, o);
	for (uint32_t o = 0; r == 0 && o < s->n; o++) {
		if (observer_slow(s, f, slow, o))
			n_slow += slow[o].off >= LARGE;
		else
			slow[o].off = 0;
	}
	if (r == 0 && n_slow >= MANY * s->n && n_slow)
		return many_tell(s, f, n_slow);
	for (uint32_t o = 0; r == 0 && o < s->n; o++) {
		if (slow[o].off >= LARGE)
			r = observer_add(s, f, o, &slow[o], fs);
		else if (slow[o].off > 0)
			r = little_tell(s, f, o, &slow[o]);
	}
	return r;
}

static int family_judge(struct lp_verdict *v, uint32_t family, struct findings *fs)
{
	_cleanup_(wholes_release) struct wholes s = {0};
	int r = wholes_init(&s, v, family);

	if (s.n < OBSERVERS_LEAST || s.w.n_blocks < BLOCKS_LEAST)
		return r;
	for (uint32_t i = 0; r == 0 && i < s.w.n_features; i++) {
		if (s.w.features[i].waits)
			r = feature_judge(&s, &s.w.features[i], fs);
	}
	return r;
}

int wholes_find(struct lp_verdict *v, struct findings *f)
{
	uint32_t most = 0;
	int r = 0;

	for (uint32_t g = 0; g < v->n_groups; g++)
		most = v->groups[g].family > most ? v->groups[g].family : most;
	for (uint32_t family = 1; r == 0 && family <= most; family++)
		r = family_judge(v, family, f);
	return r;
}
