/* Makes the checksums of mutated frames right: they would stop nearly every mutation at the door.
 */
#ifndef FIX_FRAME_H
#define FIX_FRAME_H

#include "archive/frames.h"
#include "base/bytes.h"
#include "base/crc32c.h"

/* The checksums of the chunks of a data or log frame are in its head. */
static inline void fix_chunks(uint8_t *payload, uint32_t head_size, uint32_t payload_size)
{
	struct cursor in = {.p = payload, .end = payload + head_size};
	uint64_t n = cursor_varint(&in), at = head_size;

	for (uint64_t i = 0; i < n && !in.bad; i++) {
		uint64_t stored = cursor_varint(&in);
		uint8_t *crc;

		cursor_varint(&in);
		crc = (uint8_t *)cursor_bytes(&in, 4);
		if (!crc || stored > payload_size - at)
			return;
		put_u32(crc, crc32c(0, payload + at, stored));
		at += stored;
	}
}

/* Make the frame at `at` sound; returns where the next one begins. */
static inline size_t fix_frame(uint8_t *data, size_t size, size_t at)
{
	uint8_t *header = data + at, *payload = header + FRAME_HEADER_SIZE;
	size_t left = size - at - FRAME_HEADER_SIZE;
	uint32_t payload_size = get_u32(header + 8), head_size = get_u32(header + 12);

	if (payload_size > left)
		put_u32(header + 8, payload_size = (uint32_t)left);
	if (head_size > payload_size)
		put_u32(header + 12, head_size = payload_size);
	if (header[4] == FRAME_DATA || header[4] == FRAME_LOG)
		fix_chunks(payload, head_size, payload_size);
	put_u32(header + 16, crc32c(0, payload, head_size));
	put_u32(header + 40, crc32c(0, header, 40));
	return at + FRAME_HEADER_SIZE + payload_size;
}

#endif
