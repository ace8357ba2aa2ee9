/* thin_archive [--hold] [--only NAMES] IN OUT [KIND...]: copy an archive, only the components of
 * these kinds [all] and no logs.
 * thin_archive --names IN: print the names of the functions that count.
 *
 * Traces are mostly histograms and logs; for what bench/syscalls_accuracy.py needs, service times,
 * `thin_archive IN OUT sys peer` keeps a tenth of them. Recordings of functions are mostly counts
 * of calls in each second. With --hold counts change every ten seconds only, as samples do, which
 * is as fine as they are compared. --only copies only the functions in the file NAMES: most of
 * them have less than a thousandth of all calls, of all time and of all samples. Servers that are
 * compared must have the same ones, so NAMES has those of all of them (bench/thin_behaviour). */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include <errno.h>
#include <limpet/archive.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct lp_source *, lp_source_close);
DEFINE_CLEANUP(struct lp_archive_writer *, lp_archive_abandon);
DEFINE_CLEANUP(struct lp_catalogue *, lp_catalogue_free);

#define HOLD_US (10 * US_PER_SEC)
#define HELD_KIND "function"
#define FEW_SHARE 1e-3
#define FEW_COLUMNS 4 /* a function has fewer */
#define FEW_SCHEMAS 8 /* of functions: samples, and calls */
#define TRACEPOINTS "kernel:tracepoints:"

/* How much the counters of each function grew. */
struct growth {
	double (*of)[FEW_COLUMNS]; /* [id] */
	uint32_t n;
	double all[FEW_SCHEMAS][FEW_COLUMNS]; /* [schema] */
};

struct wanted {
	char **kinds; /* the end of the command line */
	char **names; /* of functions, sorted; NULL: all */
	size_t n_names;
};

static bool kind_wanted(char **kinds, const char *kind)
{
	bool all = !*kinds;

	for (; *kinds; kinds++)
		all |= !strcmp(*kinds, kind);
	return all;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const struct wanted *w = ctx;
	const char *kind = c->schemas[c->components[id].schema].kind,
		   *name = c->components[id].name;

	return kind_wanted(w->kinds, kind) &&
		(!w->names || strcmp(kind, HELD_KIND) != 0 ||
			bsearch(&name, w->names, w->n_names, sizeof(*w->names), name_compare));
}

/* The lines of a file, for as long as the program runs. */
static int names_read(const char *path, struct wanted *w, struct lp_err *err)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	size_t cap = 0, size = 0;
	char *line = NULL;

	if (!f)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	while (getline(&line, &size, f) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		if (array_reserve(&w->names, &cap, w->n_names + 1, sizeof(*w->names)) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
		w->names[w->n_names++] = TAKE_PTR(line);
		size = 0;
	}
	free(line);
	if (!w->n_names)
		return lp_err_set(err, -EINVAL, "%s has no names", path);
	qsort(w->names, w->n_names, sizeof(*w->names), name_compare);
	return 0;
}

/* By how much a counter grew up to sample `s`, if it was there before. */
static double cell_growth(const uint8_t *state, const int64_t *cells, uint32_t s)
{
	if (!(state[s - 1] & LP_PRESENT) || !(state[s] & LP_PRESENT) || state[s] & LP_FRESH ||
		cells[s - 1] == LP_MISSING || cells[s] < cells[s - 1])
		return 0;
	return (double)(cells[s] - cells[s - 1]);
}

static void row_grow(struct growth *g, const struct lp_batch *b, const struct lp_batch_kind *k,
	const struct lp_schema *schema, uint32_t row)
{
	size_t at = (size_t)row * b->cap_samples;

	for (uint32_t c = 0; c < k->n_columns && c < FEW_COLUMNS; c++) {
		if (schema->columns[c].type != LP_COUNTER)
			continue;
		for (uint32_t s = 1; s < b->n_samples; s++)
			g->of[k->ids[row]][c] += cell_growth(k->state + at, k->columns[c] + at, s);
	}
}

/* Make room for the ids of a catalogue. */
static int growth_reserve(struct growth *g, uint32_t n)
{
	void *of = n > g->n ? reallocarray(g->of, n, sizeof(*g->of)) : g->of;

	if (!of && n)
		return -ENOMEM;
	g->of = of;
	for (; g->n < n; g->n++)
		memset(g->of[g->n], 0, sizeof(*g->of));
	return 0;
}

static void batch_grow(struct growth *g, const struct lp_catalogue *c, const struct lp_batch *b)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];
		const struct lp_schema *schema = &c->schemas[k->schema];

		for (uint32_t row = 0; row < k->n_components && !strcmp(schema->kind, HELD_KIND);
			row++)
			row_grow(g, b, k, schema, row);
	}
}

static void growth_sum(struct growth *g, const struct lp_catalogue *c)
{
	for (uint32_t id = 0; id < g->n; id++) {
		for (int i = 0; i < FEW_COLUMNS && c->components[id].schema < FEW_SCHEMAS; i++)
			g->all[c->components[id].schema][i] += g->of[id][i];
	}
}

/* Tracepoints are few, and the rare ones matter most. */
static bool function_counts(const struct growth *g, const struct lp_component *f, uint32_t id)
{
	bool counts =
		f->schema >= FEW_SCHEMAS || !strncmp(f->name, TRACEPOINTS, strlen(TRACEPOINTS));

	for (int i = 0; i < FEW_COLUMNS && !counts; i++)
		counts = g->of[id][i] > FEW_SHARE * g->all[f->schema][i];
	return counts;
}

static int print_names(const char *in, struct lp_err *err)
{
	_cleanup_(lp_source_closep) struct lp_source *from = NULL;
	const struct lp_catalogue *c;
	struct growth g = {0};
	struct lp_batch *batch;
	int r = lp_archive_open(in, NULL, NULL, &from, err);

	while (r >= 0 && (r = lp_source_next(from, &batch, err)) > 0) {
		r = growth_reserve(&g, from->catalogue->n_components);
		if (r == 0 && g.of)
			batch_grow(&g, from->catalogue, batch);
	}
	c = r == 0 ? from->catalogue : NULL;
	if (c)
		growth_sum(&g, c);
	for (uint32_t id = 0; c && id < g.n; id++) {
		if (!strcmp(c->schemas[c->components[id].schema].kind, HELD_KIND) &&
			function_counts(&g, &c->components[id], id))
			puts(c->components[id].name);
	}
	free(g.of);
	return r;
}

/* Keep the counters of the first sample of each ten seconds. */
static void row_hold(const struct lp_batch *b, const struct lp_batch_kind *k, uint32_t row)
{
	size_t at = (size_t)row * b->cap_samples;

	for (uint32_t s = 1; s < b->n_samples; s++) {
		uint8_t before = k->state[at + s - 1], now = k->state[at + s];

		if (!(before & LP_PRESENT) || !(now & LP_PRESENT) || now & LP_FRESH ||
			floor_div(b->wall_us[s], HOLD_US) != floor_div(b->wall_us[s - 1], HOLD_US))
			continue;
		for (uint32_t c = 0; c < k->n_columns; c++) {
			if (k->columns[c])
				k->columns[c][at + s] = k->columns[c][at + s - 1];
		}
	}
}

static void batch_hold(const struct lp_catalogue *c, const struct lp_batch *b)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		const struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0;
			row < k->n_components && !strcmp(c->schemas[k->schema].kind, HELD_KIND);
			row++)
			row_hold(b, k, row);
	}
}

struct events {
	struct lp_archive_writer *to;
	struct lp_err *err;
};

static int event_copy(void *ctx, int64_t wall_us, const char *text)
{
	const struct events *e = ctx;

	return lp_archive_write_event(e->to, wall_us, text, e->err);
}

/* The components that are copied; what is left out has no place in the copy's catalogue, which is
 * half of an archive of functions. Schemas have the same numbers as in the source's. */
static int catalogue_follow(struct lp_catalogue *to, const struct lp_catalogue *from,
	struct lp_batch_kind *k, struct lp_err *err)
{
	uint32_t schema;
	int r = 0;

	for (uint32_t s = to->n_schemas; s < from->n_schemas && r == 0; s++)
		r = lp_catalogue_add_schema(to, &from->schemas[s], &schema, err);
	for (uint32_t row = 0; row < k->n_components && r == 0; row++) {
		const struct lp_component *c = &from->components[k->ids[row]];

		r = lp_catalogue_add_component(
			to, c->schema, c->observer, c->name, c->labels, &k->ids[row], err);
	}
	return r;
}

/* The batch is the source's: its ids are given back. */
static int batch_copy(struct lp_archive_writer *to, struct lp_catalogue *names,
	const struct lp_catalogue *from, struct lp_batch *b, struct lp_err *err)
{
	_cleanup_free_ uint32_t **ids = calloc(b->n_kinds, sizeof(*ids));
	int r = ids ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < b->n_kinds && r == 0; i++) {
		struct lp_batch_kind *k = &b->kinds[i];
		size_t size = k->n_components * sizeof(*k->ids);

		ids[i] = malloc(size + 1);
		if (!ids[i])
			r = -ENOMEM;
		else
			memcpy(ids[i], k->ids, size);
		if (r == 0)
			r = catalogue_follow(names, from, k, err);
	}
	if (r == 0)
		r = lp_archive_write(to, names, b, LP_ARCHIVE_DENSE, err);
	for (uint32_t i = 0; ids && i < b->n_kinds && ids[i]; i++) {
		memcpy(b->kinds[i].ids, ids[i], b->kinds[i].n_components * sizeof(uint32_t));
		free(ids[i]);
	}
	return r;
}

static int copy_batches(
	struct lp_source *from, struct lp_archive_writer *to, bool hold, struct lp_err *err)
{
	_cleanup_(lp_catalogue_freep) struct lp_catalogue *names = lp_catalogue_new();
	struct lp_batch *batch;
	int r = names ? lp_source_next(from, &batch, err) : -ENOMEM;

	while (r > 0) {
		if (hold)
			batch_hold(from->catalogue, batch);
		r = batch_copy(to, names, from->catalogue, batch, err);
		if (r == 0)
			r = lp_source_next(from, &batch, err);
	}
	return r;
}

static int copy(
	const char *in, const char *out, struct wanted *wanted, bool hold, struct lp_err *err)
{
	struct lp_select select = {.component = component_wanted, .ctx = wanted};
	_cleanup_(lp_source_closep) struct lp_source *from = NULL;
	_cleanup_(lp_archive_abandonp) struct lp_archive_writer *to = NULL;
	_cleanup_(strbuf_release) struct strbuf extra = {0};
	struct lp_archive_meta meta = {0};
	const char *addresses;
	int r = lp_archive_open(in, &select, NULL, &from, err);

	if (r < 0)
		return r;
	addresses = lp_archive_meta_get(from, "addresses");
	if (addresses)
		strbuf_printf(&extra, "addresses=%s\n", addresses);
	meta.observer = lp_archive_meta_get(from, "observer");
	meta.observer = meta.observer ? meta.observer : "";
	meta.interval_us = from->interval_us;
	meta.extra = extra.text;
	r = lp_archive_create(out, &meta, &to, err);
	if (r == 0)
		r = copy_batches(from, to, hold, err);
	if (r == 0)
		r = lp_archive_events(from, event_copy, &(struct events){to, err}, err);
	return r < 0 ? r : lp_archive_close(TAKE_PTR(to), err);
}

int main(int argc, char **argv)
{
	struct wanted wanted = {0};
	struct lp_err err = {0};
	bool hold = false;
	int r = 0;

	if (argc == 3 && !strcmp(argv[1], "--names")) {
		r = print_names(argv[2], &err);
	} else {
		hold = argc > 1 && !strcmp(argv[1], "--hold");
		argv += hold;
		argc -= hold;
		if (argc > 2 && !strcmp(argv[1], "--only")) {
			r = names_read(argv[2], &wanted, &err);
			argv += 2;
			argc -= 2;
		}
		if (argc < 3)
			r = lp_err_set(&err, -EINVAL,
				"usage: thin_archive [--hold] [--only NAMES] IN OUT [KIND...]");
		wanted.kinds = argv + 3;
		if (r == 0)
			r = copy(argv[1], argv[2], &wanted, hold, &err);
	}
	if (r < 0)
		fprintf(stderr, "thin_archive: %s\n", err.text);
	return r < 0 ? 2 : 0;
}
