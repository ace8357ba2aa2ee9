#include "model/table_pieces.h"

#include "model/table_view.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (UINT64_C(16) << 20)

static void tables_free(struct lp_table **tables, uint32_t n)
{
	while (n)
		lp_table_free(tables[--n]);
	free(tables);
}

/* The number of slots before a piece that its first values depend on. */
static int64_t lookback(const struct lp_table_builder *b)
{
	int64_t most = 0;

	for (size_t s = 0; s < b->n_sets; s++) {
		int64_t slots = peak_span_us(b->sets[s].name) / b->opt->step_us;

		most = slots > most ? slots : most;
	}
	return most;
}

static uint64_t rows_between(const struct lp_table_builder *b, int64_t from, int64_t end)
{
	uint64_t n = 0;

	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++)
			n += pages_any(&b->sets[s].rows[i].pages, from, end);
	}
	return n;
}

/* The number of slots of a piece that begins at `from`, at most `len`. A single page is always
 * small enough, because every component on it has a value there. */
static int64_t piece_length(
	const struct lp_table_builder *b, int64_t from, int64_t len, int64_t before)
{
	while (len > TABLE_PAGE_SLOTS &&
		rows_between(b, from - before, from + len) * (uint64_t)(len + before) >
			PIECE_BYTES / sizeof(double))
		len = len / 2 > TABLE_PAGE_SLOTS ? len / 2 : TABLE_PAGE_SLOTS;
	return len;
}

static int piece_give(const struct lp_table_builder *b, int64_t from, int64_t len, int64_t before,
	bool last, table_piece_fn fn, void *ctx, struct lp_err *err)
{
	const struct table_part part = {
		.first = from - before, .end = from + len, .seen_from = from - before};
	struct lp_table **tables;
	uint32_t n, left_out;
	int r = table_builder_view(b, &part, &tables, &n, &left_out, err);

	if (r < 0)
		return r;
	for (uint32_t i = 0; before && i < n; i++)
		table_clip(tables[i], (uint32_t)before);
	r = left_out ? table_refuse(b, from, from + len - 1, "the data", err)
		     : fn(ctx, tables, n, last, err);
	tables_free(tables, n);
	return r;
}

static int pieces_give(
	const struct lp_table_builder *b, table_piece_fn fn, void *ctx, struct lp_err *err)
{
	int64_t from, end, before = lookback(b), len, next;
	int r = 0;

	if (!table_builder_span(b, &from, &end))
		return fn(ctx, NULL, 0, true, err);
	len = end - from;
	while (r == 0 && from < end) {
		len = piece_length(b, from, len < end - from ? len : end - from, before);
		next = table_builder_next(b, from + len);
		r = piece_give(b, from, len, before, next >= end, fn, ctx, err);
		from = next;
		len *= 2; /* the next piece may be longer */
	}
	return r;
}

int table_builder_pieces(
	struct lp_table_builder *b, table_piece_fn fn, void *ctx, struct lp_err *err)
{
	struct lp_table **tables;
	struct lp_err whole = {0};
	uint32_t n;
	int r = lp_table_builder_finish(b, &tables, &n, &whole);

	if (r == -EFBIG)
		return pieces_give(b, fn, ctx, err);
	if (r < 0) {
		*err = whole;
		return r;
	}
	r = fn(ctx, tables, n, true, err);
	tables_free(tables, n);
	return r;
}
