#include "archive/column.h"

#include <errno.h>
#include <limpet/batch.h>
#include <math.h>

enum column_mode { MODE_INTEGER = 0, MODE_DECIMAL = 1, MODE_RAW = 2 };
enum column_nulls { NULLS_NONE = 0, NULLS_MAP = 1, NULLS_ALL = 2 };

#define SCALE_MAX 9

static const double powers_of_ten[SCALE_MAX + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* How values are converted to integers. */
struct column_plan {
	enum column_mode mode;
	enum column_nulls nulls;
	uint8_t scale;
};

static int64_t cell_missing_value(enum lp_column_type type)
{
	return type == LP_REAL ? lp_cell_from_real((double)NAN) : LP_MISSING;
}

static inline bool cell_missing(enum lp_column_type type, int64_t cell)
{
	return type == LP_REAL ? isnan(lp_cell_to_real(cell)) : cell == LP_MISSING;
}

static inline bool cell_present(const struct column_shape *sh, uint32_t row, uint32_t s)
{
	return sh->whole[row] || sh->state[(size_t)sh->rows[row] * sh->stride + s] & LP_PRESENT;
}

/* Does this sample of the row have a value? */
static inline bool cell_valued(
	const struct column_shape *sh, uint32_t row, uint32_t s, const int64_t *cell)
{
	return cell_present(sh, row, s) && !cell_missing(sh->type, cell[s]);
}

static inline const int64_t *row_cells(
	const struct column_shape *sh, uint32_t row, const int64_t *cells)
{
	return cells + (size_t)sh->rows[row] * sh->stride;
}

/* Is `real` exactly integer / 10^scale, bit for bit? */
static bool decimal_fits(double real, unsigned scale, int64_t *ret)
{
	double scaled = real * powers_of_ten[scale];
	int64_t integer;

	if (!(fabs(scaled) < 0x1p52))
		return false;
	integer = llround(scaled);
	*ret = integer;
	return lp_cell_from_real((double)integer / powers_of_ten[scale]) == lp_cell_from_real(real);
}

static bool scale_fits(const struct column_shape *sh, const int64_t *cells, unsigned scale)
{
	int64_t integer;

	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = row_cells(sh, row, cells);

		for (uint32_t s = 0; s < sh->n_samples; s++) {
			if (cell_valued(sh, row, s, cell) &&
				!decimal_fits(lp_cell_to_real(cell[s]), scale, &integer))
				return false;
		}
	}
	return true;
}

/* The smallest number of decimals that represents all values exactly; if there is none, they stay
 * doubles. */
static struct column_plan column_plan(const struct column_shape *sh, const int64_t *cells)
{
	if (sh->type != LP_REAL)
		return (struct column_plan){.mode = MODE_INTEGER};
	for (uint8_t scale = 0; scale <= SCALE_MAX; scale++) {
		if (scale_fits(sh, cells, scale))
			return (struct column_plan){.mode = MODE_DECIMAL, .scale = scale};
	}
	return (struct column_plan){.mode = MODE_RAW};
}

/* The integer that represents a value. */
static inline int64_t cell_to_code(const struct column_plan *plan, int64_t cell)
{
	int64_t integer = 0;

	if (plan->mode != MODE_DECIMAL)
		return cell;
	decimal_fits(lp_cell_to_real(cell), plan->scale, &integer);
	return integer;
}

/* In a frame that is not a key frame, counters continue from the previous frame and have no
 * base. */
static bool row_continues(const struct column_shape *sh, uint32_t row)
{
	return sh->type == LP_COUNTER && !sh->key && sh->carried[row];
}

/* The value from which a row starts: its carried value, else its first one. The carried value
 * counts even if it is LP_MISSING, because the decoder, which only has the previous frame, starts
 * from the same value. */
static int64_t row_base(const struct column_shape *sh, const struct column_plan *plan, uint32_t row,
	const int64_t *cell)
{
	if (sh->type == LP_COUNTER && sh->carried[row])
		return cell[-1];
	for (uint32_t s = 0; s < sh->n_samples; s++) {
		if (cell_valued(sh, row, s, cell))
			return cell_to_code(plan, cell[s]);
	}
	return 0;
}

static inline uint64_t delta(int64_t to, int64_t from)
{
	return zigzag((int64_t)((uint64_t)to - (uint64_t)from));
}

/* The deltas of a row of integers that is present in every sample, as nearly all are. Returns the
 * bitwise or of all deltas; sets `*missing` if a value is missing. */
static uint64_t whole_deltas(
	const int64_t *cell, uint32_t n, int64_t base, uint64_t *out, bool *missing)
{
	uint64_t bits = out[0] = delta(cell[0], base);
	bool found = cell[0] == LP_MISSING;

	for (uint32_t s = 1; s < n; s++) {
		out[s] = delta(cell[s], cell[s - 1]);
		bits |= out[s];
		found |= cell[s] == LP_MISSING;
	}
	*missing = found;
	return bits;
}

/* The result of a pass over the rows, used for writing. */
struct column_rows {
	uint64_t *deltas; /* of active rows, consecutive */
	int64_t *bases;	  /* [row] */
	uint64_t *active; /* [row] */
	size_t n_deltas;
	uint64_t bits; /* bitwise or of all deltas */
	size_t values, missing;
};

/* The deltas of any row; a missing value repeats the previous one. */
static uint64_t row_deltas(const struct column_shape *sh, const struct column_plan *plan,
	uint32_t row, const int64_t *cell, struct column_rows *rows)
{
	uint64_t *out = rows->deltas + rows->n_deltas, bits = 0;
	int64_t prev = rows->bases[row];

	for (uint32_t s = 0; s < sh->n_samples; s++) {
		int64_t code = prev;

		if (cell_valued(sh, row, s, cell)) {
			code = cell_to_code(plan, cell[s]);
			rows->values++;
		} else if (cell_present(sh, row, s)) {
			rows->missing++;
		}
		out[s] = plan->mode == MODE_RAW ? (uint64_t)code ^ (uint64_t)prev
						: delta(code, prev);
		bits |= out[s];
		prev = code;
	}
	return bits;
}

static void rows_gather(const struct column_shape *sh, const struct column_plan *plan,
	const int64_t *cells, struct column_rows *rows)
{
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = row_cells(sh, row, cells);
		bool slow = !sh->whole[row] || plan->mode != MODE_INTEGER;
		uint64_t bits = 0;

		rows->bases[row] = row_base(sh, plan, row, cell);
		if (!slow)
			bits = whole_deltas(cell, sh->n_samples, rows->bases[row],
				rows->deltas + rows->n_deltas, &slow);
		if (slow)
			bits = row_deltas(sh, plan, row, cell, rows);
		else
			rows->values += sh->n_samples;
		rows->active[row] = bits != 0;
		rows->bits |= bits;
		if (bits)
			rows->n_deltas += sh->n_samples;
	}
}

/* Packs bits into bytes, lowest first. Finish with bits_flush(). */
struct bit_writer {
	uint8_t *p;
	unsigned n;
	uint8_t byte;
};

static inline void bits_put(struct bit_writer *w, bool bit)
{
	w->byte |= (uint8_t)((unsigned)bit << w->n);
	if (++w->n == 8) {
		*w->p++ = w->byte;
		w->n = w->byte = 0;
	}
}

static uint8_t *bits_flush(struct bit_writer *w)
{
	if (w->n)
		*w->p++ = w->byte;
	return w->p;
}

static uint8_t *put_null_map(uint8_t *p, const struct column_shape *sh, const int64_t *cells)
{
	struct bit_writer w = {0};

	w.p = p;
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = row_cells(sh, row, cells);

		for (uint32_t s = 0; s < sh->n_samples; s++)
			bits_put(&w, cell_present(sh, row, s) && cell_missing(sh->type, cell[s]));
	}
	return bits_flush(&w);
}

uint8_t *column_put_planes(uint8_t *p, const uint64_t *values, size_t n, unsigned width)
{
	*p++ = (uint8_t)width;
	for (unsigned shift = 0; shift < 8 * width; shift += 8) {
		for (size_t i = 0; i < n; i++)
			*p++ = (uint8_t)(values[i] >> shift);
	}
	return p;
}

/* Write everything after the first three bytes into memory that is large enough. */
static uint8_t *put_rows(uint8_t *p, const struct column_shape *sh, const struct column_rows *rows,
	const int64_t *cells, unsigned width)
{
	struct bit_writer active;

	for (uint32_t row = 0; row < sh->n_rows; row++) {
		if (!row_continues(sh, row))
			p = write_varint(p, zigzag(rows->bases[row]));
	}
	active = (struct bit_writer){.p = p};
	for (uint32_t row = 0; row < sh->n_rows; row++)
		bits_put(&active, rows->active[row]);
	p = bits_flush(&active);
	if (rows->missing)
		p = put_null_map(p, sh, cells);
	return column_put_planes(p, rows->deltas, rows->n_deltas, width);
}

void column_encode(
	struct strbuf *out, const struct column_shape *sh, const int64_t *cells, uint64_t *scratch)
{
	struct column_plan plan = column_plan(sh, cells);
	struct column_rows rows = {0};
	unsigned width = 0;
	uint8_t *begin, *p;

	rows.active = scratch;
	rows.bases = (int64_t *)scratch + sh->n_rows;
	rows.deltas = scratch + 2 * (size_t)sh->n_rows;

	rows_gather(sh, &plan, cells, &rows);
	if (rows.missing)
		plan.nulls = rows.values ? NULLS_MAP : NULLS_ALL;
	for (uint64_t bits = rows.bits; bits; bits >>= 8)
		width++;
	strbuf_reserve(out,
		column_size_max(sh->n_rows, 0) + (size_t)sh->n_rows * sh->n_samples / 8 +
			rows.n_deltas * width);
	if (out->failed)
		return;
	begin = p = (uint8_t *)out->text + out->len;
	*p++ = (uint8_t)plan.mode;
	*p++ = plan.scale;
	*p++ = (uint8_t)plan.nulls;
	if (plan.nulls != NULLS_ALL)
		p = put_rows(p, sh, &rows, cells, width);
	out->len += (size_t)(p - begin);
}

/* The parts of a column, for decoding. */
struct column_parts {
	struct column_plan plan;
	struct cursor bases;
	const uint8_t *active, *null_map, *planes;
	size_t plane_size;
	unsigned width;
};

static inline bool bit_at(const uint8_t *map, size_t bit)
{
	return map[bit / 8] >> (bit % 8) & 1;
}

static int plan_read(struct cursor *in, enum lp_column_type type, struct column_plan *ret)
{
	uint8_t mode = cursor_u8(in), scale = cursor_u8(in), nulls = cursor_u8(in);

	if (in->bad || mode > MODE_RAW || scale > SCALE_MAX || nulls > NULLS_ALL ||
		(mode == MODE_INTEGER) != (type != LP_REAL))
		return -EBADMSG;
	*ret = (struct column_plan){.mode = mode, .scale = scale, .nulls = nulls};
	return 0;
}

static int parts_find(struct cursor *in, const struct column_shape *sh, struct column_parts *ret)
{
	size_t values = (size_t)sh->n_rows * sh->n_samples, n_active = 0;
	int r = plan_read(in, sh->type, &ret->plan);

	if (r < 0 || ret->plan.nulls == NULLS_ALL)
		return r;
	ret->bases = *in;
	for (uint32_t row = 0; row < sh->n_rows && !in->bad; row++) {
		if (!row_continues(sh, row))
			cursor_varint(in);
	}
	ret->active = cursor_bytes(in, ((size_t)sh->n_rows + 7) / 8);
	if (ret->plan.nulls == NULLS_MAP)
		ret->null_map = cursor_bytes(in, (values + 7) / 8);
	ret->width = cursor_u8(in);
	if (in->bad || ret->width > 8)
		return -EBADMSG;
	for (uint32_t row = 0; row < sh->n_rows; row++)
		n_active += bit_at(ret->active, row);
	ret->plane_size = n_active * sh->n_samples;
	ret->planes = cursor_bytes(in, ret->plane_size * ret->width);
	return in->bad ? -EBADMSG : 0;
}

/* The delta at position `i` of the planes, assembled from its bytes. */
static inline __attribute__((always_inline)) uint64_t planes_get(
	const struct column_parts *p, unsigned width, size_t i)
{
	const uint8_t *byte = p->planes + i;
	uint64_t v = 0;

	for (unsigned plane = 0; plane < width; plane++, byte += p->plane_size)
		v |= (uint64_t)*byte << (8 * plane);
	return v;
}

static inline __attribute__((always_inline)) void row_sum_width(const struct column_parts *p,
	unsigned width, size_t at, uint32_t n, int64_t base, int64_t *out)
{
	uint64_t value = (uint64_t)base;

	for (uint32_t s = 0; s < n; s++)
		out[s] = (int64_t)(value += (uint64_t)unzigzag(planes_get(p, width, at + s)));
}

/* Sum up one active row. Nearly all rows have narrow widths, which have separate loops. */
static void row_sum(const struct column_parts *p, size_t at, uint32_t n, int64_t base, int64_t *out)
{
	uint64_t value = (uint64_t)base;

	if (p->plan.mode == MODE_RAW) {
		for (uint32_t s = 0; s < n; s++)
			out[s] = (int64_t)(value ^= planes_get(p, p->width, at + s));
		return;
	}
	switch (p->width) {
	case 1:
		return row_sum_width(p, 1, at, n, base, out);
	case 2:
		return row_sum_width(p, 2, at, n, base, out);
	case 3:
		return row_sum_width(p, 3, at, n, base, out);
	case 4:
		return row_sum_width(p, 4, at, n, base, out);
	default:
		return row_sum_width(p, p->width, at, n, base, out);
	}
}

static void row_fill(int64_t *cell, uint32_t n, int64_t value)
{
	for (uint32_t s = 0; s < n; s++)
		cell[s] = value;
}

/* Convert integers to the values that they represent, and nulls to missing values. */
static void row_finish(
	const struct column_shape *sh, const struct column_parts *p, uint32_t row, int64_t *cell)
{
	size_t bit = (size_t)row * sh->n_samples;
	double power = powers_of_ten[p->plan.scale];

	if (p->plan.mode == MODE_DECIMAL) {
		for (uint32_t s = 0; s < sh->n_samples; s++)
			cell[s] = lp_cell_from_real((double)cell[s] / power);
	}
	if (!p->null_map)
		return;
	for (uint32_t s = 0; s < sh->n_samples; s++) {
		if (bit_at(p->null_map, bit + s))
			cell[s] = cell_missing_value(sh->type);
	}
}

/* Decode one selected row; `at` is its position in the planes, if it is active. */
static void row_decode(const struct column_shape *sh, const struct column_parts *p, uint32_t row,
	size_t at, int64_t base, int64_t *cell)
{
	int64_t missing = cell_missing_value(sh->type), carried = missing;

	if (p->plan.nulls == NULLS_ALL) {
		row_fill(cell, sh->n_samples, missing);
	} else {
		if (bit_at(p->active, row))
			row_sum(p, at, sh->n_samples, base, cell);
		else
			row_fill(cell, sh->n_samples, base);
		row_finish(sh, p, row, cell);
		if (sh->type == LP_COUNTER)
			carried = base;
	}
	if (sh->carried[row])
		cell[-1] = carried;
}

int column_decode(struct cursor *in, const struct column_shape *sh, int64_t *cells)
{
	struct column_parts parts = {0};
	bool stored;
	size_t at = 0;
	int r = parts_find(in, sh, &parts);

	if (r < 0)
		return r;
	stored = parts.plan.nulls != NULLS_ALL;
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		int64_t base = 0;

		if (stored)
			base = row_continues(sh, row) ? sh->last[row]
						      : unzigzag(cursor_varint(&parts.bases));
		if (sh->rows[row] != COLUMN_SKIP)
			row_decode(sh, &parts, row, at, base,
				cells + (size_t)sh->rows[row] * sh->stride);
		if (stored && bit_at(parts.active, row))
			at += sh->n_samples;
	}
	return 0;
}
