#include "model/table_offsets.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/time.h"
#include "model/table_view.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OBSERVERS_LEAST 4
/* Only the end of long data is looked at, and so many values of all observers at most. */
#define SLOTS_MAX INT64_C(2880)
#define VALUES_MAX INT64_C(4000000)
/* Two loads are compared in so many slots at least. */
#define PAIRS_LEAST 40
/* Clocks that are further off are no matter of comparing loads. */
#define OFFSET_MAX_US (600 * US_PER_SEC)
/* Correlations: of loads that are the same, of such that are not, and of peaks that are alike. */
#define SAME 0.8
#define DIFFERENT 0.5
#define ALIKE 0.05

/* The load of each observer: the logarithm of one metric of work, over all its components. */
struct loads {
	struct strmap index;
	const char **observers;
	uint32_t n;
	size_t cap;
	int64_t first;
	uint32_t n_slots;
	double *values; /* [observer * n_slots + slot] */
	double *usual;	/* [slot] the median of all */
};

static void loads_release(struct loads *l)
{
	strmap_release(&l->index);
	free(l->observers);
	free(l->values);
	free(l->usual);
}

static int loads_number(struct loads *l, const struct column_set *set)
{
	for (size_t i = 0; i < set->n_rows; i++) {
		const char *observer = set->rows[i].component->observer;
		uint32_t at;

		if (strmap_get(&l->index, observer, &at))
			continue;
		if (array_reserve(&l->observers, &l->cap, (size_t)l->n + 1, sizeof(*l->observers)) <
				0 ||
			strmap_put(&l->index, observer, l->n) < 0)
			return -ENOMEM;
		l->observers[l->n++] = observer;
	}
	return 0;
}

/* Add the rows of the set to those of their observers. */
static int loads_add(struct loads *l, const struct column_set *set)
{
	_cleanup_free_ double *row = calloc((size_t)l->n_slots + 1, sizeof(*row));

	for (size_t i = 0; row && i < set->n_rows; i++) {
		double *own;
		uint32_t at;

		if (!strmap_get(&l->index, set->rows[i].component->observer, &at))
			continue;
		pages_copy(&set->rows[i].pages, l->first, l->n_slots, row);
		own = l->values + (size_t)at * l->n_slots;
		for (uint32_t s = 0; s < l->n_slots; s++) {
			if (!isnan(row[s]))
				own[s] = (isnan(own[s]) ? 0 : own[s]) + fmax(row[s], 0);
		}
	}
	return row ? 0 : -ENOMEM;
}

static int loads_usual(struct loads *l)
{
	_cleanup_free_ double *column = calloc((size_t)l->n + 1, sizeof(*column));

	for (uint32_t s = 0; column && s < l->n_slots; s++) {
		uint32_t n = 0;

		for (uint32_t o = 0; o < l->n; o++) {
			double value = l->values[(size_t)o * l->n_slots + s];

			if (!isnan(value))
				column[n++] = value;
		}
		l->usual[s] = n * 2 > l->n ? median_of(column, n) : NAN;
	}
	return column ? 0 : -ENOMEM;
}

static int loads_fill(struct loads *l, const struct column_set *set)
{
	size_t n = (size_t)l->n * l->n_slots;

	l->values = calloc(n + 1, sizeof(*l->values));
	l->usual = calloc((size_t)l->n_slots + 1, sizeof(*l->usual));
	if (!l->values || !l->usual)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		l->values[i] = NAN;
	if (loads_add(l, set) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		l->values[i] = log1p(l->values[i]);
	return loads_usual(l);
}

/* The loads that a set shows; n_slots 0: too little. */
static int loads_make(
	const struct lp_table_builder *b, const struct column_set *set, struct loads *ret)
{
	int64_t first, end, most;

	if (lp_metric_role(NULL, set->name) != LP_ROLE_WORK || !table_builder_span(b, &first, &end))
		return 0;
	if (loads_number(ret, set) < 0)
		return -ENOMEM;
	if (ret->n < OBSERVERS_LEAST)
		return 0;
	most = VALUES_MAX / ret->n < SLOTS_MAX ? VALUES_MAX / ret->n : SLOTS_MAX;
	ret->first = end - first > most ? end - most : first;
	if (end - ret->first < PAIRS_LEAST)
		return 0;
	ret->n_slots = (uint32_t)(end - ret->first);
	return loads_fill(ret, set);
}

/* How alike the load of an observer is to what is usual `lag` slots earlier, -1 .. 1; 0 where too
 * little is known. */
static double correlation(const struct loads *l, uint32_t observer, int64_t lag)
{
	const double *own = l->values + (size_t)observer * l->n_slots;
	double x = 0, y = 0, xx = 0, yy = 0, xy = 0, spread;
	uint32_t n = 0;

	for (int64_t s = lag < 0 ? -lag : 0; s < l->n_slots && s + lag < l->n_slots; s++) {
		double a = own[s + lag], u = l->usual[s];

		if (isnan(a) || isnan(u))
			continue;
		x += a;
		y += u;
		xx += a * a;
		yy += u * u;
		xy += a * u;
		n++;
	}
	spread = (xx - x * x / n) * (yy - y * y / n);
	return n >= PAIRS_LEAST && spread > 1e-9 ? (xy - x * y / n) / sqrt(spread) : 0;
}

static bool is_peak(const double *at, int64_t lag)
{
	return at[lag] >= at[lag - 1] && at[lag] >= at[lag + 1];
}

/* The offset at which an observer is like the others; 0: none is beyond doubt. Loads that repeat
 * themselves have several: the smallest will do. */
static int offset_search(
	const struct loads *l, uint32_t observer, int64_t middle, int64_t range, int64_t *ret)
{
	_cleanup_free_ double *all = calloc((size_t)(2 * range + 3), sizeof(*all));
	double *at = all ? all + range + 1 : NULL, best = -1;

	if (!at)
		return -ENOMEM;
	for (int64_t lag = -range - 1; lag <= range + 1; lag++) {
		at[lag] = correlation(l, observer, middle + lag);
		best = at[lag] > best ? at[lag] : best;
	}
	*ret = 0;
	for (int64_t lag = 0; best >= SAME && lag <= range; lag++) {
		for (int sign = -1; sign <= 1; sign += 2) {
			if (at[sign * lag] >= best - ALIKE && is_peak(at, sign * lag)) {
				*ret = middle + sign * lag;
				return 0;
			}
		}
	}
	return 0;
}

/* Do most observers agree about when there is work to do? */
static bool loads_agree(const struct loads *l)
{
	uint32_t n = 0;

	for (uint32_t o = 0; o < l->n; o++)
		n += correlation(l, o, 0) >= SAME;
	return n * 4 >= l->n * 3;
}

struct offsets {
	struct table_offset *items;
	size_t n, cap;
};

static int offsets_add(struct offsets *o, const char *observer, int64_t slots)
{
	for (size_t i = 0; i < o->n; i++) {
		if (!strcmp(o->items[i].observer, observer))
			return 0;
	}
	if (array_reserve(&o->items, &o->cap, o->n + 1, sizeof(*o->items)) < 0)
		return -ENOMEM;
	o->items[o->n++] = (struct table_offset){observer, slots};
	return 0;
}

static int set_offsets(
	const struct lp_table_builder *b, const struct column_set *set, struct offsets *ret)
{
	_cleanup_(loads_release) struct loads l = {0};
	int64_t range = OFFSET_MAX_US / b->opt->step_us;
	int r = loads_make(b, set, &l);

	if (r < 0 || !l.n_slots || !loads_agree(&l))
		return r;
	range = range > l.n_slots / 4 ? l.n_slots / 4 : range;
	for (uint32_t o = 0; r == 0 && range > 0 && o < l.n; o++) {
		int64_t slots;

		if (correlation(&l, o, 0) > DIFFERENT)
			continue;
		r = offset_search(&l, o, 0, range, &slots);
		if (r == 0 && slots)
			r = offsets_add(ret, l.observers[o], slots);
	}
	return r;
}

int table_offsets_find(const struct lp_table_builder *b, struct table_offset **ret, size_t *ret_n)
{
	struct offsets o = {0};
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++)
		r = set_offsets(b, &b->sets[s], &o);
	if (r < 0) {
		free(o.items);
		return r;
	}
	*ret = o.items;
	*ret_n = o.n;
	return 0;
}

int table_offset_refine(const struct lp_table_builder *b, const char *observer, int64_t about,
	int64_t range, int64_t *ret)
{
	int r = 0;

	*ret = 0;
	for (size_t s = 0; r == 0 && !*ret && s < b->n_sets; s++) {
		_cleanup_(loads_release) struct loads l = {0};
		uint32_t at;

		r = loads_make(b, &b->sets[s], &l);
		if (r == 0 && l.n_slots && strmap_get(&l.index, observer, &at))
			r = offset_search(&l, at, about, range, ret);
	}
	if (r == 0 && !*ret)
		*ret = about;
	return r;
}
