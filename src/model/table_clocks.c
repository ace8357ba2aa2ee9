#include "model/table_clocks.h"

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

/* The rest of the data must be at least this many times as large as an outlier. */
#define REST_FACTOR 10
/* A window has this many samples. A component with fewer cannot be compared. */
#define SAMPLES_LEAST 12
/* An observer is a stranger if its data is this far away from that of all others. There must be at
 * least this many others. */
#define STRANGE_GAP_US (INT64_C(3600) * US_PER_SEC)
#define STRANGE_GAP_SLOTS 4
#define STRANGE_OTHERS 3

/* A part of a row, without a long gap. */
struct part {
	int64_t first, end;
	uint64_t n_values;
	const char *observer;
};

struct parts {
	struct part *items;
	size_t n, cap;
};

/* Parts that overlap, or are less than a long gap apart. */
struct cluster {
	struct table_outlier about;
	uint64_t most; /* the largest number of values in a row */
	struct strmap observers;
};

struct clusters {
	struct cluster *items;
	size_t n, cap;
};

static void parts_release(struct parts *p)
{
	free(p->items);
}

static void clusters_release(struct clusters *c)
{
	for (size_t i = 0; i < c->n; i++)
		strmap_release(&c->items[i].observers);
	free(c->items);
}

static int64_t gap_slots(const struct lp_table_builder *b)
{
	int64_t n = US_PER_DAY / b->opt->step_us;

	return n > TABLE_PAGE_SLOTS ? n : TABLE_PAGE_SLOTS;
}

static int64_t strange_gap_slots(const struct lp_table_builder *b)
{
	int64_t n = STRANGE_GAP_US / b->opt->step_us;

	return n > STRANGE_GAP_SLOTS ? n : STRANGE_GAP_SLOTS;
}

/* From the first slot of a page that has a value to the one after the last. */
static struct part page_part(const struct table_row *row, const struct table_page *page)
{
	int64_t first = pages_next(&row->pages, page->number * TABLE_PAGE_SLOTS);
	int64_t end = (page->number + 1) * TABLE_PAGE_SLOTS;

	if (first >= end)
		first = end - 1;
	while (end > first + 1 && !pages_any(&row->pages, end - 1, end))
		end--;
	return (struct part){first, end, page->n_set, row->component->observer};
}

static int row_parts(const struct table_row *row, int64_t gap, struct parts *ret)
{
	const struct table_page *page = row->pages.items;

	for (size_t i = 0; i < row->pages.n; i++, page++) {
		struct part part = page_part(row, page);
		struct part *last = i ? &ret->items[ret->n - 1] : NULL;

		if (last && part.first - last->end <= gap) {
			last->end = part.end;
			last->n_values += part.n_values;
			continue;
		}
		if (array_reserve(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)) < 0)
			return -ENOMEM;
		ret->items[ret->n++] = part;
	}
	return 0;
}

static int part_compare(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int parts_make(const struct lp_table_builder *b, int64_t gap, struct parts *ret)
{
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++)
			r = row_parts(&b->sets[s].rows[i], gap, ret);
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), part_compare);
	return r;
}

static int cluster_add(struct cluster *c, const struct part *p)
{
	uint32_t ignored;

	c->about.end = p->end > c->about.end ? p->end : c->about.end;
	c->about.n_values += p->n_values;
	c->most = p->n_values > c->most ? p->n_values : c->most;
	if (strmap_get(&c->observers, p->observer, &ignored))
		return 0;
	c->about.n_observers++;
	return strmap_put(&c->observers, p->observer, 0);
}

static int clusters_make(const struct parts *p, int64_t gap, struct clusters *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		const struct part *part = &p->items[i];

		if (!ret->n || part->first - ret->items[ret->n - 1].about.end > gap) {
			if (array_reserve(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)) <
				0)
				return -ENOMEM;
			ret->items[ret->n++] =
				(struct cluster){.about = {.first = part->first,
							 .end = part->end,
							 .observer = part->observer}};
		}
		r = cluster_add(&ret->items[ret->n - 1], part);
	}
	return r;
}

static bool is_outlier(const struct cluster *c, const struct cluster *most)
{
	return c->about.n_values * REST_FACTOR < most->about.n_values &&
		(c->about.n_observers * 2 <= most->about.n_observers || c->most < SAMPLES_LEAST);
}

/* Does a cluster have more observers or, if `by_values`, more values than another one? */
static bool says_more(const struct cluster *c, const struct cluster *than, bool by_values)
{
	if (!by_values && c->about.n_observers != than->about.n_observers)
		return c->about.n_observers > than->about.n_observers;
	return c->about.n_values > than->about.n_values;
}

static size_t cluster_main(const struct clusters *c, bool by_values)
{
	size_t most = 0;

	for (size_t i = 1; i < c->n; i++) {
		if (says_more(&c->items[i], &c->items[most], by_values))
			most = i;
	}
	return most;
}

/* Does any other cluster contain an observer of this one? */
static bool is_shared(const struct clusters *c, size_t own, const struct parts *parts)
{
	const struct table_outlier *o = &c->items[own].about;

	for (size_t i = 0; i < parts->n; i++) {
		const struct part *p = &parts->items[i];
		uint32_t ignored;

		if ((p->first < o->first || p->first >= o->end) &&
			strmap_get(&c->items[own].observers, p->observer, &ignored))
			return true;
	}
	return false;
}

/* Does the cluster consist of a few observers that were never recorded at the same time as most
 * others? */
static bool is_strange(const struct clusters *c, size_t i, size_t most, const struct parts *parts)
{
	uint32_t n = c->items[most].about.n_observers;

	return i != most && n >= STRANGE_OTHERS && c->items[i].about.n_observers * 2 <= n &&
		!is_shared(c, i, parts);
}

static bool is_known(const struct table_outlier *found, size_t n, const struct table_outlier *o)
{
	for (size_t i = 0; i < n; i++) {
		if (found[i].first < o->end && o->first < found[i].end)
			return true;
	}
	return false;
}

/* Add the outliers of one sort to those found so far. */
static int outliers_add(
	const struct lp_table_builder *b, bool whole, struct table_outlier **found, size_t *n)
{
	_cleanup_(parts_release) struct parts parts = {0};
	_cleanup_(clusters_release) struct clusters c = {0};
	int64_t gap = whole ? strange_gap_slots(b) : gap_slots(b);
	struct table_outlier *more;
	size_t most;

	if (parts_make(b, gap, &parts) < 0 || clusters_make(&parts, gap, &c) < 0)
		return -ENOMEM;
	more = reallocarray(*found, *n + c.n + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	*found = more;
	most = cluster_main(&c, !whole);
	for (size_t i = 0; i < c.n; i++) {
		struct table_outlier o = c.items[i].about;

		o.whole = whole;
		if ((whole ? is_strange(&c, i, most, &parts)
			   : is_outlier(&c.items[i], &c.items[most])) &&
			!is_known(more, *n, &o))
			more[(*n)++] = o;
	}
	return 0;
}

int table_outliers_find(const struct lp_table_builder *b, struct table_outlier **ret, size_t *ret_n)
{
	struct table_outlier *found = NULL;
	size_t n = 0;

	if (outliers_add(b, true, &found, &n) < 0 || outliers_add(b, false, &found, &n) < 0) {
		free(found);
		return -ENOMEM;
	}
	*ret = found;
	*ret_n = n;
	return 0;
}

#define OBSERVERS_LEAST 3
/* Only the end of long data is examined, and at most this many values of all observers. */
#define SLOTS_MAX INT64_C(2880)
#define VALUES_MAX INT64_C(4000000)
/* The minimum number of slots for comparing two loads. */
#define PAIRS_LEAST 40
/* The maximum offset that a comparison of loads can find. It may be up to a quarter of the data, or
 * half of it if there is enough data. */
#define OFFSET_MAX_US (3600 * US_PER_SEC)
#define SLOTS_MANY 240
/* Correlations: of equal loads, of equal loads with a large offset (where chance has more
 * possibilities), of different loads, and of similar peaks. */
#define SAME 0.8
#define SAME_FAR 0.9
#define FAR_US (600 * US_PER_SEC)
#define DIFFERENT 0.5
#define ALIKE 0.05

/* The load of each observer: the logarithm of one metric of work, summed over all its
 * components. */
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

/* Add the rows of a set to those of their observers. */
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

/* Compute the loads from a set; n_slots 0: too little data. */
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

/* The correlation of an observer's load with the usual load `lag` slots earlier, -1 .. 1; 0 if too
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

/* The number of slots in which an observer has data and the others have data `lag` slots
 * earlier. */
static uint32_t pairs_count(const struct loads *l, uint32_t observer, int64_t lag)
{
	const double *own = l->values + (size_t)observer * l->n_slots;
	uint32_t n = 0;

	for (int64_t s = lag < 0 ? -lag : 0; s < l->n_slots && s + lag < l->n_slots; s++)
		n += !isnan(own[s + lag]) && !isnan(l->usual[s]);
	return n;
}

/* The offset at which the load of an observer is like that of the others; 0: no offset is beyond
 * doubt. A load that repeats itself has several such offsets: the smallest one counts. If the clock
 * may be ahead or behind by the same offset, the direction in which more of the recordings overlap
 * counts. */
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
		bool behind = at[-lag] >= best - ALIKE && is_peak(at, -lag);
		bool ahead = at[lag] >= best - ALIKE && is_peak(at, lag);

		if (behind && ahead)
			behind = pairs_count(l, observer, middle - lag) >=
				pairs_count(l, observer, middle + lag);
		if (!behind && !ahead)
			continue;
		*ret = middle + (behind ? -lag : lag);
		return 0;
	}
	return 0;
}

/* Do most observers have work at the same times? Of three, two must agree. */
static bool loads_agree(const struct loads *l)
{
	uint32_t n = 0;

	for (uint32_t o = 0; o < l->n; o++)
		n += correlation(l, o, 0) >= SAME;
	return n * 4 >= l->n * 3 || (l->n == 3 && n == 2);
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

/* `soon`: use little data, too, and leave out offsets of fewer slots than this; 0: find only
 * offsets that are certain. */
static int set_offsets(const struct lp_table_builder *b, const struct column_set *set, int64_t soon,
	struct offsets *ret)
{
	_cleanup_(loads_release) struct loads l = {0};
	int64_t range = OFFSET_MAX_US / b->opt->step_us, far = FAR_US / b->opt->step_us, most;
	int r = loads_make(b, set, &l);

	if (r < 0 || !l.n_slots || !loads_agree(&l))
		return r;
	most = soon || l.n_slots >= SLOTS_MANY ? l.n_slots / 2 : l.n_slots / 4;
	far = soon ? soon - 1 : far;
	range = range > most ? most : range;
	for (uint32_t o = 0; r == 0 && range > 0 && o < l.n; o++) {
		int64_t slots = 0;

		if (correlation(&l, o, 0) > DIFFERENT)
			continue;
		r = offset_search(&l, o, 0, range, &slots);
		if (llabs(slots) > far && correlation(&l, o, slots) < SAME_FAR)
			continue;
		if (r == 0 && slots && llabs(slots) >= soon)
			r = offsets_add(ret, l.observers[o], slots);
	}
	return r;
}

static int offsets_find(
	const struct lp_table_builder *b, int64_t soon, struct table_offset **ret, size_t *ret_n)
{
	struct offsets o = {0};
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++)
		r = set_offsets(b, &b->sets[s], soon, &o);
	if (r < 0) {
		free(o.items);
		return r;
	}
	*ret = o.items;
	*ret_n = o.n;
	return 0;
}

int table_offsets_find(const struct lp_table_builder *b, struct table_offset **ret, size_t *ret_n)
{
	return offsets_find(b, 0, ret, ret_n);
}

int table_offsets_find_soon(
	const struct lp_table_builder *b, int64_t least, struct table_offset **ret, size_t *ret_n)
{
	return offsets_find(b, least > 0 ? least : 1, ret, ret_n);
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
