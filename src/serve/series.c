#include "serve/series.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/median.h"
#include "base/time.h"
#include "report/json.h"
#include "report/number.h"
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A component, its peers, and the servers that have their files. */
struct wanted {
	struct strmap components, observers;
	const char *group;
	uint32_t n_peers;
};

static void wanted_release(struct wanted *w)
{
	strmap_release(&w->components);
	strmap_release(&w->observers);
}

static int wanted_add(struct wanted *w, const struct lp_identity *id, uint32_t place)
{
	return strmap_put(&w->components, id->text, place) < 0 ||
			strmap_put(&w->observers, id->observer, 0) < 0
		? -ENOMEM
		: 0;
}

/* The component comes first (index 0), then some of its peers. */
static int wanted_make(const struct series_ask *ask, struct wanted *w, struct lp_err *err)
{
	const struct snapshot *s = ask->now;
	uint32_t at, n = 0, k = 0;
	int r;

	if (!strmap_get(&s->component_index, ask->component, &at))
		return lp_err_set(err, -ENOENT, "there is no component '%.200s'", ask->component);
	r = wanted_add(w, s->components[at].id, 0);
	w->group =
		s->components[at].group < s->n_groups ? s->groups[s->components[at].group] : NULL;
	for (uint32_t i = 0; w->group && i < s->n_components; i++)
		n += i != at && s->components[i].group == s->components[at].group;
	w->n_peers = n;
	for (uint32_t i = 0; r == 0 && w->group && i < s->n_components; i++) {
		if (i == at || s->components[i].group != s->components[at].group)
			continue;
		/* An even selection of the peers. */
		if (n <= SERIES_PEERS_MAX ||
			(uint64_t)k * SERIES_PEERS_MAX / n !=
				(uint64_t)(k + 1) * SERIES_PEERS_MAX / n)
			r = wanted_add(w, s->components[i].id, 1 + k);
		k++;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot read the series") : 0;
}

static bool is_wanted(void *ctx, const struct lp_identity *component)
{
	const struct wanted *w = ctx;
	uint32_t ignored;

	return strmap_get(&w->components, component->text, &ignored);
}

/* "oss5-20261115T123412Z.lpa" belongs to oss5, and was written until its modification time. */
static bool file_wanted(const struct wanted *w, const struct series_ask *ask, const char *path)
{
	_cleanup_free_ char *name = strdup(path_basename(path));
	char *dash = name ? strrchr(name, '-') : NULL;
	struct stat st;
	uint32_t ignored;

	if (!dash)
		return true;
	*dash = '\0';
	if (!strmap_get(&w->observers, name, &ignored))
		return false;
	return stat(path, &st) < 0 || st.st_mtim.tv_sec * US_PER_SEC + US_PER_SEC >= ask->since_us;
}

DEFINE_CLEANUP(struct lp_dataset *, lp_dataset_close);

/* Open only the files of these servers in this time range. */
static int files_open(const struct series_ask *ask, const struct wanted *w, struct lp_dataset **ret,
	struct lp_err *err)
{
	_cleanup_(lp_dataset_closep) struct lp_dataset *all = NULL;
	_cleanup_free_ const char **paths = NULL;
	size_t n = 0;
	int r = lp_dataset_open(&ask->dir, 1, NULL, NULL, NULL, &all, err);

	if (r < 0)
		return r;
	paths = calloc(lp_dataset_n_files(all) + 1, sizeof(*paths));
	if (!paths)
		return lp_err_sys(err, -ENOMEM, "cannot read the series");
	for (size_t i = 0; i < lp_dataset_n_files(all); i++) {
		if (file_wanted(w, ask, lp_dataset_path(all, i)))
			paths[n++] = lp_dataset_path(all, i);
	}
	if (!n)
		return lp_err_set(
			err, -ENOENT, "there is no data of %.200s at that time", ask->component);
	return lp_dataset_open(paths, n, NULL, NULL, NULL, ret, err);
}

/* As fine as the data, or coarse enough for the requested number of points. */
static int64_t step_of(const struct series_ask *ask, int64_t interval_us)
{
	int64_t span = ask->until_us - ask->since_us, points = ask->points ? ask->points : 1;
	int64_t step = (span + points - 1) / points;

	if (step <= interval_us || interval_us <= 0)
		return interval_us;
	return (step + interval_us - 1) / interval_us * interval_us;
}

struct tables {
	struct lp_table **items;
	uint32_t n;
};

static void tables_release(struct tables *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		lp_table_free(t->items[i]);
	free(t->items);
}

/* Lines of one table, for a plot. */
struct lines {
	uint32_t n;
	double *own, *median, *low, *high;
	double *sorted;
};

static void lines_release(struct lines *l)
{
	free(l->own);
	free(l->median);
	free(l->low);
	free(l->high);
	free(l->sorted);
}

static void slot_fill(struct lines *l, const struct lp_table *t, uint32_t own, uint32_t slot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_components; i++) {
		double value = t->values[(size_t)i * t->n_slots + slot];

		if (i == own)
			l->own[slot] = value;
		else if (isfinite(value))
			l->sorted[n++] = value;
	}
	median_sort(l->sorted, n);
	l->median[slot] = median_of_sorted(l->sorted, n);
	l->low[slot] = quantile_of_sorted(l->sorted, n, 0.1);
	l->high[slot] = quantile_of_sorted(l->sorted, n, 0.9);
}

static int lines_make(const struct lp_table *t, uint32_t own, struct lines *l)
{
	size_t n = (size_t)t->n_slots + 1;

	l->n = t->n_slots;
	l->own = calloc(n, sizeof(double));
	l->median = calloc(n, sizeof(double));
	l->low = calloc(n, sizeof(double));
	l->high = calloc(n, sizeof(double));
	l->sorted = calloc((size_t)t->n_components + 1, sizeof(double));
	if (!l->own || !l->median || !l->low || !l->high || !l->sorted)
		return -ENOMEM;
	for (uint32_t slot = 0; slot < t->n_slots; slot++)
		slot_fill(l, t, own, slot);
	return 0;
}

static void write_numbers(FILE *out, const char *key, const double *values, uint32_t n)
{
	char text[NUMBER_TEXT_MAX];

	fprintf(out, ",\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%s%s", i ? "," : "",
			isfinite(values[i]) ? number_format((double)(float)values[i], text)
					    : "null");
	fputc(']', out);
}

static void write_times(FILE *out, const struct lp_table *t)
{
	char text[NUMBER_TEXT_MAX];

	fputs(",\"t\":[", out);
	for (uint32_t i = 0; i < t->n_slots; i++)
		fprintf(out, "%s%s", i ? "," : "",
			number_format((double)lp_table_time(t, i) / 1e6, text));
	fputc(']', out);
}

static void write_all(FILE *out, const struct series_ask *ask, const struct wanted *w,
	const struct lp_table *t, const struct lines *l)
{
	char text[NUMBER_TEXT_MAX];

	fputs("{\"component\":", out);
	json_write_string(out, ask->component);
	fputs(",\"metric\":", out);
	json_write_string(out, t->metric);
	fputs(",\"unit\":", out);
	json_write_string(out, t->unit);
	fputs(",\"group\":", out);
	if (w->group)
		json_write_string(out, w->group);
	else
		fputs("null", out);
	fprintf(out, ",\"peers\":%u,\"step_s\":%s", w->n_peers,
		number_format((double)t->step_us / 1e6, text));
	write_times(out, t);
	write_numbers(out, "value", l->own, l->n);
	write_numbers(out, "median", l->median, l->n);
	write_numbers(out, "low", l->low, l->n);
	write_numbers(out, "high", l->high, l->n);
	fputs("}\n", out);
}

#define KEPT_MAX 8

/* The data of a component and its peers. */
struct kept {
	char *component;
	int64_t since_us, until_us;
	uint32_t points;
	struct tables tables;
	uint64_t used;
};

struct series_cache {
	pthread_mutex_t mutex;
	struct kept kept[KEPT_MAX];
	uint64_t clock;
};

struct series_cache *series_cache_new(void)
{
	struct series_cache *c = calloc(1, sizeof(*c));

	if (c)
		pthread_mutex_init(&c->mutex, NULL);
	return c;
}

static void kept_release(struct kept *k)
{
	free(k->component);
	tables_release(&k->tables);
	*k = (struct kept){0};
}

void series_cache_free(struct series_cache *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < KEPT_MAX; i++)
		kept_release(&c->kept[i]);
	pthread_mutex_destroy(&c->mutex);
	free(c);
}

/* The requested entry, or the least recently used one, which is replaced. */
static struct kept *kept_find(struct series_cache *c, const struct series_ask *ask, bool *ret_hit)
{
	struct kept *oldest = &c->kept[0];

	for (size_t i = 0; i < KEPT_MAX; i++) {
		struct kept *k = &c->kept[i];

		*ret_hit = k->component && !strcmp(k->component, ask->component) &&
			k->since_us == ask->since_us && k->until_us == ask->until_us &&
			k->points == ask->points;
		if (*ret_hit)
			return k;
		oldest = k->used < oldest->used ? k : oldest;
	}
	return oldest;
}

/* All metrics of the component in the verdict, and the requested one. */
static uint32_t metrics_of(const struct series_ask *ask, const char **ret)
{
	const struct snapshot *s = ask->now;
	uint32_t n = 0, at = 0;

	ret[n++] = ask->metric;
	if (!strmap_get(&s->component_index, ask->component, &at))
		return n;
	for (uint32_t m = 0; m < s->n_metrics; m++) {
		if ((s->components[at].metrics >> m & 1) && strcmp(s->metrics[m], ask->metric) != 0)
			ret[n++] = s->metrics[m];
	}
	return n;
}

static int kept_read(
	struct kept *k, const struct series_ask *ask, struct wanted *w, struct lp_err *err)
{
	_cleanup_(lp_dataset_closep) struct lp_dataset *own = NULL;
	const char *metrics[SNAPSHOT_METRICS_MAX + 1];
	struct lp_table_options opt = {.metrics = metrics,
		.n_metrics = metrics_of(ask, metrics),
		.gaps = true,
		.wanted = is_wanted,
		.wanted_ctx = w,
		.from_us = ask->since_us,
		.to_us = ask->until_us};
	int64_t interval_us = 0;
	int r = ask->data ? 0 : files_open(ask, w, &own, err);

	if (r == 0)
		r = lp_dataset_interval(ask->data ? ask->data : own, &interval_us, err);
	if (r < 0)
		return r;
	opt.step_us = step_of(ask, interval_us);
	r = lp_dataset_tables(
		ask->data ? ask->data : own, &opt, &k->tables.items, &k->tables.n, err);
	if (r < 0 && r != -EBADMSG)
		return r;
	*k = (struct kept){.component = strdup(ask->component),
		.since_us = ask->since_us,
		.until_us = ask->until_us,
		.points = ask->points,
		.tables = k->tables};
	return k->component ? 0 : lp_err_sys(err, -ENOMEM, "cannot read the series");
}

static int table_write(FILE *out, const struct series_ask *ask, const struct wanted *w,
	const struct tables *tables, struct lp_err *err)
{
	_cleanup_(lines_release) struct lines lines = {0};
	const struct lp_table *t = NULL;
	uint32_t own = UINT32_MAX;

	for (uint32_t i = 0; i < tables->n; i++) {
		if (!strcmp(tables->items[i]->metric, ask->metric))
			t = tables->items[i];
	}
	for (uint32_t i = 0; t && i < t->n_components; i++) {
		if (!strcmp(t->components[i]->text, ask->component))
			own = i;
	}
	if (own == UINT32_MAX)
		return lp_err_set(err, -ENOENT, "%.200s has no values of %.64s at that time",
			ask->component, ask->metric);
	if (lines_make(t, own, &lines) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read the series");
	write_all(out, ask, w, t, &lines);
	return 0;
}

static int kept_write(FILE *out, const struct series_ask *ask, struct wanted *w, struct lp_err *err)
{
	bool hit = false;
	struct kept *k = kept_find(ask->cache, ask, &hit);
	int r = 0;

	if (!hit) {
		kept_release(k);
		r = kept_read(k, ask, w, err);
	}
	k->used = ++ask->cache->clock;
	return r < 0 ? r : table_write(out, ask, w, &k->tables, err);
}

/* The data of the engine for a pooled connection that is a suspect; NULL: none. */
static const struct snapshot_line *line_find(const struct series_ask *ask)
{
	const struct snapshot *s = ask->now;
	uint32_t at;

	if (!strmap_get(&s->component_index, ask->component, &at))
		return NULL;
	for (size_t i = 0; i < s->n_lines; i++) {
		if (s->lines[i].component == at &&
			!strcmp(s->metrics[s->lines[i].metric], ask->metric))
			return &s->lines[i];
	}
	return NULL;
}

static void line_write(FILE *out, const struct series_ask *ask, const struct wanted *w,
	const struct snapshot_line *l)
{
	uint32_t first = 0, end = l->n;
	char text[NUMBER_TEXT_MAX];

	while (first < end && l->t[first] * 1e6 < (double)ask->since_us)
		first++;
	while (end > first && l->t[end - 1] * 1e6 > (double)ask->until_us)
		end--;
	fputs("{\"component\":", out);
	json_write_string(out, ask->component);
	fputs(",\"metric\":", out);
	json_write_string(out, ask->metric);
	fputs(",\"unit\":", out);
	json_write_string(out, ask->now->units[l->metric]);
	fputs(",\"group\":", out);
	json_write_string(out, w->group ? w->group : "");
	fprintf(out, ",\"peers\":%u,\"step_s\":%s,\"t\":[", l->n_peers,
		number_format(l->step_s, text));
	for (uint32_t i = first; i < end; i++)
		fprintf(out, "%s%s", i > first ? "," : "", number_format(l->t[i], text));
	fputc(']', out);
	write_numbers(out, "value", l->own + first, end - first);
	write_numbers(out, "median", l->median + first, end - first);
	write_numbers(out, "low", l->low + first, end - first);
	write_numbers(out, "high", l->high + first, end - first);
	fputs("}\n", out);
}

int series_write(FILE *out, const struct series_ask *ask, struct lp_err *err)
{
	_cleanup_(wanted_release) struct wanted w = {0};
	const struct snapshot_line *l = line_find(ask);
	int r = wanted_make(ask, &w, err);

	if (r < 0)
		return r;
	if (l) {
		line_write(out, ask, &w, l);
		return 0;
	}
	pthread_mutex_lock(&ask->cache->mutex);
	r = kept_write(out, ask, &w, err);
	pthread_mutex_unlock(&ask->cache->mutex);
	return r;
}
