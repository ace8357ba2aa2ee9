/* The payload of a data or log frame: a head that lists chunks, and the chunks, each compressed and
 * with its own checksum.
 *
 *     head      varint number of chunks; for each: varint stored bytes, varint raw bytes, u32 CRC;
 *               after the list, data of the type of frame
 *     chunks    in that order, without gaps
 *
 * A chunk is compressed with zstd if its stored and raw sizes differ.
 */
#ifndef ARCHIVE_CHUNKS_H
#define ARCHIVE_CHUNKS_H

#include "archive/frames.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include <zstd.h>

/* Loose frames are written all the time and rewritten once, so they are compressed cheaply. Dense
 * frames stay, so they should be small. */
#define LEVEL_PACKED 1
#define LEVEL_DENSE 9

void put_varint(struct strbuf *sb, uint64_t v);
void put_string(struct strbuf *sb, const char *s); /* a varint length and the bytes */

/* Assembles a frame. */
struct chunk_writer {
	struct strbuf raw;   /* the current chunk: append to it */
	struct strbuf tail;  /* the part of the head after the list: append to it */
	struct strbuf frame; /* the result */
	struct strbuf head, chunks;
	uint32_t n;
	ZSTD_CCtx *zstd;
	size_t room; /* frames up to this size need no more memory */
	int level;
};

int chunk_writer_init(struct chunk_writer *w); /* 0 or -ENOMEM */
void chunk_writer_release(struct chunk_writer *w);

/* Begin a frame. */
void chunk_writer_begin(struct chunk_writer *w, int level);

/* Compress `raw` as the next chunk, or store it if compression does not make it smaller. -EFBIG:
 * too large for a chunk. */
int chunk_writer_end_chunk(struct chunk_writer *w);

/* Frames may have to be written in a loop that must not allocate. Buffers and zstd's work space
 * grow with the frame. If `raw` is larger than ever before, reserve 1.5 times its size, also in
 * `more`. Call it before the chunk ends. */
int chunk_writer_make_room(struct chunk_writer *w, struct strbuf *more);

/* Combine head and chunks to one frame, `w->frame`; fill in sizes and checksum in `*f`. */
int chunk_writer_finish(struct chunk_writer *w, struct frame *f);

/* Reads `size` bytes at `offset` of a frame's payload into `buf`; 0 or a negative errno. */
typedef int (*payload_read_fn)(void *ctx, uint64_t offset, void *buf, size_t size);

/* For a payload that is in memory (`ctx`). */
int payload_read_memory(void *ctx, uint64_t offset, void *buf, size_t size);

struct chunk {
	uint64_t offset; /* in the payload */
	uint32_t stored, raw, crc;
};

/* Parses a frame. Zero-initialise it. */
struct chunk_reader {
	struct strbuf head, stored;
	struct chunk *items;
	size_t n, cap;
};

void chunk_reader_release(struct chunk_reader *r);

/* Read the head of a frame and its list; `*ret_tail` covers the rest of the head, and is valid
 * until the next call. -EBADMSG: it is damaged. */
int chunk_reader_begin(struct chunk_reader *r, const struct frame *f, payload_read_fn read,
	void *read_ctx, struct cursor *ret_tail, struct lp_err *err);

/* Read, verify and decompress chunk `i` into `out`; `*ret` is a cursor over it. */
int chunk_reader_load(struct chunk_reader *r, size_t i, struct strbuf *out, payload_read_fn read,
	void *read_ctx, struct cursor *ret, struct lp_err *err);

/* The size of all chunks of such a payload when decompressed, according to its head. */
uint64_t chunks_raw_size(const struct frame *f, const uint8_t *payload);

/* Are the checksums of all chunks right? The head of the payload must be intact. */
bool chunks_sound(const struct frame *f, const uint8_t *payload);

#endif
