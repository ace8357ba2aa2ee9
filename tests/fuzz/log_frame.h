/* Log frames from any bytes, with checksums that are right: those would stop nearly every mutation
 * at the door.
 *
 *     u8   bit 0: dense; bits 1, 2: which log
 *     u16  number of records
 *     dense: for each chunk u16 length and its bytes; else the rest is chunk 0
 */
#ifndef FUZZ_LOG_FRAME_H
#define FUZZ_LOG_FRAME_H

#include "archive/chunks.h"

#define LOG_FRAME_RECORDS 256 /* fewer, so that an execution is quick */

/* Put the frame together in w->frame; false: the bytes are too few. */
static inline bool log_frame_build(struct chunk_writer *w, const uint8_t *data, size_t size,
	uint64_t first_record, struct frame *ret)
{
	static const char *const names[] = {"syscalls", "descriptors", "syscalls", "x"};
	struct cursor in = {.p = data, .end = data + size};
	uint8_t how = cursor_u8(&in);
	const uint8_t *count = cursor_bytes(&in, 2);
	struct frame f = {.type = FRAME_LOG, .flags = how & 1 ? 0 : FRAME_PACKED};

	if (in.bad)
		return false;
	f.n_samples = get_u16(count) % LOG_FRAME_RECORDS;
	chunk_writer_begin(w, 1);
	put_string(&w->tail, names[how >> 1 & 3]);
	put_varint(&w->tail, first_record);
	do {
		size_t left = (size_t)(in.end - in.p), len = left;

		if (how & 1 && left >= 2) {
			len = get_u16(cursor_bytes(&in, 2));
			len = len < left - 2 ? len : left - 2;
		}
		strbuf_add(&w->raw, cursor_bytes(&in, len), len);
		if (chunk_writer_end_chunk(w) < 0)
			return false;
	} while (in.p < in.end);
	*ret = f;
	return chunk_writer_finish(w, ret) == 0;
}

#endif
