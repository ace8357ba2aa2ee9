/* The payload of a data frame: encodes and decodes a batch, or some samples of it.
 *
 *     head      varint number of chunks; for each: varint stored bytes, varint raw bytes, u32 CRC
 *     chunk 0   the times and rows
 *     chunk 1.. one for each column of each kind, in order (dense); or, in a packed frame, each
 *               column follows in chunk 0 with a varint length before it
 *
 * A chunk is compressed with zstd if its stored and raw sizes differ.
 */
#ifndef ARCHIVE_DATA_H
#define ARCHIVE_DATA_H

#include "archive/chunks.h"
#include "base/strbuf.h"
#include <limpet/batch.h>

/* Some consecutive samples of a batch. */
struct data_slice {
	const struct lp_batch *batch;
	uint32_t first, n; /* samples first .. first+n-1; if `carry`, the one before is carried */
	bool carry;
};

struct data_encoder;
struct data_encoder *data_encoder_new(void);
void data_encoder_free(struct data_encoder *e);

/* Encode a slice into a whole frame (header and payload) that the encoder owns until the next call.
 * `catalogue` is that of the batch; `schema_map` and `id_map` translate its schemas and ids to
 * those of the file. `flags` may have FRAME_KEY and FRAME_PACKED; the other flags follow from the
 * slice.
 */
int data_encode(struct data_encoder *e, const struct data_slice *slice,
	const struct lp_catalogue *catalogue, const uint32_t *schema_map, const uint32_t *id_map,
	unsigned flags, const uint8_t **ret_frame, size_t *ret_size, struct frame *ret_header);

/* The number of cells that FRAME_CELLS_MAX limits: values, and the states of rows without
 * columns. */
static inline uint64_t data_cells(uint64_t n_rows, uint64_t n_columns, uint64_t n_samples)
{
	return n_rows * (n_columns ? n_columns : 1) * n_samples;
}

/* The number of samples of this batch that fit into a frame of `cells_max` cells; 0: not even
 * one. */
uint32_t data_samples_max(const struct lp_batch *batch, uint64_t cells_max);

/* The data that a reader selects from data frames, by the numbers of the file. */
struct data_want {
	const struct lp_catalogue *catalogue;
	const uint64_t (*columns)[LP_COLUMNS_MAX / 64]; /* [schema] bit mask; NULL for all */
	const uint8_t *components;			/* [id] 0: skip; NULL for all */
};

struct data_decoder;
struct data_decoder *data_decoder_new(void);
void data_decoder_free(struct data_decoder *d);

/* The number of rows that were left out so far because the catalogue does not have their component
 * (a catalogue frame was lost). */
unsigned long data_decoder_unknown_rows(const struct data_decoder *d);

/* Decode a frame into `*batch`, replacing it if it is too small. Reads only the selected chunks.
 * -EBADMSG: the bytes are damaged, and `err` says why.
 *
 * Frames that are not key frames continue the last decoded one. If that is not the previous frame
 * (because that was damaged or skipped), continued rows are marked LP_RELATIVE until the next key
 * frame: the growth of their counters is right, but their values are off by a constant. */
int data_decode(struct data_decoder *d, const struct frame *f, payload_read_fn read, void *read_ctx,
	const struct data_want *want, struct lp_batch **batch, struct lp_err *err);

/* The marks of a row in chunk 0. */
#define ROW_CARRIED 1u	 /* present in the sample before the first */
#define ROW_IRREGULAR 2u /* its states follow, one byte per sample */

#endif
