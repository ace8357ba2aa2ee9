#include "detect/group/discover.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "detect/group/discover_stats.h"
#include "detect/group/discover_work.h"
#include "model/topology.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Observers differ where their medians are farther apart than what chance makes of the spread of
 * their components: the standard error of a median of n normal values is 1.25 sigma / sqrt(n), and
 * that of the MAD of m observers about 1.2 of itself / sqrt(m), of which five must be exceeded; the
 * spread inside observers is not known exactly, either. So small a difference still does not matter
 * if components of one observer differ twice as much, or if it is less than 2% of the throughput.
 */
#define MEDIAN_ERROR 1.2533
#define BETWEEN_ERRORS 6.0
#define WITHIN_ERRORS 3.0
#define WITHIN_ERRORS_OF_FEW 10.0
#define BETWEEN_PART 0.5
#define BETWEEN_MIN 0.02
#define OBSERVERS_MIN 3
#define MEMBERS_MIN 3
#define MEMBERS_MIN_OF_TWO 5

/* Classes of throughput: each has this share of the components at least; more, if it is idle (a few
 * without work have lost their path) or is made of whole observers (a few that are slow or
 * overloaded). Half as much again is no other class. */
#define CLASS_MEMBERS_MIN 5
#define CLASS_SHARE_MIN 0.1
#define SUSPECT_SHARE_MIN 0.3
#define WHOLE_SHARE 0.9
#define CLASS_APART_MIN 0.405 /* log 1.5 */
#define CLASS_SPREAD_MIN 0.05
#define CLASS_STEADY_SHARE 0.9
#define DEPTH_MAX 3

/* Less than this part of what the busy ones do is idle. */
#define IDLE_PART 1e-3
#define LOOK "'limpet topology --suggest' prints a file that says so, to be corrected"

struct splitter {
	struct lp_verdict *v;
	const struct lp_peer_group *g; /* the one at hand */
	struct group_work w;
	uint32_t *observer; /* [member] */
	uint32_t n_observers;
	double *x, *scratch; /* room for one value a member, and for the statistics */
	struct lp_peer_group *out;
	size_t n_out, cap_out;
};

/* Some members of the group that may be split further. */
struct branch {
	const char *name;
	const uint32_t *members; /* positions in the group */
	uint32_t n;
	unsigned depth;
};

static void splitter_reset(struct splitter *s)
{
	group_work_release(&s->w);
	free(s->observer);
	free(s->x);
	free(s->scratch);
	s->observer = NULL;
	s->x = s->scratch = NULL;
	s->n_observers = 0;
}

static void splitter_release(struct splitter *s)
{
	splitter_reset(s);
	lp_peer_groups_free(s->out, (uint32_t)s->n_out);
}

/* Number the observers of the members. */
static int observers_number(struct splitter *s)
{
	_cleanup_(strmap_release) struct strmap names = {0};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < s->g->n_members; i++) {
		const char *name = s->v->components[s->g->members[i]]->observer;

		if (strmap_get(&names, name, &s->observer[i]))
			continue;
		s->observer[i] = s->n_observers++;
		r = strmap_put(&names, name, s->observer[i]);
	}
	return r;
}

static int splitter_begin(struct splitter *s, const struct lp_peer_group *g)
{
	size_t n = g->n_members;
	int r;

	splitter_reset(s);
	s->g = g;
	r = group_work_make(s->v, g, &s->w);
	s->observer = calloc(n + 1, sizeof(*s->observer));
	s->x = calloc(n + 1, sizeof(*s->x));
	s->scratch = calloc(4 * n + 1, sizeof(*s->scratch));
	if (r < 0 || !s->observer || !s->x || !s->scratch)
		return -ENOMEM;
	return observers_number(s);
}

/* Add a finished group. */
static int group_emit(struct splitter *s, const struct branch *b, bool discovered)
{
	struct lp_peer_group *g;

	if (array_reserve(&s->out, &s->cap_out, s->n_out + 1, sizeof(*s->out)) < 0)
		return -ENOMEM;
	g = &s->out[s->n_out++];
	g->name = strdup(b->name);
	g->members = calloc((size_t)b->n + 1, sizeof(*g->members));
	if (!g->name || !g->members)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++)
		g->members[i] = s->g->members[b->members[i]];
	g->n_members = b->n;
	g->discovered = discovered;
	return topology_refuse_small(g);
}

/* The levels of a branch in a feature over some blocks, without those that have none; how many. */
static size_t levels_get(const struct splitter *s, const struct branch *b, uint32_t feature,
	uint32_t from, uint32_t to, double *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		ret[n] = group_work_level(&s->w, feature, b->members[i], from, to);
		n += !isnan(ret[n]);
	}
	return n;
}

/* Below this, components of the branch are idle. 0: nobody works. */
static double idle_limit(const struct splitter *s, const struct branch *b, uint32_t feature)
{
	size_t n = levels_get(s, b, feature, 0, s->w.n_blocks, s->x);
	double busy;

	stats_median(s->x, n); /* sorts */
	busy = n ? s->x[(size_t)(0.9 * (double)(n - 1))] : 0;
	if (!(busy > s->w.features[feature].floor) || !(busy > 0))
		return 0;
	return fmax(s->w.features[feature].floor, IDLE_PART * busy);
}

/* How many members of the branch each observer has, in s->scratch. */
static void observers_count(struct splitter *s, const struct branch *b)
{
	memset(s->scratch, 0, s->n_observers * sizeof(*s->scratch));
	for (uint32_t i = 0; i < b->n; i++)
		s->scratch[s->observer[b->members[i]]] += 1;
}

/* How many components an observer must have to count; 0: observers cannot be told apart. */
static uint32_t observers_least(struct splitter *s, const struct branch *b)
{
	uint32_t present = 0, large = 0, larger = 0;
	double members = 0;

	observers_count(s, b);
	for (uint32_t o = 0; o < s->n_observers; o++) {
		double n = s->scratch[o];

		present += n > 0;
		large += n >= MEMBERS_MIN;
		larger += n >= MEMBERS_MIN_OF_TWO;
		members += n >= MEMBERS_MIN ? n : 0;
	}
	if (large * 3 < present * 2 || members * 3 < (double)b->n * 2)
		return 0;
	if (large >= OBSERVERS_MIN)
		return MEMBERS_MIN;
	return present == 2 && larger == 2 ? MEMBERS_MIN_OF_TWO : 0;
}

/* The spreads in the blocks `from` .. `to - 1`; false: most did nothing, which tells nothing. */
static bool part_spread(struct splitter *s, const struct branch *b, uint32_t from, uint32_t to,
	uint32_t least, double idle, uint32_t *of, struct stats_spread *ret)
{
	size_t n = levels_get(s, b, 0, from, to, s->x);

	if (!n || !(stats_median(s->x, n) > idle))
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		double level = group_work_level(&s->w, 0, b->members[i], from, to);

		s->x[i] = isnan(level) ? NAN : log(fmax(level, 0) + idle);
		of[i] = s->observer[b->members[i]];
	}
	stats_spread(s->x, of, b->n, s->n_observers, least, s->scratch, ret);
	return ret->n >= 2;
}

/* The middle of the spreads in `n_parts` parts of the time. */
static bool spread_middle(struct splitter *s, const struct branch *b, uint32_t least,
	uint32_t n_parts, uint32_t *of, struct stats_spread *ret)
{
	double between[WORK_BLOCKS_MAX], within[WORK_BLOCKS_MAX], idle = idle_limit(s, b, 0);
	uint32_t n = 0;

	for (uint32_t i = 0; idle > 0 && i < n_parts; i++) {
		uint32_t from = s->w.n_blocks * i / n_parts, to = s->w.n_blocks * (i + 1) / n_parts;

		if (!part_spread(s, b, from, to, least, idle, of, ret))
			continue;
		between[n] = ret->between;
		within[n++] = ret->within;
	}
	ret->between = stats_median(between, n);
	ret->within = stats_median(within, n);
	return n > 0;
}

static bool spread_speaks(const struct stats_spread *s)
{
	double error = MEDIAN_ERROR * s->within / sqrt(s->size);
	double freedom = s->n * (s->size - 1);
	double surely = (1 + BETWEEN_ERRORS / sqrt(s->n)) *
		(1 + WITHIN_ERRORS / sqrt(freedom) + WITHIN_ERRORS_OF_FEW / freedom);

	return s->between > surely * error && s->between > BETWEEN_PART * s->within &&
		s->between > BETWEEN_MIN;
}

/* Are the components of one observer clearly more alike than those of different observers: over
 * all the time, or at most times, because observers are busy at times of their own? */
static int observers_differ(
	struct splitter *s, const struct branch *b, bool *ret_yes, struct stats_spread *ret)
{
	uint32_t least = observers_least(s, b);
	_cleanup_free_ uint32_t *of = calloc((size_t)b->n + 1, sizeof(*of));

	*ret_yes = false;
	if (!of)
		return -ENOMEM;
	*ret_yes = least &&
		((spread_middle(s, b, least, 1, of, ret) && spread_speaks(ret)) ||
			(spread_middle(s, b, least, s->w.n_blocks, of, ret) && spread_speaks(ret)));
	return 0;
}

/* Make a group of each observer's members, in the order in which the observers appear. */
static int split_by_observer(
	struct splitter *s, const struct branch *b, const struct stats_spread *spread)
{
	_cleanup_free_ uint32_t *members = calloc((size_t)b->n + 1, sizeof(*members));
	int r = lp_verdict_note(s->v,
		"The %u components of '%s' are compared with those of their own observer: "
		"observers "
		"differ by about %.0f%% in throughput, components of one observer by %.0f%%. " LOOK
		".",
		b->n, b->name, 100 * expm1(spread->between), 100 * expm1(spread->within));

	if (!members)
		return -ENOMEM;
	for (uint32_t o = 0; r == 0 && o < s->n_observers; o++) {
		struct branch twig = {.members = members};
		char name[1024];

		for (uint32_t i = 0; i < b->n; i++) {
			if (s->observer[b->members[i]] == o)
				members[twig.n++] = b->members[i];
		}
		if (!twig.n)
			continue;
		snprintf(name, sizeof(name), "%s of %s", b->name,
			s->v->components[s->g->members[members[0]]]->observer);
		twig.name = name;
		r = group_emit(s, &twig, true);
	}
	return r;
}

/* A way to cut a branch into two classes. */
struct class_cut {
	struct stats_cut cut; /* of logarithms */
	uint32_t feature;
	double idle;
};

/* The class of a level by the cut: true is the higher. */
static bool is_high(double level, double idle, double at)
{
	return log(fmax(level, 0) + idle) >= at;
}

/* A class is made by how the system was built: both halves of the time must show it. (What happens
 * in the middle of the data, a lost path, is no class.) */
static bool cut_steady(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	uint32_t half = s->w.n_blocks / 2, agree = 0, n = 0;
	double at[2];

	if (!half)
		return true;
	for (int h = 0; h < 2; h++) {
		uint32_t from = h ? half : 0, to = h ? s->w.n_blocks : half;
		size_t low = 0, high = s->g->n_members;

		for (uint32_t i = 0; i < b->n; i++) {
			double all = group_work_usual(&s->w, c->feature, b->members[i]);
			double part = group_work_level(&s->w, c->feature, b->members[i], from, to);

			if (isnan(part))
				continue;
			part = log(fmax(part, 0) + c->idle);
			if (is_high(all, c->idle, c->cut.at))
				s->scratch[high++] = part;
			else
				s->scratch[low++] = part;
		}
		at[h] = (stats_median(s->scratch, low) +
				stats_median(
					s->scratch + s->g->n_members, high - s->g->n_members)) /
			2;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		double one = group_work_level(&s->w, c->feature, b->members[i], 0, half);
		double two =
			group_work_level(&s->w, c->feature, b->members[i], half, s->w.n_blocks);

		if (isnan(one) || isnan(two))
			continue;
		n++;
		agree += is_high(one, c->idle, at[0]) == is_high(two, c->idle, at[1]);
	}
	return agree >= CLASS_STEADY_SHARE * n;
}

/* Are most members of the smaller class on observers that have hardly any of the other? Where
 * observers have one component each that says nothing. */
static bool cut_is_whole(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	bool small = c->cut.n_high < c->cut.n_low;
	double *all = s->scratch, *in = s->scratch + s->n_observers, whole = 0, total = 0;
	uint32_t present = 0;

	memset(all, 0, 2 * (size_t)s->n_observers * sizeof(*all));
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t o = s->observer[b->members[i]];
		double level = group_work_usual(&s->w, c->feature, b->members[i]);

		all[o] += 1;
		in[o] += !isnan(level) && is_high(level, c->idle, c->cut.at) == small;
	}
	for (uint32_t o = 0; o < s->n_observers; o++) {
		present += all[o] > 0;
		total += in[o];
		whole += in[o] >= WHOLE_SHARE * all[o] ? in[o] : 0;
	}
	return b->n >= 2 * present && whole >= WHOLE_SHARE * total;
}

/* A class that may as well be what is wrong must be large. */
static bool cut_is_trouble(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	size_t n = c->cut.n_low + c->cut.n_high;
	size_t least = c->cut.n_low < c->cut.n_high ? c->cut.n_low : c->cut.n_high;
	bool idle = exp(c->cut.low) <= 2 * c->idle;

	if (idle && (double)c->cut.n_low < SUSPECT_SHARE_MIN * (double)n)
		return true;
	return (double)least < SUSPECT_SHARE_MIN * (double)n && cut_is_whole(s, b, c);
}

/* The clearest cut of one feature. */
static bool feature_cut(
	struct splitter *s, const struct branch *b, uint32_t feature, struct class_cut *ret)
{
	struct class_cut c = {.feature = feature, .idle = idle_limit(s, b, feature)};
	size_t n = 0, least;

	if (!(c.idle > 0))
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		double level = group_work_usual(&s->w, feature, b->members[i]);

		if (!isnan(level))
			s->x[n++] = log(fmax(level, 0) + c.idle);
	}
	least = (size_t)ceil(CLASS_SHARE_MIN * (double)n);
	if (!stats_cut(s->x, n, least > CLASS_MEMBERS_MIN ? least : CLASS_MEMBERS_MIN,
		    CLASS_SPREAD_MIN, CLASS_APART_MIN, s->scratch, &c.cut))
		return false;
	if (cut_is_trouble(s, b, &c) || !cut_steady(s, b, &c))
		return false;
	*ret = c;
	return true;
}

static bool classes_differ(struct splitter *s, const struct branch *b, struct class_cut *ret)
{
	bool any = false;

	for (uint32_t f = 0; f < s->w.n_features; f++) {
		struct class_cut c;

		if (feature_cut(s, b, f, &c) && (!any || c.cut.score > ret->cut.score)) {
			*ret = c;
			any = true;
		}
	}
	return any;
}

/* The amount that a class does, in words. */
static void class_amount(
	const struct splitter *s, const struct class_cut *c, bool high, char *buf, size_t size)
{
	double amount = exp(high ? c->cut.high : c->cut.low) - c->idle;

	if (amount <= c->idle)
		snprintf(buf, size, "nothing");
	else
		work_amount_format(amount, s->w.features[c->feature].unit, buf, size);
}

static int classes_tell(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	char high[64], low[64];

	class_amount(s, c, true, high, sizeof(high));
	class_amount(s, c, false, low, sizeof(low));
	return lp_verdict_note(s->v,
		"The %u components of '%s' are two classes that are compared apart: in %s %zu of "
		"them do about %s, %zu about %s. " LOOK ".",
		b->n, b->name, s->w.features[c->feature].metric, c->cut.n_high, high, c->cut.n_low,
		low);
}

static int branch_split(struct splitter *s, const struct branch *b);

/* One class of the cut becomes a branch. Who has no data is of the larger one. */
static int class_split(
	struct splitter *s, const struct branch *b, const struct class_cut *c, bool high)
{
	_cleanup_free_ uint32_t *members = calloc((size_t)b->n + 1, sizeof(*members));
	struct branch twig = {.members = members, .depth = b->depth + 1};
	char amount[64], name[1024];

	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		double level = group_work_usual(&s->w, c->feature, b->members[i]);
		bool is = isnan(level) ? c->cut.n_high >= c->cut.n_low
				       : is_high(level, c->idle, c->cut.at);

		if (is == high)
			members[twig.n++] = b->members[i];
	}
	class_amount(s, c, high, amount, sizeof(amount));
	snprintf(name, sizeof(name), "%s%s %s class %d (about %s)", b->name, b->depth ? "," : "",
		s->w.features[c->feature].metric, high ? 1 : 2, amount);
	twig.name = name;
	return branch_split(s, &twig);
}

static int branch_split(struct splitter *s, const struct branch *b)
{
	struct stats_spread spread = {0};
	struct class_cut c;
	bool differ = false;
	int r = s->w.n_features ? observers_differ(s, b, &differ, &spread) : 0;

	if (r < 0 || differ)
		return r < 0 ? r : split_by_observer(s, b, &spread);
	if (b->depth == DEPTH_MAX || !classes_differ(s, b, &c))
		return group_emit(s, b, b->depth > 0);
	r = classes_tell(s, b, &c);
	if (r == 0)
		r = class_split(s, b, &c, true);
	return r < 0 ? r : class_split(s, b, &c, false);
}

static int group_split(struct splitter *s, const struct lp_peer_group *g)
{
	_cleanup_free_ uint32_t *members = calloc((size_t)g->n_members + 1, sizeof(*members));
	int r = splitter_begin(s, g);

	if (r < 0 || !members)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_members; i++)
		members[i] = i;
	return branch_split(
		s, &(struct branch){.name = g->name, .members = members, .n = g->n_members});
}

int discover_groups(struct lp_verdict *v, struct lp_err *err)
{
	_cleanup_(splitter_release) struct splitter s = {.v = v};
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < v->n_groups; i++)
		r = group_split(&s, &v->groups[i]);
	if (r < 0)
		return lp_err_sys(err, r, "cannot look for peer groups");
	lp_peer_groups_free(v->groups, v->n_groups);
	v->n_groups = (uint32_t)s.n_out;
	v->groups = TAKE_PTR(s.out);
	s.n_out = 0;
	return 0;
}
