/* thin_archive [--hold] IN OUT [KIND...]: copy an archive, only the components of these kinds [all]
 * and no logs.
 *
 * Traces are mostly histograms and logs; for what bench/syscalls_accuracy.py needs, service times,
 * `thin_archive IN OUT sys peer` keeps a tenth of them. Recordings of functions are mostly counts
 * of calls in each second. With --hold counts change every ten seconds only, as samples do, which
 * is as fine as they are compared (bench/thin_behaviour). */
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/time.h"
#include <limpet/archive.h>
#include <stdio.h>
#include <string.h>

DEFINE_CLEANUP(struct lp_source *, lp_source_close);
DEFINE_CLEANUP(struct lp_archive_writer *, lp_archive_abandon);

#define HOLD_US (10 * US_PER_SEC)
#define HELD_KIND "function"

/* Is the component of one of the kinds? `ctx` is the end of the command line. */
static bool component_wanted(void *ctx, const struct lp_catalogue *c, uint32_t id)
{
	const char *kind = c->schemas[c->components[id].schema].kind;

	if (!*(char **)ctx)
		return true;
	for (char **wanted = ctx; *wanted; wanted++) {
		if (!strcmp(*wanted, kind))
			return true;
	}
	return false;
}

/* Let counters stay what they were in the first sample of each ten seconds. */
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

static int copy_batches(
	struct lp_source *from, struct lp_archive_writer *to, bool hold, struct lp_err *err)
{
	struct lp_batch *batch;
	int r = lp_source_next(from, &batch, err);

	while (r > 0) {
		if (hold)
			batch_hold(from->catalogue, batch);
		r = lp_archive_write(to, from->catalogue, batch, LP_ARCHIVE_DENSE, err);
		if (r == 0)
			r = lp_source_next(from, &batch, err);
	}
	return r;
}

static int copy(const char *in, const char *out, char **kinds, bool hold, struct lp_err *err)
{
	struct lp_select select = {.component = component_wanted, .ctx = kinds};
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
	struct lp_err err = {0};

	bool hold = argc > 1 && !strcmp(argv[1], "--hold");

	argv += hold;
	if (argc < 3 + hold) {
		fprintf(stderr, "usage: thin_archive [--hold] IN OUT [KIND...]\n");
		return 2;
	}
	if (copy(argv[1], argv[2], argv + 3, hold, &err) < 0) {
		fprintf(stderr, "thin_archive: %s\n", err.text);
		return 2;
	}
	return 0;
}
