/* Are the components of one observer peers of those of the others? */
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/median.h"
#include "detect/group/discover_own.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Observers differ if their medians are farther apart than chance explains, given the spread of
 * their components. The standard error of a median of n normal values is 1.25 sigma / sqrt(n). That
 * of the MAD of m observers is about 1.2 MAD / sqrt(m), and five of these must be exceeded, because
 * the spread inside observers is not known exactly, either. Even then the difference does not
 * matter if components of one observer differ twice as much, or if it is less than 2%.
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

/* An observer is off as a whole if its median differs from that of the others by a factor of 1.2 or
 * more, the least ratio that matters. It belongs to another class if at least half of the
 * difference showed in the first eighth of the time. Otherwise it changed later, which has nothing
 * to do with how the system is built. Observers that were joined are separated only if many differ,
 * and by more. */
#define OFF_LEAST 0.182	  /* log 1.2 */
#define OFF_CLEARLY 0.405 /* log 1.5 */
#define OFF_MANY 0.3
#define EVER_PART 8
#define EVER_SHARE 0.5

/* The floor of a quantity of unknown unit, as a share of the usual value. */
#define FLOOR_SHARE 0.05

void observers_look_release(struct observers_look *l)
{
	free(l->off);
	l->off = NULL;
}

/* Count the members of the branch per observer, in s->scratch. */
static void observers_count(struct splitter *s, const struct branch *b)
{
	memset(s->scratch, 0, s->n_observers * sizeof(*s->scratch));
	for (uint32_t i = 0; i < b->n; i++)
		s->scratch[s->observer[b->members[i]]] += 1;
}

/* The number of components that an observer needs to count; 0: observers cannot be
 * distinguished. */
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

/* Values below this do not count in a feature; 0: none. */
static double feature_floor(
	struct splitter *s, const struct branch *b, const struct work_feature *f)
{
	double usual;
	size_t n;

	if (!f->waits)
		return branch_idle_limit(s, b, f);
	n = branch_levels(b, &s->w, f, 0, s->w.n_blocks, s->x);
	usual = n ? median_of(s->x, n) : 0;
	/* Drives that usually take less than the floor are not idle. */
	if (f->storage && usual < f->floor)
		return FLOOR_SHARE * usual;
	return n ? fmax(f->floor, FLOOR_SHARE * usual) : 0;
}

/* The logarithms of the values of the members of a branch in the blocks `from` .. `to - 1`, in
 * s->x. */
static void branch_logs(struct splitter *s, const struct branch *b, const struct work_feature *f,
	uint32_t from, uint32_t to, double floor)
{
	for (uint32_t i = 0; i < b->n; i++) {
		double level = group_work_level(&s->w, f, b->members[i], from, to);

		s->x[i] = isnan(level) ? NAN : log(fmax(level, 0) + floor);
	}
}

/* The spreads in the blocks `from` .. `to - 1`; false: most were idle, which proves nothing. */
static bool part_spread(struct splitter *s, const struct branch *b, const struct work_feature *f,
	uint32_t from, uint32_t to, uint32_t least, double floor, const uint32_t *of,
	struct stats_spread *ret)
{
	size_t n = branch_levels(b, &s->w, f, from, to, s->x);

	if (!n || !(median_of(s->x, n) > floor))
		return false;
	branch_logs(s, b, f, from, to, floor);
	stats_spread(s->x, of, b->n, s->n_observers, least, s->scratch, ret);
	return ret->n >= 2;
}

/* The median of the spreads in `n_parts` parts of the time. */
static bool spread_middle(struct splitter *s, const struct branch *b, const struct work_feature *f,
	uint32_t least, uint32_t n_parts, const uint32_t *of, struct stats_spread *ret)
{
	double between[WORK_BLOCKS_MAX], within[WORK_BLOCKS_MAX], floor = feature_floor(s, b, f);
	uint32_t n = 0;

	for (uint32_t i = 0; floor > 0 && i < n_parts; i++) {
		uint32_t from = s->w.n_blocks * i / n_parts, to = s->w.n_blocks * (i + 1) / n_parts;

		if (!part_spread(s, b, f, from, to, least, floor, of, ret))
			continue;
		between[n] = ret->between;
		within[n++] = ret->within;
	}
	ret->between = median_of(between, n);
	ret->within = median_of(within, n);
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

/* Are the components of one observer clearly more alike than those of different observers: over the
 * whole time, or in most parts of it, because observers may be busy at different times? */
static bool feature_speaks(struct splitter *s, const struct branch *b, const struct work_feature *f,
	uint32_t least, const uint32_t *of, struct stats_spread *ret)
{
	return (spread_middle(s, b, f, least, 1, of, ret) && spread_speaks(ret)) ||
		(spread_middle(s, b, f, least, s->w.n_blocks, of, ret) && spread_speaks(ret));
}

/* The distance of the median of each observer from the middle of all; NaN: the observer has too few
 * members, or is idle. Returns the number of known ones. */
static uint32_t observers_apart(struct splitter *s, const struct branch *b,
	const struct work_feature *f, uint32_t from, uint32_t to, uint32_t least,
	const uint32_t *of, double *ret)
{
	double floor = feature_floor(s, b, f), *known = s->scratch, middle;
	uint32_t n_known = 0;

	for (uint32_t o = 0; o < s->n_observers; o++)
		ret[o] = NAN;
	if (!(floor > 0))
		return 0;
	branch_logs(s, b, f, from, to, floor);
	stats_medians(s->x, of, b->n, s->n_observers, least, s->scratch, ret);
	for (uint32_t o = 0; o < s->n_observers; o++) {
		if (!(ret[o] > log(2 * floor)))
			ret[o] = NAN;
		else
			known[n_known++] = ret[o];
	}
	middle = median_of(known, n_known);
	for (uint32_t o = 0; o < s->n_observers; o++)
		ret[o] -= middle;
	return n_known;
}

/* Find the observers that are off as a whole in a feature. If `joined`, a class needs no past: the
 * question is whether too many are off to be culprits. */
static int feature_off(struct splitter *s, const struct branch *b, const struct work_feature *f,
	uint32_t least, const uint32_t *of, bool joined, struct observers_look *look)
{
	_cleanup_free_ double *all = calloc(2 * (size_t)s->n_observers + 1, sizeof(*all));
	double *ever, most = 0;
	uint32_t n_first = (s->w.n_blocks + EVER_PART - 1) / EVER_PART, n_known, n_off = 0;

	if (!all)
		return -ENOMEM;
	ever = all + s->n_observers;
	observers_apart(s, b, f, 0, n_first, least, of, ever);
	n_known = observers_apart(s, b, f, 0, s->w.n_blocks, least, of, all);
	look->n_known = n_known > look->n_known ? n_known : look->n_known;
	for (uint32_t o = 0; o < s->n_observers; o++) {
		double off = fabs(all[o]), before = all[o] < 0 ? -ever[o] : ever[o];

		if (!(off > (joined ? OFF_CLEARLY : OFF_LEAST)) ||
			(!joined && before < EVER_SHARE * off))
			continue;
		look->off[o] = true;
		n_off++;
		most = fmax(most, off);
	}
	if (n_off && most > look->off_most) {
		look->off_in = f;
		look->off_most = most;
	}
	return 0;
}

static int observers_look(struct splitter *s, const struct branch *b, uint32_t least, bool joined,
	struct observers_look *ret)
{
	_cleanup_free_ uint32_t *of = calloc((size_t)b->n + 1, sizeof(*of));
	int r = 0;

	ret->off = calloc((size_t)s->n_observers + 1, sizeof(*ret->off));
	if (!of || !ret->off)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++)
		of[i] = s->observer[b->members[i]];
	for (uint32_t i = 0; r == 0 && i < s->w.n_features; i++) {
		const struct work_feature *f = &s->w.features[i];

		/* Features of reads or writes alone are for classes only. Latencies decide only
		 * about parts of observers: other components are yet to be compared by latency. */
		if (f->part || (f->waits && !s->parts))
			continue;
		if (!ret->spread_speaks && feature_speaks(s, b, f, least, of, &ret->spread)) {
			ret->spread_speaks = true;
			ret->f = f;
		}
		if (s->parts)
			r = feature_off(s, b, f, least, of, joined, ret);
	}
	for (uint32_t o = 0; o < s->n_observers; o++)
		ret->n_off += ret->off[o];
	return r;
}

/* Structure first: the disks of one host are peers, unless the data shows that hosts are alike. For
 * components that are not parts of their observer it is the other way round. A decision stays until
 * it is clearly wrong. */
static bool observers_decide(const struct splitter *s, const struct observers_look *l, bool joined)
{
	if (joined)
		return l->spread_speaks || (l->n_off && l->n_off >= OFF_MANY * l->n_known);
	if (!s->parts)
		return l->spread_speaks;
	return l->spread_speaks || l->n_off || !l->n_known;
}

int observers_judge(struct splitter *s, const struct branch *b, struct observers_look *ret)
{
	uint32_t least = observers_least(s, b), before = 0;
	bool known = s->memory && strmap_get(&s->memory->split, b->path, &before);
	int r;

	*ret = (struct observers_look){0};
	if (!least)
		return 0;
	r = observers_look(s, b, least, known && !before, ret);
	if (r < 0)
		return r;
	ret->split = observers_decide(s, ret, known && !before);
	return s->memory && ret->n_known ? strmap_put(&s->memory->split, b->path, ret->split) : 0;
}
