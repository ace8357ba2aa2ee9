#include "import/csv_batch.h"

#include <errno.h>
#include <math.h>

#define SAMPLES_MAX 512
#define SAMPLES_MIN 8
#define CELLS_MAX ((size_t)4 << 20) /* in one batch: 32 MiB of values */

void csv_batcher_release(struct csv_batcher *b)
{
	lp_batch_free(b->batch);
	*b = (struct csv_batcher){0};
}

/* The most columns that any kind has. */
static size_t widest_kind(const struct csv_series *s)
{
	size_t widest = 1;

	for (size_t i = 0; i < s->kind_names.n; i++) {
		if (s->kinds[i].n_columns > widest)
			widest = s->kinds[i].n_columns;
	}
	return widest;
}

/* The number of samples of all components that fit. */
static uint32_t samples_fit(const struct csv_rows *rows, const struct csv_series *s)
{
	size_t fit = CELLS_MAX / ((s->names.n + 1) * widest_kind(s));
	size_t times = rows->n ? 1 : 0;

	for (size_t i = 1; i < rows->n && times < SAMPLES_MAX; i++)
		times += rows->wall_us[rows->order[i]] != rows->wall_us[rows->order[i - 1]];
	fit = fit > times ? times : fit;
	return (uint32_t)(fit < SAMPLES_MIN ? SAMPLES_MIN : fit);
}

int csv_batcher_begin(struct csv_batcher *b, struct csv_rows *rows, const struct csv_series *s,
	struct lp_err *err)
{
	uint32_t cap;

	if (csv_rows_sort(rows) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot sort %zu rows", rows->n);
	cap = samples_fit(rows, s);
	if (!b->batch || b->batch->cap_samples != cap) {
		lp_batch_free(b->batch);
		b->batch = lp_batch_new(cap);
		if (!b->batch)
			return lp_err_sys(err, -ENOMEM, "cannot make a batch");
	}
	b->next = 0;
	return 0;
}

/* The place of a component in this batch. 1; 0: the batch has no room for another one. */
static int batch_place(
	struct csv_batcher *b, struct csv_component *c, const struct csv_kind *k, size_t *cells)
{
	size_t more = (size_t)b->batch->cap_samples * k->n_columns;
	struct lp_batch_kind *bk;
	int r;

	if (*cells && *cells + more > CELLS_MAX)
		return 0;
	r = lp_batch_kind_get(b->batch, c->schema, k->n_columns, k->wanted, &bk);
	if (r == 0)
		r = lp_batch_add_component(b->batch, bk, c->id, &c->row);
	if (r < 0)
		return r;
	c->batch = b->n_batch;
	*cells += more;
	return 1;
}

/* Is another value of the same time lost? */
static void note_replaced(struct csv_batcher *b, int64_t before, double value, uint32_t component)
{
	double old = lp_cell_to_real(before);

	if (isnan(old) || isnan(value) || old == value)
		return;
	if (!b->n_replaced++) {
		b->replaced = component;
		b->replaced_us = b->batch->wall_us[b->batch->n_samples - 1];
	}
}

/* Write the values of a row into the current sample. */
static int batch_store(struct csv_batcher *b, const struct csv_rows *rows, size_t row,
	const struct csv_component *c)
{
	const double *values = rows->values + row * rows->width;
	struct lp_batch_kind *bk;
	size_t cell = (size_t)c->row * b->batch->cap_samples + b->batch->n_samples - 1;
	int r = lp_batch_kind_get(b->batch, c->schema, 0, NULL, &bk);

	if (r < 0)
		return r;
	if (bk->state[cell] == LP_ABSENT) {
		bk->state[cell] = LP_PRESENT;
		for (uint32_t i = 0; i < bk->n_columns; i++) {
			if (bk->columns[i])
				bk->columns[i][cell] = lp_cell_from_real((double)NAN);
		}
	}
	for (size_t i = 0; i < rows->width; i++) {
		int64_t *column = bk->columns[rows->column[row] + i];

		if (!column)
			continue;
		note_replaced(b, column[cell], values[i], c->id);
		column[cell] = lp_cell_from_real(values[i]);
	}
	return 0;
}

/* Add a row to the batch. 1; 0: the batch is full. */
static int batch_add(struct csv_batcher *b, const struct csv_rows *rows, size_t row,
	struct csv_series *s, size_t *cells, struct lp_err *err)
{
	struct csv_component *c = &s->components[rows->component[row]];
	uint32_t n = b->batch->n_samples;
	bool new_sample = !n || b->batch->wall_us[n - 1] != rows->wall_us[row];
	int r = csv_series_resolve(s, rows->component[row], err);

	if (r < 0)
		return r;
	if (!c->wanted)
		return 1;
	if (new_sample && n == b->batch->cap_samples)
		return 0;
	if (c->batch != b->n_batch) {
		r = batch_place(b, c, &s->kinds[c->kind], cells);
		if (r == 0)
			return 0;
	}
	if (r >= 0 && new_sample)
		r = lp_batch_add_sample(b->batch, rows->wall_us[row], rows->wall_us[row]);
	if (r >= 0)
		r = batch_store(b, rows, row, c);
	return r < 0 ? lp_err_sys(err, r, "cannot fill a batch") : 1;
}

int csv_batcher_next(struct csv_batcher *b, const struct csv_rows *rows, struct csv_series *s,
	struct lp_err *err)
{
	size_t cells = 0;
	int r = 1;

	lp_batch_clear(b->batch);
	b->n_batch++;
	while (b->next < rows->n) {
		r = batch_add(b, rows, rows->order[b->next], s, &cells, err);
		if (r <= 0)
			break;
		b->next++;
	}
	return r < 0 ? r : b->batch->n_samples > 0;
}
