/* One column of a data frame: rows of integers become deltas, deltas become byte planes.
 *
 *     mode  u8      0 integers, 1 decimals, 2 raw doubles
 *     scale u8      decimals: value = integer / 10^scale
 *     nulls u8      0 none, 1 a bit map follows, 2 every value is missing (nothing follows)
 *     bases         one zigzag varint for each row that does not continue the frame before
 *     active        one bit per row: does it differ from its base at all?
 *     [null map]    one bit per row and sample, rows in order
 *     width u8      0..8: bytes of the widest zigzag delta
 *     planes        `width` planes of (active rows x samples) bytes, low bytes first
 *
 * Planes have advantages over varints: low bytes are noise and high bytes are nearly constant, so
 * zstd compresses them better separately, and decoding has no branch per value.
 */
#ifndef ARCHIVE_COLUMN_H
#define ARCHIVE_COLUMN_H

#include "base/bytes.h"
#include "base/strbuf.h"
#include <limpet/catalogue.h>

/* A row that the reader does not select. */
#define COLUMN_SKIP UINT32_MAX

/* The shape of the rows of one kind in a frame. */
struct column_shape {
	enum lp_column_type type;
	uint32_t n_rows, n_samples;
	size_t stride;		/* cells from one row to the next */
	const uint32_t *rows;	/* [row] its index in the batch, or COLUMN_SKIP */
	const uint8_t *carried; /* [row] is the carried sample present? */
	bool key;		/* counters store their base */
	/* For encoding: */
	const uint8_t *state; /* of the batch's kind, with the same offset as the cells */
	const uint8_t *whole; /* [row] is it present in every sample? */
	/* For decoding counters of a frame that is not a key frame: */
	const int64_t *last; /* [row] the value before the frame */
};

/* The number of uint64_t that column_encode() needs as scratch. */
static inline size_t column_scratch(uint32_t n_rows, uint32_t n_samples)
{
	return (size_t)n_rows * (n_samples + 2);
}

/* The maximum size of a column. */
static inline uint64_t column_size_max(uint32_t n_rows, uint32_t n_samples)
{
	uint64_t values = (uint64_t)n_rows * n_samples;

	return 16 + (uint64_t)n_rows * 11 + values / 8 + values * 8;
}

/* Append the coded column to `out`. `cells` points into the column of the batch: cells[row *
 * stride] is the first sample, and the carried one is before it. */
void column_encode(struct strbuf *out, const struct column_shape *shape, const int64_t *cells,
	uint64_t *scratch);

/* Write `width` and `width` planes of values (the low bytes of all, then the next ones) into memory
 * that is large enough; returns the end. */
uint8_t *column_put_planes(uint8_t *p, const uint64_t *values, size_t n, unsigned width);

/* The inverse of column_encode(): `cells` receives values from sample 0 on and, at -1, the carried
 * values of rows that have one (only for counters; for other types it is missing). -EBADMSG: the
 * bytes are invalid. */
int column_decode(struct cursor *in, const struct column_shape *shape, int64_t *cells);

#endif
