#include "archive/data.h"

#include "archive/chunks.h"
#include "archive/column.h"
#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>

/* The rows of one kind of the current frame. */
struct kind_rows {
	uint32_t schema, n_columns, n_rows;
	uint32_t *rows;
	uint8_t *carried;
	uint8_t *known; /* LAST_*: how well the previous value is known */
	uint32_t *ids;
};

/* How well the values before a frame are known. */
enum { LAST_UNKNOWN = 0, LAST_RELATIVE = 1, LAST_EXACT = 2 };

struct data_decoder {
	struct chunk_reader chunks;
	struct strbuf rows_raw, column_raw;
	struct kind_rows *kinds;
	size_t n_kinds, cap_kinds;
	/* [id][column] values of the last sample, followed by LAST_*; NULL: none */
	int64_t **last;
	size_t cap_last;
	int64_t last_wall_us, last_mono_us;
	bool last_valid; /* a loose frame may continue from `last` */
	int64_t *bases;	 /* `last` of one column, for the current rows */
	size_t cap_bases;
	unsigned long unknown_rows;
};

struct data_decoder *data_decoder_new(void)
{
	return calloc(1, sizeof(struct data_decoder));
}

static void kinds_clear(struct data_decoder *d)
{
	for (size_t i = 0; i < d->n_kinds; i++) {
		free(d->kinds[i].rows);
		free(d->kinds[i].carried);
		free(d->kinds[i].known);
		free(d->kinds[i].ids);
	}
	d->n_kinds = 0;
}

/* Forget the last values: the current frame does not follow the previous one. */
static void last_forget(struct data_decoder *d)
{
	for (size_t i = 0; i < d->cap_last; i++) {
		free(d->last[i]);
		d->last[i] = NULL;
	}
}

void data_decoder_free(struct data_decoder *d)
{
	if (!d)
		return;
	kinds_clear(d);
	last_forget(d);
	free(d->kinds);
	free(d->last);
	free(d->bases);
	chunk_reader_release(&d->chunks);
	strbuf_release(&d->rows_raw);
	strbuf_release(&d->column_raw);
	free(d);
}

unsigned long data_decoder_unknown_rows(const struct data_decoder *d)
{
	return d->unknown_rows;
}

static int damaged(struct lp_err *err, const char *what)
{
	return lp_err_set(err, -EBADMSG, "%s", what);
}

/* Make a batch with room for `need` samples, but not for many more, because rows are as long as the
 * capacity. */
static int batch_ready(struct lp_batch **batch, uint32_t need, struct lp_err *err)
{
	struct lp_batch *new;

	if (*batch && (*batch)->cap_samples >= need && (*batch)->cap_samples <= 2 * need + 16) {
		lp_batch_clear(*batch);
		return 0;
	}
	new = lp_batch_new(need);
	if (!new)
		return lp_err_sys(err, -ENOMEM, "cannot read a frame of %u samples", need);
	lp_batch_free(*batch);
	*batch = new;
	return 0;
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrapping_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int times_read(
	struct cursor *in, const struct frame *f, struct lp_batch **batch, struct lp_err *err)
{
	bool carry = f->flags & FRAME_CARRY;
	uint64_t n = cursor_varint(in);
	int64_t wall = (int64_t)cursor_u64(in), mono = (int64_t)cursor_u64(in), step = 0;
	struct lp_batch *b;
	int r;

	if (in->bad || n != f->n_samples || !n || n > FRAME_SAMPLES_MAX)
		return damaged(err, "the number of samples is wrong");
	r = batch_ready(batch, (uint32_t)n + 1, err);
	if (r < 0)
		return r;
	b = *batch;
	b->carry = carry;
	if (carry) {
		int64_t wall_step = unzigzag(cursor_varint(in));
		int64_t mono_step = unzigzag(cursor_varint(in));

		lp_batch_add_sample(
			b, wrapping_sub(wall, wall_step), wrapping_sub(mono, mono_step));
	}
	lp_batch_add_sample(b, wall, mono);
	for (uint64_t s = 1; s < n; s++) {
		step = wrapping_add(step, unzigzag(cursor_varint(in)));
		wall = wrapping_add(wall, step);
		mono = wrapping_add(mono, wrapping_add(step, unzigzag(cursor_varint(in))));
		lp_batch_add_sample(b, wall, mono);
	}
	return in->bad ? damaged(err, "the times are cut short") : 0;
}

static int kind_alloc(struct data_decoder *d, uint64_t schema, uint64_t n_columns, uint64_t n_rows)
{
	struct kind_rows k = {.schema = (uint32_t)schema,
		.n_columns = (uint32_t)n_columns,
		.n_rows = (uint32_t)n_rows};

	if (array_reserve(&d->kinds, &d->cap_kinds, d->n_kinds + 1, sizeof(*d->kinds)) < 0)
		return -ENOMEM;
	k.rows = calloc(n_rows, sizeof(*k.rows));
	k.carried = calloc(n_rows, 1);
	k.known = calloc(n_rows, 1);
	k.ids = calloc(n_rows, sizeof(*k.ids));
	d->kinds[d->n_kinds++] = k;
	return !n_rows || (k.rows && k.carried && k.known && k.ids) ? 0 : -ENOMEM;
}

/* Is this row selected, and does the catalogue have its component? */
static bool row_wanted(
	struct data_decoder *d, const struct data_want *want, uint32_t schema, int64_t id)
{
	if (id < 0 || id >= want->catalogue->n_components ||
		want->catalogue->components[id].schema != schema) {
		d->unknown_rows++;
		return false;
	}
	return !want->components || want->components[id];
}

/* Read the ids of the rows of one kind; selected ones become rows of the batch. */
static int ids_read(struct data_decoder *d, struct cursor *in, struct kind_rows *k,
	const struct data_want *want, struct lp_batch *b, struct lp_batch_kind *bk)
{
	int64_t id = 0;
	int r = 0;

	for (uint32_t i = 0; i < k->n_rows && r == 0; i++) {
		id = wrapping_add(id, unzigzag(cursor_varint(in)));
		k->rows[i] = COLUMN_SKIP;
		if (in->bad || !row_wanted(d, want, k->schema, id))
			continue;
		k->ids[i] = (uint32_t)id;
		if ((size_t)id < d->cap_last && d->last[id])
			k->known[i] = (uint8_t)d->last[id][k->n_columns];
		r = lp_batch_add_component(b, bk, (uint32_t)id, &k->rows[i]);
	}
	return r;
}

/* The states of a row; `coded` is NULL if it is present and continuous in every sample. */
static void row_states(uint8_t *state, const uint8_t *coded, uint32_t n)
{
	const uint8_t all = LP_PRESENT | LP_FRESH | LP_RELATIVE;

	if (!coded) {
		memset(state, LP_PRESENT, n);
		return;
	}
	for (uint32_t s = 0; s < n; s++)
		state[s] = coded[s] & LP_PRESENT ? coded[s] & all : LP_ABSENT;
}

/* The row continues a lost frame, or a frame that continues a lost frame. */
static void row_relative(uint8_t *state, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++) {
		if (state[s] & LP_PRESENT)
			state[s] |= LP_RELATIVE;
	}
}

/* Read ids, marks and states of the rows of one kind. */
static int rows_read(struct data_decoder *d, struct cursor *in, struct kind_rows *k, bool key,
	const struct data_want *want, struct lp_batch *b, struct lp_err *err)
{
	const struct lp_schema *schema = &want->catalogue->schemas[k->schema];
	uint32_t first = b->carry ? 1 : 0, n = b->n_samples - first;
	struct lp_batch_kind *bk;
	const uint8_t *marks;

	if (lp_batch_kind_get(b, k->schema, schema->n_columns,
		    want->columns ? want->columns[k->schema] : NULL, &bk) < 0 ||
		ids_read(d, in, k, want, b, bk) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read rows");
	marks = cursor_bytes(in, k->n_rows);
	for (uint32_t i = 0; i < k->n_rows && !in->bad; i++) {
		const uint8_t *coded = marks[i] & ROW_IRREGULAR ? cursor_bytes(in, n) : NULL;
		uint8_t *state;

		k->carried[i] = b->carry && (marks[i] & ROW_CARRIED);
		if (k->rows[i] == COLUMN_SKIP || in->bad)
			continue;
		state = bk->state + (size_t)k->rows[i] * b->cap_samples;
		if (b->carry)
			state[0] = k->carried[i] ? LP_PRESENT : LP_ABSENT;
		row_states(state + first, coded, n);
		if (!key && k->carried[i] && k->known[i] != LAST_EXACT)
			row_relative(state, b->n_samples);
	}
	return in->bad ? damaged(err, "the rows are cut short") : 0;
}

static int kinds_read(struct data_decoder *d, struct cursor *in, bool key,
	const struct data_want *want, struct lp_batch *b, struct lp_err *err)
{
	uint64_t n_kinds = cursor_varint(in), cells = 0;
	uint32_t n = b->n_samples - (b->carry ? 1 : 0);
	int r = 0;

	kinds_clear(d);
	if (n_kinds > want->catalogue->n_schemas)
		return damaged(err, "the frame has a kind that the catalogue does not know");
	for (uint64_t i = 0; i < n_kinds && r == 0; i++) {
		uint64_t schema = cursor_varint(in), n_columns = cursor_varint(in);
		uint64_t n_rows = cursor_varint(in);

		if (in->bad || n_rows > (uint64_t)(in->end - in->p) || n_columns > LP_COLUMNS_MAX)
			return damaged(err, "the rows are cut short");
		cells += data_cells(n_rows, n_columns, n);
		if (cells > FRAME_CELLS_MAX)
			return damaged(err, "the frame is impossibly large");
		if (schema >= want->catalogue->n_schemas ||
			want->catalogue->schemas[schema].n_columns != n_columns)
			return damaged(
				err, "the frame has a kind that the catalogue does not know");
		if (kind_alloc(d, schema, n_columns, n_rows) < 0)
			return lp_err_sys(err, -ENOMEM, "cannot read rows");
		r = rows_read(d, in, &d->kinds[d->n_kinds - 1], key, want, b, err);
	}
	return r;
}

/* Collect the last known values of a column for the rows of a frame that continues the previous
 * one. If that was lost, counters start at 0 and are relative: the frame itself has their
 * growth. */
static int bases_gather(struct data_decoder *d, const struct kind_rows *k, uint32_t column)
{
	if (array_reserve(&d->bases, &d->cap_bases, k->n_rows, sizeof(*d->bases)) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->n_rows; i++)
		d->bases[i] = k->known[i] != LAST_UNKNOWN ? d->last[k->ids[i]][column] : 0;
	return 0;
}

/* Keep the values of the last sample of a row, for a frame that continues this one. */
static int row_remember(
	struct data_decoder *d, uint32_t id, const struct lp_batch_kind *bk, size_t cell)
{
	if (array_reserve(&d->last, &d->cap_last, (size_t)id + 1, sizeof(*d->last)) < 0)
		return -ENOMEM;
	if (!d->last[id])
		d->last[id] = calloc(bk->n_columns + 1, sizeof(**d->last));
	if (!d->last[id])
		return -ENOMEM;
	for (uint32_t c = 0; c < bk->n_columns; c++) {
		if (bk->columns[c])
			d->last[id][c] = bk->columns[c][cell];
	}
	d->last[id][bk->n_columns] = bk->state[cell] & LP_RELATIVE ? LAST_RELATIVE : LAST_EXACT;
	return 0;
}

static int last_remember(struct data_decoder *d, const struct kind_rows *k,
	const struct lp_batch *b, const struct lp_batch_kind *bk)
{
	int r = 0;

	for (uint32_t i = 0; i < k->n_rows && r == 0; i++) {
		if (k->rows[i] != COLUMN_SKIP)
			r = row_remember(d, k->ids[i], bk,
				(size_t)k->rows[i] * b->cap_samples + b->n_samples - 1);
	}
	return r;
}

static struct lp_batch_kind *batch_kind(struct lp_batch *b, uint32_t schema)
{
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		if (b->kinds[i].schema == schema)
			return &b->kinds[i];
	}
	return NULL;
}

/* Where the coded columns of a frame come from: separate chunks, or the rest of chunk 0. */
struct column_feed {
	struct data_decoder *d;
	const struct frame *f;
	payload_read_fn read;
	void *read_ctx;
	struct cursor packed;
	size_t next_chunk;
	uint64_t raw_max; /* no column of the current kind is longer */
};

/* Go to the next column. If it is selected, `*ret` is a cursor over its bytes. */
static int feed_next(struct column_feed *feed, bool wanted, struct cursor *ret, struct lp_err *err)
{
	if (feed->f->flags & FRAME_PACKED) {
		const char *text;
		size_t len = cursor_string(&feed->packed, &text);

		if (feed->packed.bad)
			return damaged(err, "the columns are cut short");
		*ret = (struct cursor){
			.p = (const uint8_t *)text, .end = (const uint8_t *)text + len};
		return 0;
	}
	if (feed->next_chunk >= feed->d->chunks.n)
		return damaged(err, "a column's chunk is not there");
	feed->next_chunk++;
	if (!wanted)
		return 0;
	if (feed->d->chunks.items[feed->next_chunk - 1].raw > feed->raw_max)
		return damaged(err, "a column is impossibly long");
	return chunk_reader_load(&feed->d->chunks, feed->next_chunk - 1, &feed->d->column_raw,
		feed->read, feed->read_ctx, ret, err);
}

/* Decode one selected column into the batch. */
static int column_take(struct column_feed *feed, struct cursor *in, struct column_shape *shape,
	const struct kind_rows *k, uint32_t column, int64_t *cells, struct lp_err *err)
{
	if (bases_gather(feed->d, k, column) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read a column");
	shape->last = feed->d->bases;
	if (column_decode(in, shape, cells) < 0 || in->p != in->end)
		return damaged(err, "a column is invalid");
	return 0;
}

static int kind_decode(struct column_feed *feed, const struct kind_rows *k, struct lp_batch *b,
	struct lp_err *err, const struct lp_schema *schema)
{
	uint32_t first = b->carry ? 1 : 0;
	struct lp_batch_kind *bk = batch_kind(b, k->schema);
	struct column_shape shape = {.n_rows = k->n_rows,
		.n_samples = b->n_samples - first,
		.stride = b->cap_samples,
		.rows = k->rows,
		.carried = k->carried,
		.key = feed->f->flags & FRAME_KEY};

	feed->raw_max = column_size_max(shape.n_rows, shape.n_samples);
	for (uint32_t c = 0; c < k->n_columns; c++) {
		bool wanted = bk->columns[c] && bk->n_components;
		struct cursor in = {0};
		int r = feed_next(feed, wanted, &in, err);

		shape.type = schema->columns[c].type;
		if (r == 0 && wanted)
			r = column_take(feed, &in, &shape, k, c, bk->columns[c] + first, err);
		if (r < 0)
			return r;
	}
	if (feed->f->flags & FRAME_PACKED && last_remember(feed->d, k, b, bk) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read a column");
	return 0;
}

/* Do the last values belong to the sample that this frame continues? They do not if a frame in
 * between was damaged or not read. */
static bool last_fits(const struct data_decoder *d, const struct lp_batch *b)
{
	return d->last_valid && b->carry && b->wall_us[0] == d->last_wall_us &&
		b->mono_us[0] == d->last_mono_us;
}

/* Decode everything after the head. */
static int contents_decode(struct column_feed *feed, const struct data_want *want,
	struct lp_batch **batch, struct lp_err *err)
{
	struct data_decoder *d = feed->d;
	struct cursor in = {0};
	int r = chunk_reader_load(
		&d->chunks, 0, &d->rows_raw, feed->read, feed->read_ctx, &in, err);

	if (r == 0)
		r = times_read(&in, feed->f, batch, err);
	if (r < 0)
		return r;
	if (!last_fits(d, *batch))
		last_forget(d);
	r = kinds_read(d, &in, feed->f->flags & FRAME_KEY, want, *batch, err);
	feed->packed = in;
	for (size_t i = 0; r == 0 && i < d->n_kinds; i++)
		r = kind_decode(feed, &d->kinds[i], *batch, err,
			&want->catalogue->schemas[d->kinds[i].schema]);
	return r; /* skips data that a later minor version added after the columns */
}

int data_decode(struct data_decoder *d, const struct frame *f, payload_read_fn read, void *read_ctx,
	const struct data_want *want, struct lp_batch **batch, struct lp_err *err)
{
	struct column_feed feed = {
		.d = d, .f = f, .read = read, .read_ctx = read_ctx, .next_chunk = 1};
	struct cursor tail = {0};
	int r;

	if (f->flags & ~FRAME_FLAGS_KNOWN)
		r = lp_err_set(err, -EBADMSG, "it needs a newer limpet (flags %#x)", f->flags);
	else
		r = chunk_reader_begin(&d->chunks, f, read, read_ctx, &tail, err);
	if (r == 0 && tail.p != tail.end)
		r = damaged(err, "the frame's list of chunks is wrong");
	if (r == 0)
		r = contents_decode(&feed, want, batch, err);
	d->last_valid = r == 0 && f->flags & FRAME_PACKED;
	if (d->last_valid) {
		d->last_wall_us = (*batch)->wall_us[(*batch)->n_samples - 1];
		d->last_mono_us = (*batch)->mono_us[(*batch)->n_samples - 1];
	}
	return r;
}
