#include "detect/group/discover_work.h"

#include "base/median.h"
#include "model/topology.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A block is worth looking at from so many samples on. */
#define BLOCK_SLOTS_MIN 4

/* Metrics of work that are looked at apart. */
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

/* The tables of work in one unit; how many. */
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

/* The mean of the values from `from` to `end - 1`; of a latency, of the times with requests. */
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

static int feature_add(const struct lp_verdict *v, const struct lp_peer_group *g, uint32_t table,
	const char *kind, bool waits, struct group_work *w)
{
	const struct lp_table *t = v->tables[table];
	const struct lp_metric *m = lp_metric_find(kind, t->metric);
	struct work_feature *f = &w->features[w->n_features];

	*f = (struct work_feature){.metric = t->metric,
		.unit = t->unit,
		.floor = m ? m->floor : 0,
		.part = !waits,
		.waits = waits,
		.blocks = calloc((size_t)w->n_members * w->n_blocks + 1, sizeof(*f->blocks))};
	if (!f->blocks)
		return -ENOMEM;
	w->n_features++;
	for (uint32_t i = 0; i < w->n_members; i++) {
		uint32_t row = v->row_of[table][g->members[i]];

		for (uint32_t b = 0; b < w->n_blocks; b++) {
			uint32_t from = b * w->block_slots, end = from + w->block_slots;

			f->blocks[(size_t)i * w->n_blocks + b] = row == UINT32_MAX
				? NAN
				: block_mean(t->values + (size_t)row * t->n_slots, from,
					  end < t->n_slots ? end : t->n_slots, waits);
		}
	}
	return 0;
}

/* Feature 0 becomes the sum of all metrics. With one metric it is that. */
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

/* How the time is cut into blocks. */
static void blocks_set(struct group_work *w, uint32_t n_slots)
{
	w->block_slots = BLOCK_SLOTS_MIN;
	while (n_slots / w->block_slots > WORK_BLOCKS_MAX)
		w->block_slots *= 2;
	w->n_blocks = n_slots / w->block_slots;
	w->n_blocks = w->n_blocks ? w->n_blocks : 1;
}

/* Latencies that are compared, but not the peaks of others. */
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
	return block_mean(f->blocks + (size_t)member * w->n_blocks, from, to, false);
}

double group_work_usual(const struct group_work *w, const struct work_feature *f, uint32_t member)
{
	const double *blocks = f->blocks + (size_t)member * w->n_blocks;
	double known[WORK_BLOCKS_MAX];
	uint32_t n = 0;

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
