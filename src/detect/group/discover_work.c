#include "detect/group/discover_work.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/median.h"
#include "base/slices.h"
#include "detect/compare/votes.h"
#include "model/table_view.h"
#include "model/topology.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Classes are at least this many spreads apart, with hardly anything between them. */
#define CUT_SCORE_MIN 4.0
#define CUT_VALLEY_SHARE 0.02
#define CUT_CANDIDATES 8

/* For few values the MAD is too small; the factor that makes it unbiased (Croux and Rousseeuw
 * 1992). */
static double mad_correction(size_t n)
{
	static const double few[] = {0, 0, 1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107};

	return n < ARRAY_SIZE(few) ? few[n] : (double)n / ((double)n - 0.8);
}

double stats_mad(double *x, size_t n)
{
	double median = median_of(x, n);

	for (size_t i = 0; i < n; i++)
		x[i] = fabs(x[i] - median);
	return 1.4826 * mad_correction(n) * median_of(x, n);
}

/* Sort the values by observer into `sorted`; `start` gets the first index of each. Returns the
 * number of values. */
static size_t sort_by_observer(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	double *sorted, double *start)
{
	double sum = 0;

	memset(start, 0, n_observers * sizeof(*start));
	for (size_t i = 0; i < n; i++)
		start[of[i]] += !isnan(x[i]);
	for (uint32_t o = 0; o < n_observers; o++) {
		sum += start[o];
		start[o] = sum;
	}
	for (size_t i = n; i-- > 0;) {
		if (isnan(x[i]))
			continue;
		start[of[i]] -= 1;
		sorted[(size_t)start[of[i]]] = x[i];
	}
	return (size_t)sum;
}

static void least_to_front(double *x, size_t n)
{
	size_t at = 0;
	double least;

	for (size_t i = 1; i < n; i++)
		at = x[i] < x[at] ? i : at;
	least = x[at];
	x[at] = x[0];
	x[0] = least;
}

void stats_spread(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, struct stats_spread *ret)
{
	double *start = scratch + n, *medians = start + n_observers, *mads = medians + n_observers;
	size_t end = sort_by_observer(x, of, n, n_observers, scratch, start), members = 0;
	uint32_t m = 0;

	for (uint32_t o = 0; o < n_observers; o++) {
		size_t first = (size_t)start[o];
		size_t count = (o + 1 < n_observers ? (size_t)start[o + 1] : end) - first;

		if (count < least)
			continue;
		medians[m] = median_of(scratch + first, count);
		mads[m++] = stats_mad(scratch + first, count); /* leaves absolute deviations */
		least_to_front(scratch + first, count);
		memmove(scratch + members - m + 1, scratch + first + 1,
			(count - 1) * sizeof(*scratch));
		members += count;
	}
	*ret = (struct stats_spread){.n = m, .size = m ? (double)members / m : 0};
	/* The MAD of three values is often close to 0 by chance; that of all deviations together is
	 * not. The smallest deviation of each observer is left out: it is that of the median
	 * itself. */
	ret->within = fmax(median_of(mads, m), 1.4826 * median_of(scratch, members - m));
	ret->between = stats_mad(medians, m);
}

void stats_medians(const double *x, const uint32_t *of, size_t n, uint32_t n_observers,
	uint32_t least, double *scratch, double *ret)
{
	double *start = scratch + n;
	size_t end = sort_by_observer(x, of, n, n_observers, scratch, start);

	for (uint32_t o = 0; o < n_observers; o++) {
		size_t first = (size_t)start[o];
		size_t count = (o + 1 < n_observers ? (size_t)start[o + 1] : end) - first;

		ret[o] = count && count >= least ? median_of(scratch + first, count) : NAN;
	}
}

/* Judge the cut below x[at]. */
static bool cut_judge(const double *x, size_t n, size_t at, double spread_min, double apart_min,
	double *scratch, struct stats_cut *ret)
{
	struct stats_cut cut = {.at = (x[at - 1] + x[at]) / 2,
		.low = median_of_sorted(x, at),
		.high = median_of_sorted(x + at, n - at),
		.n_low = at,
		.n_high = n - at};
	double apart = cut.high - cut.low, low, high;
	size_t valley = 0;

	memcpy(scratch, x, n * sizeof(*x));
	low = fmax(stats_mad(scratch, at), spread_min);
	high = fmax(stats_mad(scratch + at, n - at), spread_min);
	for (size_t i = 0; i < n; i++)
		valley += x[i] > cut.low + apart / 3 && x[i] < cut.high - apart / 3;
	cut.score = apart / (low + high);
	if (cut.at < cut.low + apart / 4 || cut.at > cut.high - apart / 4)
		return false; /* it goes through a class, not between two classes */
	if (apart < apart_min || cut.score < CUT_SCORE_MIN ||
		(double)valley > CUT_VALLEY_SHARE * (double)n)
		return false;
	*ret = cut;
	return true;
}

/* The width of the gap below x[at]. */
static double gap_below(const double *x, size_t at)
{
	return x[at] - x[at - 1];
}

/* The widest gaps, the widest first; returns their number. */
static size_t gaps_widest(const double *x, size_t n, size_t least, size_t gaps[CUT_CANDIDATES])
{
	size_t found = 0;

	for (size_t i = least; i + least <= n; i++) {
		double width = gap_below(x, i);
		size_t at;

		if (found == CUT_CANDIDATES && width <= gap_below(x, gaps[found - 1]))
			continue;
		at = found < CUT_CANDIDATES ? found++ : found - 1;
		for (; at > 0 && width > gap_below(x, gaps[at - 1]); at--)
			gaps[at] = gaps[at - 1];
		gaps[at] = i;
	}
	return found;
}

bool stats_cut(double *x, size_t n, size_t least, double spread_min, double apart_min,
	double *scratch, struct stats_cut *ret)
{
	size_t gaps[CUT_CANDIDATES] = {0}, found;

	if (!least || n < 2 * least)
		return false;
	median_sort(x, n);
	found = gaps_widest(x, n, least, gaps);
	for (size_t i = 0; i < found; i++) {
		if (cut_judge(x, n, gaps[i], spread_min, apart_min, scratch, ret))
			return true;
	}
	return false;
}

/* A block needs at least this many samples. */
#define BLOCK_SLOTS_MIN 4

/* Metrics of work that are examined separately. */
#define WORK_METRICS_MAX 3

void group_work_release(struct group_work *w)
{
	for (uint32_t i = 0; i < w->n_features; i++)
		free(w->features[i].blocks);
	*w = (struct group_work){0};
}

/* Do most members have a row in that table? */
static bool table_serves(const struct lp_verdict *v, uint32_t table, const struct lp_peer_group *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_members; i++)
		n += v->row_of[table][g->members[i]] != UINT32_MAX;
	return n > g->n_members / 2;
}

/* The tables of work in one unit; returns their number. */
static uint32_t tables_find(const struct lp_verdict *v, const struct lp_peer_group *g,
	const char *kind, uint32_t ret[WORK_METRICS_MAX])
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < v->n_tables && n < WORK_METRICS_MAX; t++) {
		const struct lp_metric *m = lp_metric_find(kind, v->tables[t]->metric);

		if (lp_metric_role(kind, v->tables[t]->metric) != LP_ROLE_WORK ||
			(m && lp_metric_is_weight(m)) || !table_serves(v, t, g))
			continue;
		if (n && strcmp(v->tables[ret[0]]->unit, v->tables[t]->unit) != 0)
			continue;
		ret[n++] = t;
	}
	return n;
}

/* The mean of the values from `from` to `end - 1`; for a latency, only of times with requests. */
static double block_mean(const double *row, uint32_t from, uint32_t end, bool waits)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t i = from; i < end; i++) {
		if (isnan(row[i]) || (waits && !(row[i] > 0)))
			continue;
		sum += row[i];
		n++;
	}
	return n ? sum / n : NAN;
}

/* The means of a row in all blocks. */
static void row_blocks(
	const struct group_work *w, const double *values, uint32_t n_slots, bool waits, double *ret)
{
	for (uint32_t b = 0; b < w->n_blocks; b++) {
		uint32_t from = b * w->block_slots, end = from + w->block_slots;

		ret[b] = values ? block_mean(values, from, end < n_slots ? end : n_slots, waits)
				: NAN;
	}
}

/* A feature while the means of its members are computed. */
struct feature_of_table {
	const struct lp_verdict *v;
	const struct lp_peer_group *g;
	uint32_t table;
	const struct group_work *w;
	const struct work_feature *f;
};

static void member_blocks(void *ctx, uint32_t member, double *room)
{
	const struct feature_of_table *of = ctx;
	const struct lp_table *t = of->v->tables[of->table];
	uint32_t row = of->v->row_of[of->table][of->g->members[member]];

	row_blocks(of->w, row == UINT32_MAX ? NULL : table_values_peek(t, row, room), t->n_slots,
		of->f->waits, of->f->blocks + (size_t)member * of->w->n_blocks);
}

static int feature_add(const struct lp_verdict *v, const struct lp_peer_group *g, uint32_t table,
	const char *kind, bool waits, struct group_work *w)
{
	const struct lp_table *t = v->tables[table];
	const struct lp_metric *m = lp_metric_find(kind, t->metric);
	struct work_feature *f = &w->features[w->n_features];
	struct feature_of_table of = {v, g, table, w, f};

	*f = (struct work_feature){.metric = t->metric,
		.unit = t->unit,
		.floor = m ? m->floor : 0,
		.part = !waits,
		.waits = waits,
		.storage = waits && m && !strcmp(m->resource, "storage"),
		.blocks = calloc((size_t)w->n_members * w->n_blocks + 1, sizeof(*f->blocks))};
	w->n_features += f->blocks != NULL;
	if (!f->blocks)
		return -ENOMEM;
	return members_each(w->n_members, t->n_slots, member_blocks, &of);
}

/* Feature 0 becomes the sum of all metrics. If there is one metric, it is that metric. */
static int total_make(struct group_work *w)
{
	size_t n = (size_t)w->n_members * w->n_blocks;
	struct work_feature total = {.metric = "throughput",
		.unit = w->features[0].unit,
		.blocks = calloc(n + 1, sizeof(double))};

	if (!total.blocks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		total.blocks[i] = NAN;
	for (uint32_t f = 0; f < w->n_features; f++) {
		const double *from = w->features[f].blocks;

		total.floor = fmax(total.floor, w->features[f].floor);
		for (size_t i = 0; i < n; i++) {
			if (!isnan(from[i]))
				total.blocks[i] = isnan(total.blocks[i])
					? from[i]
					: total.blocks[i] + from[i];
		}
	}
	if (w->n_features == 1) {
		free(w->features[0].blocks);
		w->n_features = 0;
	}
	memmove(w->features + 1, w->features, w->n_features * sizeof(*w->features));
	w->features[0] = total;
	w->n_features++;
	return 0;
}

/* Divide the time into blocks. */
static void blocks_set(struct group_work *w, uint32_t n_slots)
{
	w->block_slots = BLOCK_SLOTS_MIN;
	while (n_slots / w->block_slots > WORK_BLOCKS_MAX)
		w->block_slots *= 2;
	w->n_blocks = n_slots / w->block_slots;
	w->n_blocks = w->n_blocks ? w->n_blocks : 1;
}

/* Add the latencies that are compared, without peaks. */
static int waits_add(const struct lp_verdict *v, const struct lp_peer_group *g, const char *kind,
	struct group_work *w)
{
	int r = 0;

	for (uint32_t t = 0; r == 0 && t < v->n_tables && w->n_features < WORK_FEATURES_MAX; t++) {
		const struct lp_metric *m = lp_metric_find(kind, v->tables[t]->metric);

		if (lp_metric_role(kind, v->tables[t]->metric) == LP_ROLE_LATENCY &&
			!(m && m->peak_s) && table_serves(v, t, g))
			r = feature_add(v, g, t, kind, true, w);
	}
	return r;
}

int group_work_make(
	const struct lp_verdict *v, const struct lp_peer_group *g, struct group_work *ret)
{
	struct group_work w = {.n_members = g->n_members};
	uint32_t tables[WORK_METRICS_MAX], n;
	const char *kind = v->components[g->members[0]]->kind;
	int r = 0;

	n = tables_find(v, g, kind, tables);
	if (v->n_tables)
		blocks_set(&w, v->tables[0]->n_slots);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = feature_add(v, g, tables[i], kind, false, &w);
	if (r == 0 && n)
		r = total_make(&w);
	if (r == 0)
		r = waits_add(v, g, kind, &w);
	if (r < 0) {
		group_work_release(&w);
		return r;
	}
	*ret = w;
	return 0;
}

double group_work_level(const struct group_work *w, const struct work_feature *f, uint32_t member,
	uint32_t from, uint32_t to)
{
	slices_rest_at(member);
	return block_mean(f->blocks + (size_t)member * w->n_blocks, from, to, false);
}

double group_work_usual(const struct group_work *w, const struct work_feature *f, uint32_t member)
{
	const double *blocks = f->blocks + (size_t)member * w->n_blocks;
	double known[WORK_BLOCKS_MAX];
	uint32_t n = 0;

	slices_rest_at(member);
	for (uint32_t b = 0; b < w->n_blocks; b++) {
		known[n] = blocks[b];
		n += !isnan(blocks[b]);
	}
	return median_of(known, n);
}

void work_amount_format(double amount, const char *unit, char *buf, size_t size)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T"};
	size_t p = 0;

	if (!strcmp(unit, "sectors/s"))
		amount *= 512;
	if (!strcmp(unit, "sectors/s") || !strcmp(unit, "bytes/s"))
		unit = "B/s";
	for (; fabs(amount) >= 999.5 && p + 1 < sizeof(prefixes) / sizeof(prefixes[0]); p++)
		amount /= 1000;
	snprintf(buf, size, "%.3g%s%s%s", amount, *unit || p ? " " : "", prefixes[p], unit);
}
