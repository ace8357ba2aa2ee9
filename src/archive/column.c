#include "archive/column.h"

#include <errno.h>
#include <limpet/batch.h>
#include <math.h>

enum column_mode { MODE_INTEGER = 0, MODE_DECIMAL = 1, MODE_RAW = 2 };
enum column_nulls { NULLS_NONE = 0, NULLS_MAP = 1, NULLS_ALL = 2 };

#define SCALE_MAX 9

static const double powers_of_ten[SCALE_MAX + 1] = {
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

/* What encoding learns about a column before it writes it. */
struct column_plan {
	enum column_mode mode;
	enum column_nulls nulls;
	uint8_t scale;
};

static bool cell_missing(const struct column_shape *sh, int64_t cell)
{
	return sh->type == LP_REAL ? isnan(lp_cell_to_real(cell)) : cell == LP_MISSING;
}

static bool cell_present(const struct column_shape *sh, uint32_t row, uint32_t s)
{
	return sh->state[(size_t)sh->rows[row] * sh->stride + s] & LP_PRESENT;
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

/* Raise `plan->scale` until `real` fits, or fall back to raw doubles. */
static void plan_real(struct column_plan *plan, double real)
{
	int64_t integer;

	while (plan->mode == MODE_DECIMAL && !decimal_fits(real, plan->scale, &integer)) {
		if (plan->scale == SCALE_MAX)
			plan->mode = MODE_RAW;
		else
			plan->scale++;
	}
}

static struct column_plan column_plan(const struct column_shape *sh, const int64_t *cells)
{
	struct column_plan plan = {.mode = sh->type == LP_REAL ? MODE_DECIMAL : MODE_INTEGER};
	size_t missing = 0, values = 0;

	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = cells + (size_t)sh->rows[row] * sh->stride;

		for (uint32_t s = 0; s < sh->n_samples; s++) {
			if (!cell_present(sh, row, s))
				continue;
			if (cell_missing(sh, cell[s])) {
				missing++;
				continue;
			}
			values++;
			if (plan.mode == MODE_DECIMAL)
				plan_real(&plan, lp_cell_to_real(cell[s]));
		}
	}
	if (missing)
		plan.nulls = values ? NULLS_MAP : NULLS_ALL;
	return plan;
}

/* A larger scale may stop fitting what a smaller one did (too many digits): checked here. */
static bool plan_holds(
	const struct column_plan *plan, const struct column_shape *sh, const int64_t *cells)
{
	int64_t integer;

	if (plan->mode != MODE_DECIMAL)
		return true;
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = cells + (size_t)sh->rows[row] * sh->stride;

		for (uint32_t s = 0; s < sh->n_samples; s++) {
			if (cell_present(sh, row, s) && !cell_missing(sh, cell[s]) &&
				!decimal_fits(lp_cell_to_real(cell[s]), plan->scale, &integer))
				return false;
		}
	}
	return true;
}

/* The integer that is coded for a value. */
static int64_t cell_to_code(const struct column_plan *plan, int64_t cell)
{
	int64_t integer = 0;

	if (plan->mode != MODE_DECIMAL)
		return cell;
	decimal_fits(lp_cell_to_real(cell), plan->scale, &integer);
	return integer;
}

static int64_t code_to_cell(const struct column_plan *plan, int64_t code)
{
	if (plan->mode != MODE_DECIMAL)
		return code;
	return lp_cell_from_real((double)code / powers_of_ten[plan->scale]);
}

/* Counters of a frame that is not key go on from the frame before: no base of their own. */
static bool row_continues(const struct column_shape *sh, uint32_t row)
{
	return sh->type == LP_COUNTER && !sh->key && sh->carried[row];
}

/* Where a row starts from: its carried value (also if that is LP_MISSING, so that the decoder,
 * which only has the frame before, starts from the same), or its first one. */
static int64_t row_base(const struct column_shape *sh, const struct column_plan *plan, uint32_t row,
	const int64_t *cell)
{
	if (sh->type == LP_COUNTER && sh->carried[row])
		return cell[-1];
	for (uint32_t s = 0; s < sh->n_samples; s++) {
		if (cell_present(sh, row, s) && !cell_missing(sh, cell[s]))
			return cell_to_code(plan, cell[s]);
	}
	return 0;
}

/* The zigzag deltas of one row; returns their bits or-ed together. */
static uint64_t row_deltas(const struct column_shape *sh, const struct column_plan *plan,
	uint32_t row, const int64_t *cell, int64_t base, uint64_t *out)
{
	int64_t prev = base;
	uint64_t bits = 0;

	for (uint32_t s = 0; s < sh->n_samples; s++) {
		int64_t code = prev;

		if (cell_present(sh, row, s) && !cell_missing(sh, cell[s]))
			code = cell_to_code(plan, cell[s]);
		out[s] = plan->mode == MODE_RAW
			? (uint64_t)code ^ (uint64_t)prev
			: zigzag((int64_t)((uint64_t)code - (uint64_t)prev));
		bits |= out[s];
		prev = code;
	}
	return bits;
}

static void put_null_map(struct strbuf *out, const struct column_shape *sh, const int64_t *cells)
{
	size_t bit = 0;
	uint8_t byte = 0;

	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = cells + (size_t)sh->rows[row] * sh->stride;

		for (uint32_t s = 0; s < sh->n_samples; s++, bit++) {
			if (cell_present(sh, row, s) && cell_missing(sh, cell[s]))
				byte |= (uint8_t)(1u << (bit % 8));
			if (bit % 8 == 7) {
				strbuf_putc(out, (char)byte);
				byte = 0;
			}
		}
	}
	if (bit % 8)
		strbuf_putc(out, (char)byte);
}

static void put_planes(struct strbuf *out, const uint64_t *deltas, size_t n, unsigned width)
{
	uint8_t piece[1024];

	strbuf_putc(out, (char)width);
	for (unsigned plane = 0; plane < width; plane++) {
		for (size_t i = 0; i < n; i += sizeof(piece)) {
			size_t len = n - i < sizeof(piece) ? n - i : sizeof(piece);

			for (size_t k = 0; k < len; k++)
				piece[k] = (uint8_t)(deltas[i + k] >> (8 * plane));
			strbuf_add(out, piece, len);
		}
	}
}

/* Write the bases and the active map, leaving the deltas of active rows in `scratch`.
 * Returns how many values those are; `*ret_bits` has all their bits or-ed together. */
static size_t put_rows(struct strbuf *out, const struct column_shape *sh,
	const struct column_plan *plan, const int64_t *cells, uint64_t *scratch, uint64_t *ret_bits)
{
	size_t n = 0, map_at;
	uint8_t varint[10];

	*ret_bits = 0;
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		const int64_t *cell = cells + (size_t)sh->rows[row] * sh->stride;

		if (!row_continues(sh, row))
			strbuf_add(out, varint,
				(size_t)(write_varint(
						 varint, zigzag(row_base(sh, plan, row, cell))) -
					varint));
	}
	map_at = out->len;
	for (uint32_t i = 0; i < (sh->n_rows + 7) / 8; i++)
		strbuf_putc(out, 0);
	for (uint32_t row = 0; row < sh->n_rows && !out->failed; row++) {
		const int64_t *cell = cells + (size_t)sh->rows[row] * sh->stride;
		uint64_t bits =
			row_deltas(sh, plan, row, cell, row_base(sh, plan, row, cell), scratch + n);

		if (!bits)
			continue;
		out->text[map_at + row / 8] |= (char)(1u << (row % 8));
		*ret_bits |= bits;
		n += sh->n_samples;
	}
	return n;
}

void column_encode(
	struct strbuf *out, const struct column_shape *sh, const int64_t *cells, uint64_t *scratch)
{
	struct column_plan plan = column_plan(sh, cells);
	uint64_t bits;
	unsigned width = 0;
	size_t n;

	if (!plan_holds(&plan, sh, cells))
		plan.mode = MODE_RAW;
	strbuf_putc(out, (char)plan.mode);
	strbuf_putc(out, (char)plan.scale);
	strbuf_putc(out, (char)plan.nulls);
	if (plan.nulls == NULLS_ALL)
		return;
	n = put_rows(out, sh, &plan, cells, scratch, &bits);
	if (plan.nulls == NULLS_MAP)
		put_null_map(out, sh, cells);
	for (; bits; bits >>= 8)
		width++;
	put_planes(out, scratch, n, width);
}

/* What decoding has at hand once the parts of a column are found. */
struct column_parts {
	struct column_plan plan;
	struct cursor bases;
	const uint8_t *active, *null_map, *planes;
	size_t plane_size;
	unsigned width;
};

static bool bit_at(const uint8_t *map, size_t bit)
{
	return map[bit / 8] >> (bit % 8) & 1;
}

static int parts_find(struct cursor *in, const struct column_shape *sh, struct column_parts *ret)
{
	size_t values = (size_t)sh->n_rows * sh->n_samples, n_active = 0;

	ret->plan.mode = cursor_u8(in);
	ret->plan.scale = cursor_u8(in);
	ret->plan.nulls = cursor_u8(in);
	if (in->bad || ret->plan.mode > MODE_RAW || ret->plan.scale > SCALE_MAX ||
		ret->plan.nulls > NULLS_ALL)
		return -EBADMSG;
	if (ret->plan.nulls == NULLS_ALL)
		return 0;
	ret->bases = *in;
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		if (!row_continues(sh, row))
			cursor_varint(in);
	}
	ret->active = cursor_bytes(in, (sh->n_rows + 7) / 8);
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

/* The delta at position `i` of the planes, put together from its bytes. */
static inline uint64_t planes_get(const struct column_parts *p, size_t i)
{
	uint64_t v = 0;

	for (unsigned plane = 0; plane < p->width; plane++)
		v |= (uint64_t)p->planes[plane * p->plane_size + i] << (8 * plane);
	return v;
}

/* Sum up one active row. The narrow widths, which nearly all rows have, get loops of their own. */
static void row_sum(const struct column_parts *p, size_t at, uint32_t n, int64_t base, int64_t *out)
{
	const uint8_t *p0 = p->planes + at, *p1 = p0 + p->plane_size;
	uint64_t value = (uint64_t)base;

	if (p->plan.mode == MODE_RAW) {
		for (uint32_t s = 0; s < n; s++)
			out[s] = (int64_t)(value ^= planes_get(p, at + s));
	} else if (p->width == 1) {
		for (uint32_t s = 0; s < n; s++)
			out[s] = (int64_t)(value += (uint64_t)unzigzag(p0[s]));
	} else if (p->width == 2) {
		for (uint32_t s = 0; s < n; s++)
			out[s] = (int64_t)(value +=
				(uint64_t)unzigzag(p0[s] | (uint64_t)p1[s] << 8));
	} else {
		for (uint32_t s = 0; s < n; s++)
			out[s] = (int64_t)(value += (uint64_t)unzigzag(planes_get(p, at + s)));
	}
}

static void row_fill_missing(const struct column_shape *sh, int64_t *cell, bool carried)
{
	int64_t missing = sh->type == LP_REAL ? lp_cell_from_real(NAN) : LP_MISSING;

	for (uint32_t s = 0; s < sh->n_samples; s++)
		cell[s] = missing;
	if (carried)
		cell[-1] = missing;
}

/* Integers become the values that they stand for, nulls become missing. */
static void row_finish(
	const struct column_shape *sh, const struct column_parts *p, uint32_t row, int64_t *cell)
{
	size_t bit = (size_t)row * sh->n_samples;

	if (p->plan.mode == MODE_DECIMAL) {
		for (uint32_t s = 0; s < sh->n_samples; s++)
			cell[s] = code_to_cell(&p->plan, cell[s]);
	}
	if (!p->null_map)
		return;
	for (uint32_t s = 0; s < sh->n_samples; s++) {
		if (bit_at(p->null_map, bit + s))
			cell[s] = sh->type == LP_REAL ? lp_cell_from_real(NAN) : LP_MISSING;
	}
}

/* Decode one row that is wanted; `at` is where it begins in the planes, if it is active. */
static void row_decode(const struct column_shape *sh, const struct column_parts *p, uint32_t row,
	size_t at, int64_t base, int64_t *cell)
{
	if (bit_at(p->active, row)) {
		row_sum(p, at, sh->n_samples, base, cell);
	} else {
		for (uint32_t s = 0; s < sh->n_samples; s++)
			cell[s] = base;
	}
	if (sh->carried[row])
		cell[-1] = code_to_cell(&p->plan, base);
	row_finish(sh, p, row, cell);
}

int column_decode(
	struct cursor *in, const struct column_shape *sh, const int64_t *last, int64_t *cells)
{
	struct column_parts parts = {0};
	bool all_missing;
	size_t at = 0;
	int r = parts_find(in, sh, &parts);

	if (r < 0)
		return r;
	all_missing = parts.plan.nulls == NULLS_ALL;
	for (uint32_t row = 0; row < sh->n_rows; row++) {
		bool wanted = sh->rows[row] != COLUMN_SKIP;
		int64_t *cell = wanted ? cells + (size_t)sh->rows[row] * sh->stride : NULL;
		int64_t base = 0;

		if (!all_missing)
			base = row_continues(sh, row) ? last[row]
						      : unzigzag(cursor_varint(&parts.bases));
		if (wanted && all_missing)
			row_fill_missing(sh, cell, sh->carried[row]);
		else if (wanted)
			row_decode(sh, &parts, row, at, base, cell);
		if (!all_missing && bit_at(parts.active, row))
			at += sh->n_samples;
	}
	return 0;
}
