#include "archive/data.h"

#include "archive/chunks.h"
#include "archive/column.h"
#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>

struct data_encoder {
	struct chunk_writer chunks;
	struct strbuf column; /* a column of a packed frame, before its length is known */
	/* The rows that are present in the slice, grouped by kind. */
	uint32_t *kind_rows; /* [kind] number of rows */
	uint32_t *rows;	     /* index in the batch */
	uint8_t *carried;    /* present in the carried sample */
	uint8_t *whole;	     /* present in every sample */
	size_t cap_kinds, cap_rows, cap_carried, cap_whole;
	uint64_t *scratch;
	size_t cap_scratch;
};

struct data_encoder *data_encoder_new(void)
{
	struct data_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	if (chunk_writer_init(&e->chunks) < 0) {
		free(e);
		return NULL;
	}
	return e;
}

void data_encoder_free(struct data_encoder *e)
{
	if (!e)
		return;
	chunk_writer_release(&e->chunks);
	strbuf_release(&e->column);
	free(e->kind_rows);
	free(e->rows);
	free(e->carried);
	free(e->whole);
	free(e->scratch);
	free(e);
}

static void put_le64(struct strbuf *sb, uint64_t v)
{
	uint8_t buf[8];

	put_u64(buf, v);
	strbuf_add(sb, buf, sizeof(buf));
}

/* Differences of times, even those of a hostile file, must not overflow. */
static int64_t wrapping_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

/* Write times: the first one in full, then the changes of the steps (0 for a steady clock), and the
 * differences between the steps of the wall clock and of the steady clock. */
static void put_times(struct data_encoder *e, const struct data_slice *sl)
{
	const int64_t *wall = sl->batch->wall_us + sl->first,
		      *mono = sl->batch->mono_us + sl->first;
	int64_t step = 0;

	put_varint(&e->chunks.raw, sl->n);
	put_le64(&e->chunks.raw, (uint64_t)wall[0]);
	put_le64(&e->chunks.raw, (uint64_t)mono[0]);
	if (sl->carry) {
		put_varint(&e->chunks.raw, zigzag(wrapping_sub(wall[0], wall[-1])));
		put_varint(&e->chunks.raw, zigzag(wrapping_sub(mono[0], mono[-1])));
	}
	for (uint32_t s = 1; s < sl->n; s++) {
		int64_t delta = wrapping_sub(wall[s], wall[s - 1]);
		int64_t mono_delta = wrapping_sub(mono[s], mono[s - 1]);

		put_varint(&e->chunks.raw, zigzag(wrapping_sub(delta, step)));
		put_varint(&e->chunks.raw, zigzag(wrapping_sub(mono_delta, delta)));
		step = delta;
	}
}

/* Find the rows of one kind that are present in the slice, after `at` rows of other kinds. */
static uint32_t rows_find(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_batch_kind *k, size_t at)
{
	uint32_t n = 0;

	for (uint32_t row = 0; row < k->n_components; row++) {
		const uint8_t *state = k->state + (size_t)row * sl->batch->cap_samples + sl->first;
		uint8_t any = 0, all = LP_PRESENT;

		for (uint32_t s = 0; s < sl->n; s++) {
			any |= state[s];
			all &= state[s];
		}
		if (!(any & LP_PRESENT))
			continue;
		e->rows[at + n] = row;
		e->whole[at + n] = all & LP_PRESENT;
		e->carried[at + n] = sl->carry && (state[-1] & LP_PRESENT);
		n++;
	}
	return n;
}

static int rows_find_all(struct data_encoder *e, const struct data_slice *sl)
{
	const struct lp_batch *b = sl->batch;
	size_t most = 0, at = 0;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		most += b->kinds[i].n_components;
	if (array_reserve(&e->kind_rows, &e->cap_kinds, b->n_kinds, sizeof(*e->kind_rows)) < 0 ||
		array_reserve(&e->rows, &e->cap_rows, most, sizeof(*e->rows)) < 0 ||
		array_reserve(&e->carried, &e->cap_carried, most, 1) < 0 ||
		array_reserve(&e->whole, &e->cap_whole, most, 1) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		e->kind_rows[i] = rows_find(e, sl, &b->kinds[i], at);
		at += e->kind_rows[i];
	}
	return 0;
}

/* A row that is present and continuous in every sample needs no state bytes. */
static bool row_regular(const uint8_t *state, uint32_t n)
{
	for (uint32_t s = 0; s < n; s++) {
		if (state[s] != LP_PRESENT)
			return false;
	}
	return true;
}

/* Write ids, marks and states of the rows [at, at + n_rows). */
static void put_rows(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_batch_kind *k, size_t at, uint32_t n_rows, const uint32_t *id_map)
{
	const uint8_t *state = k->state + sl->first;
	size_t stride = sl->batch->cap_samples, marks;
	int64_t prev = 0;

	for (uint32_t i = 0; i < n_rows; i++) {
		int64_t id = id_map[k->ids[e->rows[at + i]]];

		put_varint(&e->chunks.raw, zigzag(id - prev));
		prev = id;
	}
	marks = e->chunks.raw.len;
	for (uint32_t i = 0; i < n_rows; i++) {
		bool regular =
			e->whole[at + i] && row_regular(state + e->rows[at + i] * stride, sl->n);

		strbuf_putc(&e->chunks.raw,
			(char)((e->carried[at + i] ? ROW_CARRIED : 0) |
				(regular ? 0 : ROW_IRREGULAR)));
	}
	for (uint32_t i = 0; i < n_rows && !e->chunks.raw.failed; i++) {
		if (e->chunks.raw.text[marks + i] & ROW_IRREGULAR)
			strbuf_add(&e->chunks.raw, state + e->rows[at + i] * stride, sl->n);
	}
}

/* Write the header of each kind that has rows in the slice. */
static void put_kinds(struct data_encoder *e, const struct data_slice *sl,
	const uint32_t *schema_map, const uint32_t *id_map)
{
	uint32_t n_kinds = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < sl->batch->n_kinds; i++)
		n_kinds += e->kind_rows[i] > 0;
	put_varint(&e->chunks.raw, n_kinds);
	for (uint32_t i = 0; i < sl->batch->n_kinds; i++) {
		const struct lp_batch_kind *k = &sl->batch->kinds[i];

		if (!e->kind_rows[i])
			continue;
		put_varint(&e->chunks.raw, schema_map[k->schema]);
		put_varint(&e->chunks.raw, k->n_columns);
		put_varint(&e->chunks.raw, e->kind_rows[i]);
		put_rows(e, sl, k, at, e->kind_rows[i], id_map);
		at += e->kind_rows[i];
	}
}

/* Write one column: in a packed frame after its length, else as a separate chunk. */
static int put_column(struct data_encoder *e, const struct column_shape *shape,
	const int64_t *cells, unsigned flags)
{
	if (!(flags & FRAME_PACKED)) {
		column_encode(&e->chunks.raw, shape, cells, e->scratch);
		return chunk_writer_end_chunk(&e->chunks);
	}
	strbuf_reset(&e->column);
	column_encode(&e->column, shape, cells, e->scratch);
	if (e->column.failed)
		return -ENOMEM;
	put_varint(&e->chunks.raw, e->column.len);
	strbuf_add(&e->chunks.raw, e->column.text, e->column.len);
	return 0;
}

/* Write the columns of one kind; its rows are [at, at + n_rows). */
static int put_columns(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_batch_kind *k, const struct lp_schema *schema, size_t at, uint32_t n_rows,
	unsigned flags)
{
	struct column_shape shape = {
		.n_rows = n_rows,
		.n_samples = sl->n,
		.stride = sl->batch->cap_samples,
		.rows = e->rows + at,
		.carried = e->carried + at,
		.whole = e->whole + at,
		.state = k->state + sl->first,
		.key = flags & FRAME_KEY,
	};
	int r = 0;

	if (array_reserve(&e->scratch, &e->cap_scratch, column_scratch(n_rows, sl->n),
		    sizeof(*e->scratch)) < 0)
		return -ENOMEM;
	for (uint32_t c = 0; c < k->n_columns && r == 0; c++) {
		shape.type = schema->columns[c].type;
		r = put_column(e, &shape, k->columns[c] + sl->first, flags);
	}
	return r;
}

static int put_all_columns(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_catalogue *cat, unsigned flags)
{
	size_t at = 0;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < sl->batch->n_kinds; i++) {
		const struct lp_batch_kind *k = &sl->batch->kinds[i];

		if (e->kind_rows[i])
			r = put_columns(
				e, sl, k, &cat->schemas[k->schema], at, e->kind_rows[i], flags);
		at += e->kind_rows[i];
	}
	return r;
}

/* The header of the frame: its flags and times. */
static struct frame slice_frame(const struct data_slice *sl, unsigned flags)
{
	struct frame f = {.type = FRAME_DATA,
		.flags = (uint8_t)(flags | (sl->carry ? FRAME_CARRY : 0)),
		.n_samples = sl->n,
		.first_us = sl->batch->wall_us[sl->first],
		.last_us = sl->batch->wall_us[sl->first]};

	for (uint32_t s = sl->first; s < sl->first + sl->n; s++) {
		int64_t wall = sl->batch->wall_us[s];

		f.first_us = wall < f.first_us ? wall : f.first_us;
		f.last_us = wall > f.last_us ? wall : f.last_us;
	}
	return f;
}

int data_encode(struct data_encoder *e, const struct data_slice *sl, const struct lp_catalogue *cat,
	const uint32_t *schema_map, const uint32_t *id_map, unsigned flags,
	const uint8_t **ret_frame, size_t *ret_size, struct frame *ret_header)
{
	struct frame f = slice_frame(sl, flags);
	int r;

	chunk_writer_begin(&e->chunks, flags & FRAME_PACKED ? LEVEL_PACKED : LEVEL_DENSE);
	r = rows_find_all(e, sl);
	if (r < 0)
		return r;
	put_times(e, sl);
	put_kinds(e, sl, schema_map, id_map);
	if (!(flags & FRAME_PACKED))
		r = chunk_writer_end_chunk(&e->chunks);
	if (r == 0)
		r = put_all_columns(e, sl, cat, flags);
	if (r == 0 && flags & FRAME_PACKED)
		r = chunk_writer_make_room(&e->chunks, &e->column);
	if (r == 0 && flags & FRAME_PACKED)
		r = chunk_writer_end_chunk(&e->chunks);
	if (r == 0)
		r = chunk_writer_finish(&e->chunks, &f);
	if (r < 0)
		return r;
	*ret_header = f;
	*ret_frame = (const uint8_t *)e->chunks.frame.text;
	*ret_size = e->chunks.frame.len;
	return 0;
}

uint32_t data_samples_max(const struct lp_batch *b, uint64_t cells_max)
{
	uint64_t cells = 0, max;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		cells += data_cells(b->kinds[i].n_components, b->kinds[i].n_columns, 1);
	if (!cells)
		return FRAME_SAMPLES_MAX;
	max = cells_max / cells;
	return max < FRAME_SAMPLES_MAX ? (uint32_t)max : FRAME_SAMPLES_MAX;
}
