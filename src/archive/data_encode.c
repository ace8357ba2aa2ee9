#include "archive/data.h"

#include "archive/column.h"
#include "base/array.h"
#include "base/crc32c.h"
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

/* Loose frames are written all the time and rewritten once: cheap. Dense ones stay: small. */
#define LEVEL_PACKED 3
#define LEVEL_DENSE 9

struct data_encoder {
	struct strbuf raw;    /* the chunk that is being built */
	struct strbuf column; /* a column of a packed frame, before its length is known */
	struct strbuf head, chunks, frame;
	uint32_t n_chunks;
	uint32_t *rows; /* of the kind at hand: positions in the batch */
	uint8_t *carried;
	size_t cap_rows, cap_carried;
	uint64_t *scratch;
	size_t cap_scratch;
	ZSTD_CCtx *zstd;
	int level;
};

struct data_encoder *data_encoder_new(void)
{
	struct data_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->zstd = ZSTD_createCCtx();
	if (!e->zstd) {
		free(e);
		return NULL;
	}
	return e;
}

void data_encoder_free(struct data_encoder *e)
{
	if (!e)
		return;
	strbuf_release(&e->raw);
	strbuf_release(&e->column);
	strbuf_release(&e->head);
	strbuf_release(&e->chunks);
	strbuf_release(&e->frame);
	free(e->rows);
	free(e->carried);
	free(e->scratch);
	ZSTD_freeCCtx(e->zstd);
	free(e);
}

static void put_varint(struct strbuf *sb, uint64_t v)
{
	uint8_t buf[10];

	strbuf_add(sb, buf, (size_t)(write_varint(buf, v) - buf));
}

static void put_le64(struct strbuf *sb, uint64_t v)
{
	uint8_t buf[8];

	put_u64(buf, v);
	strbuf_add(sb, buf, sizeof(buf));
}

/* Compress what is in `raw` (or keep it, if that is no longer) and describe it in the head. */
static int chunk_finish(struct data_encoder *e)
{
	size_t bound = ZSTD_compressBound(e->raw.len), size;
	uint8_t crc[4];
	size_t at = e->chunks.len;

	if (e->raw.failed || e->raw.len > CHUNK_RAW_MAX)
		return e->raw.failed ? -ENOMEM : -EFBIG;
	strbuf_reserve(&e->chunks, bound);
	if (e->chunks.failed)
		return -ENOMEM;
	size = ZSTD_compressCCtx(
		e->zstd, e->chunks.text + at, bound, e->raw.text, e->raw.len, e->level);
	if (ZSTD_isError(size) || size >= e->raw.len) {
		strbuf_add(&e->chunks, e->raw.text, e->raw.len);
		size = e->raw.len;
	} else {
		e->chunks.len += size;
	}
	put_varint(&e->head, size);
	put_varint(&e->head, e->raw.len);
	put_u32(crc, crc32c(0, e->chunks.text + at, size));
	strbuf_add(&e->head, crc, 4);
	e->n_chunks++;
	strbuf_reset(&e->raw);
	return e->head.failed ? -ENOMEM : 0;
}

/* Times: the first in full, then how the steps change (0 on a steady clock), and how far the wall
 * clock's steps are from the steady clock's. */
static void put_times(struct data_encoder *e, const struct data_slice *sl)
{
	const int64_t *wall = sl->batch->wall_us + sl->first,
		      *mono = sl->batch->mono_us + sl->first;
	int64_t step = 0;

	put_varint(&e->raw, sl->n);
	put_le64(&e->raw, (uint64_t)wall[0]);
	put_le64(&e->raw, (uint64_t)mono[0]);
	if (sl->carry) {
		put_varint(&e->raw, zigzag(wall[0] - wall[-1]));
		put_varint(&e->raw, zigzag(mono[0] - mono[-1]));
	}
	for (uint32_t s = 1; s < sl->n; s++) {
		int64_t delta = wall[s] - wall[s - 1];

		put_varint(&e->raw, zigzag(delta - step));
		put_varint(&e->raw, zigzag(mono[s] - mono[s - 1] - delta));
		step = delta;
	}
}

/* Find the rows that are present in the slice. */
static int rows_find(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_batch_kind *k, uint32_t *ret_n)
{
	uint32_t n = 0;

	if (array_reserve(&e->rows, &e->cap_rows, k->n_components, sizeof(*e->rows)) < 0 ||
		array_reserve(&e->carried, &e->cap_carried, k->n_components, 1) < 0)
		return -ENOMEM;
	for (uint32_t row = 0; row < k->n_components; row++) {
		const uint8_t *state = k->state + (size_t)row * sl->batch->cap_samples + sl->first;
		bool present = false;

		for (uint32_t s = 0; s < sl->n && !present; s++)
			present = state[s] & LP_PRESENT;
		if (!present)
			continue;
		e->rows[n] = row;
		e->carried[n++] = sl->carry && (state[-1] & LP_PRESENT);
	}
	*ret_n = n;
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

static void put_rows(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_batch_kind *k, uint32_t n_rows, const uint32_t *id_map)
{
	const uint8_t *state = k->state + sl->first;
	size_t stride = sl->batch->cap_samples;
	int64_t prev = 0;

	for (uint32_t i = 0; i < n_rows; i++) {
		int64_t id = id_map[k->ids[e->rows[i]]];

		put_varint(&e->raw, zigzag(id - prev));
		prev = id;
	}
	for (uint32_t i = 0; i < n_rows; i++) {
		bool regular = row_regular(state + e->rows[i] * stride, sl->n);

		strbuf_putc(&e->raw,
			(char)((e->carried[i] ? ROW_CARRIED : 0) | (regular ? 0 : ROW_IRREGULAR)));
	}
	for (uint32_t i = 0; i < n_rows; i++) {
		if (!row_regular(state + e->rows[i] * stride, sl->n))
			strbuf_add(&e->raw, state + e->rows[i] * stride, sl->n);
	}
}

/* The header of each kind that has rows in the slice. */
static int put_kinds(struct data_encoder *e, const struct data_slice *sl,
	const uint32_t *schema_map, const uint32_t *id_map)
{
	uint32_t n_kinds = 0, n_rows;

	for (uint32_t i = 0; i < sl->batch->n_kinds; i++) {
		if (rows_find(e, sl, &sl->batch->kinds[i], &n_rows) < 0)
			return -ENOMEM;
		n_kinds += n_rows > 0;
	}
	put_varint(&e->raw, n_kinds);
	for (uint32_t i = 0; i < sl->batch->n_kinds; i++) {
		const struct lp_batch_kind *k = &sl->batch->kinds[i];

		if (rows_find(e, sl, k, &n_rows) < 0)
			return -ENOMEM;
		if (!n_rows)
			continue;
		put_varint(&e->raw, schema_map[k->schema]);
		put_varint(&e->raw, k->n_columns);
		put_varint(&e->raw, n_rows);
		put_rows(e, sl, k, n_rows, id_map);
	}
	return 0;
}

/* One column: in a packed frame behind its length, else as a chunk of its own. */
static int put_column(struct data_encoder *e, const struct column_shape *shape,
	const int64_t *cells, unsigned flags)
{
	if (!(flags & FRAME_PACKED)) {
		column_encode(&e->raw, shape, cells, e->scratch);
		return chunk_finish(e);
	}
	strbuf_reset(&e->column);
	column_encode(&e->column, shape, cells, e->scratch);
	if (e->column.failed)
		return -ENOMEM;
	put_varint(&e->raw, e->column.len);
	strbuf_add(&e->raw, e->column.text, e->column.len);
	return 0;
}

static int put_columns(struct data_encoder *e, const struct data_slice *sl,
	const struct lp_batch_kind *k, const struct lp_schema *schema, unsigned flags)
{
	struct column_shape shape = {
		.n_samples = sl->n,
		.stride = sl->batch->cap_samples,
		.state = k->state + sl->first,
		.key = flags & FRAME_KEY,
	};
	int r = rows_find(e, sl, k, &shape.n_rows);

	if (r < 0 || !shape.n_rows)
		return r;
	shape.rows = e->rows;
	shape.carried = e->carried;
	if (array_reserve(&e->scratch, &e->cap_scratch, (size_t)shape.n_rows * sl->n,
		    sizeof(*e->scratch)) < 0)
		return -ENOMEM;
	for (uint32_t c = 0; c < k->n_columns && r == 0; c++) {
		shape.type = schema->columns[c].type;
		r = put_column(e, &shape, k->columns[c] + sl->first, flags);
	}
	return r;
}

/* Head and chunks become one frame. */
static int frame_finish(
	struct data_encoder *e, const struct data_slice *sl, unsigned flags, struct frame *ret)
{
	uint8_t header[FRAME_HEADER_SIZE] = {0}, count[10];
	size_t count_len = (size_t)(write_varint(count, e->n_chunks) - count);
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
	f.head_size = (uint32_t)(count_len + e->head.len);
	f.payload_size = f.head_size + (uint32_t)e->chunks.len;
	if (e->chunks.len > PAYLOAD_MAX - f.head_size)
		return -EFBIG;
	strbuf_reset(&e->frame);
	strbuf_add(&e->frame, header, sizeof(header));
	strbuf_add(&e->frame, count, count_len);
	strbuf_add(&e->frame, e->head.text, e->head.len);
	strbuf_add(&e->frame, e->chunks.text, e->chunks.len);
	if (e->frame.failed)
		return -ENOMEM;
	f.head_crc = crc32c(0, e->frame.text + FRAME_HEADER_SIZE, f.head_size);
	format_put_frame((uint8_t *)e->frame.text, &f);
	*ret = f;
	return 0;
}

int data_encode(struct data_encoder *e, const struct data_slice *sl, const struct lp_catalogue *cat,
	const uint32_t *schema_map, const uint32_t *id_map, unsigned flags,
	const uint8_t **ret_frame, size_t *ret_size, struct frame *ret_header)
{
	int r;

	strbuf_reset(&e->raw);
	strbuf_reset(&e->head);
	strbuf_reset(&e->chunks);
	e->n_chunks = 0;
	e->level = flags & FRAME_PACKED ? LEVEL_PACKED : LEVEL_DENSE;
	put_times(e, sl);
	r = put_kinds(e, sl, schema_map, id_map);
	if (r == 0 && !(flags & FRAME_PACKED))
		r = chunk_finish(e);
	for (uint32_t i = 0; r == 0 && i < sl->batch->n_kinds; i++) {
		const struct lp_batch_kind *k = &sl->batch->kinds[i];

		r = put_columns(e, sl, k, &cat->schemas[k->schema], flags);
	}
	if (r == 0 && flags & FRAME_PACKED)
		r = chunk_finish(e);
	if (r == 0)
		r = frame_finish(e, sl, flags, ret_header);
	if (r < 0)
		return r;
	*ret_frame = (const uint8_t *)e->frame.text;
	*ret_size = e->frame.len;
	return 0;
}

uint32_t data_samples_max(const struct lp_batch *b)
{
	uint64_t cells = 1, max;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		cells += (uint64_t)b->kinds[i].n_components * b->kinds[i].n_columns;
	max = FRAME_CELLS_MAX / cells;
	if (max <= 2)
		return 1;
	return max - 1 < FRAME_SAMPLES_MAX ? (uint32_t)(max - 1) : FRAME_SAMPLES_MAX;
}
