/* The payload of a log frame: encodes and decodes records with named fields (limpet/log.h).
 *
 *     head      the list of chunks (archive/chunks.h); string name of the log, varint first record
 *     chunk 0   varint number of fields; for each: string name, string unit, u8 type, string extra
 *     chunk 1.. one for each field, in order (dense); or, in a packed frame, each field follows in
 *               chunk 0 with a varint length before it
 *
 * A field:
 *
 *     coding u8 0: integers as a column of one row (archive/column.h); 1: by a dictionary
 *     entries   varint number; integers: a zigzag each; texts: a varint length each, then the bytes
 *     width u8  0..4 bytes of an index into them
 *     planes    `width` planes of (records) bytes, low bytes first
 */
#ifndef ARCHIVE_LOG_H
#define ARCHIVE_LOG_H

#include "archive/chunks.h"
#include <limpet/log.h>

#define LOG_NAME_MAX 255
/* The maximum size of all texts in a frame; each counts once. */
#define LOG_TEXT_MAX (UINT64_C(1) << 27)

/* The maximum number of logs in a file; currently there are three. */
#define LOG_LOGS_MAX 64

enum log_coding { LOG_COLUMN = 0, LOG_DICTIONARY = 1 };

struct log_encoder;
struct log_encoder *log_encoder_new(void);
void log_encoder_free(struct log_encoder *e);

/* Encode records into a whole frame (header and payload) that the encoder owns until the next call.
 * -EINVAL, -E2BIG: they do not fit into a frame. */
int log_encode(struct log_encoder *e, const struct lp_log *log, enum lp_archive_density density,
	const uint8_t **ret_frame, size_t *ret_size, struct frame *ret_header, struct lp_err *err);

/* The range of records in a frame, from its head. */
struct log_place {
	char name[LOG_NAME_MAX + 1];
	uint64_t first_record;
	/* Set by reader_log_places(): the number of the frame in the file, and its time. */
	size_t frame;
	int64_t first_us, last_us;
};

struct log_decoder;
struct log_decoder *log_decoder_new(void);
void log_decoder_free(struct log_decoder *d);

int log_locate(struct log_decoder *d, const struct frame *f, payload_read_fn read, void *read_ctx,
	struct log_place *ret, struct lp_err *err);

/* Decode a frame. The decoder owns everything that `*ret` points to; it is valid until the next
 * call. Fields of unknown types are left out. -EBADMSG: the bytes are damaged, and `err` says
 * why. */
int log_decode(struct log_decoder *d, const struct frame *f, payload_read_fn read, void *read_ctx,
	struct lp_log *ret, struct lp_err *err);

/* Collects records of one log until they fill a dense frame. */
struct log_merge;
struct log_merge *log_merge_new(struct lp_archive_writer *to); /* not owned */
void log_merge_free(struct log_merge *m);
int log_merge_add(struct log_merge *m, const struct lp_log *log, struct lp_err *err);
int log_merge_flush(struct log_merge *m, struct lp_err *err);

/* The number of records with `n_fields` fields that fit into a frame. */
static inline uint32_t log_records_max(uint32_t n_fields)
{
	uint64_t max = FRAME_CELLS_MAX / (n_fields ? n_fields : 1);

	return max < LP_LOG_RECORDS_MAX ? (uint32_t)max : LP_LOG_RECORDS_MAX;
}

#endif
