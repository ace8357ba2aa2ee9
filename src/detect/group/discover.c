#include "detect/group/discover.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/median.h"
#include "base/strbuf.h"
#include "detect/group/discover_own.h"
#include "model/topology.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A class of throughput has at least this share of the components. It needs more if it is idle (a
 * few components without work may have lost their path) or consists of whole observers (a few may
 * be slow or overloaded). A factor of 1.5 is not enough for a separate class. */
#define CLASS_MEMBERS_MIN 5
#define CLASS_SHARE_MIN 0.1
#define SUSPECT_SHARE_MIN 0.3
#define WHOLE_SHARE 0.9
#define CLASS_APART_MIN 0.405 /* log 1.5 */
#define CLASS_SPREAD_MIN 0.05
#define CLASS_STEADY_SHARE 0.9
#define DEPTH_MAX 3

/* Work below this fraction of the busy components' work counts as idle. */
#define IDLE_PART 1e-3
/* At most this many observers of a class are named. */
#define COHORT_NAMES_MAX 6
#define LOOK "'limpet topology --suggest' prints a file that says so, which you can correct"

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

/* Are components of this kind parts of their observer, like the disks of a host, or of an unknown
 * kind of an importer? Of the known kinds only disks are: connections, for instance, have two
 * ends. */
static bool kind_is_part(const char *kind)
{
	const struct lp_metric *const *all = lp_metric_all();

	for (size_t i = 0; all[i]; i++) {
		if (!strcmp(all[i]->kind, kind))
			return !strcmp(kind, "disk");
	}
	return true;
}

static int splitter_begin(struct splitter *s, const struct lp_peer_group *g)
{
	size_t n = g->n_members;
	int r;

	splitter_reset(s);
	s->g = g;
	s->parts = kind_is_part(s->v->components[g->members[0]]->kind);
	r = group_work_make(s->v, g, &s->w);
	s->observer = calloc(n + 1, sizeof(*s->observer));
	s->x = calloc(n + 1, sizeof(*s->x));
	s->scratch = calloc(4 * n + 1, sizeof(*s->scratch));
	if (r < 0 || !s->observer || !s->x || !s->scratch)
		return -ENOMEM;
	return observers_number(s);
}

/* Add a finished group. */
static int group_emit(struct splitter *s, const struct branch *b, bool discovered, uint32_t family)
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
	g->family = family;
	return topology_refuse_small(g);
}

size_t branch_levels(const struct branch *b, const struct group_work *w,
	const struct work_feature *f, uint32_t from, uint32_t to, double *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		ret[n] = group_work_level(w, f, b->members[i], from, to);
		n += !isnan(ret[n]);
	}
	return n;
}

double branch_idle_limit(struct splitter *s, const struct branch *b, const struct work_feature *f)
{
	size_t n = branch_levels(b, &s->w, f, 0, s->w.n_blocks, s->x);
	double busy;

	median_sort(s->x, n);
	busy = n ? s->x[(size_t)(0.9 * (double)(n - 1))] : 0;
	if (!(busy > f->floor) || !(busy > 0))
		return 0;
	return fmax(f->floor, IDLE_PART * busy);
}

/* List the observers that are a separate class; the first few by name. */
static void cohort_names(const struct splitter *s, const struct branch *b,
	const struct observers_look *l, struct strbuf *to)
{
	uint32_t told = 0;

	for (uint32_t o = 0; o < s->n_observers && told <= COHORT_NAMES_MAX; o++) {
		uint32_t i = 0;

		while (i < b->n && s->observer[b->members[i]] != o)
			i++;
		if (i == b->n || !l->off[o])
			continue;
		if (told++ == COHORT_NAMES_MAX)
			strbuf_printf(to, ", ...");
		else
			strbuf_printf(to, "%s%s", told > 1 ? ", " : "",
				s->v->components[s->g->members[b->members[i]]]->observer);
	}
}

/* Note why each observer's components are compared separately. */
static int split_tell(struct splitter *s, const struct branch *b, const struct observers_look *l)
{
	_cleanup_(strbuf_release) struct strbuf why = {0};

	if (l->spread_speaks)
		strbuf_printf(&why,
			"observers differ by about %.0f%% in %s, components of one observer by "
			"%.0f%%",
			100 * expm1(l->spread.between), l->f->metric,
			100 * expm1(l->spread.within));
	else if (!l->n_off)
		strbuf_printf(&why, "nothing shows that observers are alike");
	if (l->n_off) {
		strbuf_printf(&why,
			"%s%u of %u observers differ from the others as a whole, by up to %.1f "
			"times in %s, and have done so since the beginning, which is a class and "
			"not a fault (",
			l->spread_speaks ? "; " : "", l->n_off, l->n_known, exp(l->off_most),
			l->off_in->metric);
		cohort_names(s, b, l, &why);
		strbuf_printf(&why, ")");
	}
	return why.failed ? -ENOMEM
			  : lp_verdict_note(s->v,
				    "The %u components of '%s' are compared with those of their "
				    "own observer: %s. " LOOK ".",
				    b->n, b->name, why.text);
}

/* Sort the members of a branch by observer; `start` gets the first index of each. */
static void members_sort(
	const struct splitter *s, const struct branch *b, uint32_t *members, uint32_t *start)
{
	memset(start, 0, ((size_t)s->n_observers + 2) * sizeof(*start));
	for (uint32_t i = 0; i < b->n; i++)
		start[s->observer[b->members[i]] + 2]++;
	for (uint32_t o = 2; o < s->n_observers + 2; o++)
		start[o] += start[o - 1];
	for (uint32_t i = 0; i < b->n; i++)
		members[start[s->observer[b->members[i]] + 1]++] = b->members[i];
}

/* Make a group of each observer's members, in the order in which the observers appear. */
static int split_by_observer(
	struct splitter *s, const struct branch *b, const struct observers_look *l)
{
	_cleanup_free_ uint32_t *members = calloc((size_t)b->n + 1, sizeof(*members));
	_cleanup_free_ uint32_t *start = calloc((size_t)s->n_observers + 2, sizeof(*start));
	int r = split_tell(s, b, l);

	if (!members || !start)
		return -ENOMEM;
	members_sort(s, b, members, start);
	s->n_families++;
	for (uint32_t o = 0; r == 0 && o < s->n_observers; o++) {
		struct branch twig = {.members = members + start[o], .n = start[o + 1] - start[o]};
		char name[1024];

		if (!twig.n)
			continue;
		snprintf(name, sizeof(name), "%s of %s", b->name,
			s->v->components[s->g->members[twig.members[0]]]->observer);
		twig.name = name;
		r = group_emit(s, &twig, true, s->n_families);
	}
	return r;
}

/* A cut of a branch into two classes. */
struct class_cut {
	struct stats_cut cut; /* in logarithms */
	const struct work_feature *f;
	double idle;
};

/* The class of a level by the cut: true is the higher one. */
static bool is_high(double level, double idle, double at)
{
	return log(fmax(level, 0) + idle) >= at;
}

/* A class results from how the system is built, so both halves of the time must show it. (A change
 * in the middle of the data, such as a lost path, is not a class.) */
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
			double all = group_work_usual(&s->w, c->f, b->members[i]);
			double part = group_work_level(&s->w, c->f, b->members[i], from, to);

			if (isnan(part))
				continue;
			part = log(fmax(part, 0) + c->idle);
			if (is_high(all, c->idle, c->cut.at))
				s->scratch[high++] = part;
			else
				s->scratch[low++] = part;
		}
		at[h] = (median_of(s->scratch, low) +
				median_of(s->scratch + s->g->n_members, high - s->g->n_members)) /
			2;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		double one = group_work_level(&s->w, c->f, b->members[i], 0, half);
		double two = group_work_level(&s->w, c->f, b->members[i], half, s->w.n_blocks);

		if (isnan(one) || isnan(two))
			continue;
		n++;
		agree += is_high(one, c->idle, at[0]) == is_high(two, c->idle, at[1]);
	}
	return agree >= CLASS_STEADY_SHARE * n;
}

/* Are most members of the smaller class on observers that have hardly any members of the other?
 * This means nothing if observers have one component each. */
static bool cut_is_whole(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	bool small = c->cut.n_high < c->cut.n_low;
	double *all = s->scratch, *in = s->scratch + s->n_observers, whole = 0, total = 0;
	uint32_t present = 0;

	memset(all, 0, 2 * (size_t)s->n_observers * sizeof(*all));
	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t o = s->observer[b->members[i]];
		double level = group_work_usual(&s->w, c->f, b->members[i]);

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

/* Is the lower class idle? */
static bool cut_has_idle(const struct class_cut *c)
{
	return exp(c->cut.low) <= 2 * c->idle;
}

/* A class that may be the fault itself must be large. */
static bool cut_is_trouble(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	size_t n = c->cut.n_low + c->cut.n_high;
	size_t least = c->cut.n_low < c->cut.n_high ? c->cut.n_low : c->cut.n_high;
	if (cut_has_idle(c) && (double)c->cut.n_low < SUSPECT_SHARE_MIN * (double)n)
		return true;
	return (double)least < SUSPECT_SHARE_MIN * (double)n && cut_is_whole(s, b, c);
}

/* The clearest cut of one feature. */
static bool feature_cut(struct splitter *s, const struct branch *b, const struct work_feature *f,
	struct class_cut *ret)
{
	struct class_cut c = {.f = f, .idle = branch_idle_limit(s, b, f)};
	size_t n = 0, least;

	if (!(c.idle > 0))
		return false;
	for (uint32_t i = 0; i < b->n; i++) {
		double level = group_work_usual(&s->w, f, b->members[i]);

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

		if (!s->w.features[f].waits && feature_cut(s, b, &s->w.features[f], &c) &&
			(!any || c.cut.score > ret->cut.score)) {
			*ret = c;
			any = true;
		}
	}
	return any;
}

/* Describe the amount of work of a class. */
static void class_amount(const struct class_cut *c, bool high, char *buf, size_t size)
{
	double amount = exp(high ? c->cut.high : c->cut.low) - c->idle;

	if (amount <= c->idle)
		snprintf(buf, size, "nothing");
	else
		work_amount_format(amount, c->f->unit, buf, size);
}

static int classes_tell(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	char high[64], low[64];

	class_amount(c, true, high, sizeof(high));
	class_amount(c, false, low, sizeof(low));
	return lp_verdict_note(s->v,
		"The %u components of '%s' are two classes that are compared separately: in %s %zu "
		"of "
		"them do about %s, %zu about %s. " LOOK ".",
		b->n, b->name, c->f->metric, c->cut.n_high, high, c->cut.n_low, low);
}

static int branch_split(struct splitter *s, const struct branch *b);

/* One class of the cut becomes a branch. Members without data are put into the larger one. */
static int class_split(
	struct splitter *s, const struct branch *b, const struct class_cut *c, bool high)
{
	_cleanup_free_ uint32_t *members = calloc((size_t)b->n + 1, sizeof(*members));
	struct branch twig = {.members = members, .depth = b->depth + 1};
	char amount[64], name[1024], path[256];

	if (!members)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		double level = group_work_usual(&s->w, c->f, b->members[i]);
		bool is = isnan(level) ? c->cut.n_high >= c->cut.n_low
				       : is_high(level, c->idle, c->cut.at);

		if (is == high)
			members[twig.n++] = b->members[i];
	}
	class_amount(c, high, amount, sizeof(amount));
	snprintf(name, sizeof(name), "%s%s %s class %d (about %s)", b->name, b->depth ? "," : "",
		c->f->metric, high ? 1 : 2, amount);
	snprintf(path, sizeof(path), "%s, %s class %d", b->path, c->f->metric, high ? 1 : 2);
	twig.name = name;
	twig.path = path;
	twig.idle = !high && cut_has_idle(c);
	return branch_split(s, &twig);
}

static int branch_classes(struct splitter *s, const struct branch *b, const struct class_cut *c)
{
	int r = classes_tell(s, b, c);

	if (r == 0)
		r = class_split(s, b, c, true);
	return r < 0 ? r : class_split(s, b, c, false);
}

/* Classes with members on all observers (spares, attachments that are used first) come before
 * observers. Classes of whole observers are a consequence of differences between observers.
 */
static int branch_split(struct splitter *s, const struct branch *b)
{
	_cleanup_(observers_look_release) struct observers_look look = {0};
	struct class_cut c;
	bool cut = !b->idle && b->depth < DEPTH_MAX && classes_differ(s, b, &c);
	int r;

	if (b->idle)
		return group_emit(s, b, true, 0);
	if (cut && s->parts && !cut_is_whole(s, b, &c))
		return branch_classes(s, b, &c);
	r = observers_judge(s, b, &look);
	if (r < 0)
		return r;
	if (look.split)
		return split_by_observer(s, b, &look);
	return cut ? branch_classes(s, b, &c) : group_emit(s, b, b->depth > 0, 0);
}

static int group_split(struct splitter *s, const struct lp_peer_group *g)
{
	_cleanup_free_ uint32_t *members = calloc((size_t)g->n_members + 1, sizeof(*members));
	int r = splitter_begin(s, g);

	if (r < 0 || !members)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->n_members; i++)
		members[i] = i;
	return branch_split(s,
		&(struct branch){
			.name = g->name, .path = g->name, .members = members, .n = g->n_members});
}

void discover_memory_release(struct discover_memory *m)
{
	strmap_release(&m->split);
}

int discover_groups(struct lp_verdict *v, struct discover_memory *memory, struct lp_err *err)
{
	_cleanup_(splitter_release) struct splitter s = {.v = v, .memory = memory};
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
