/* Little-endian numbers in byte buffers, and a cursor that never reads past its end. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void put_u16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_u32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void put_u64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

static inline uint16_t get_u16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

static inline uint32_t get_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t get_u64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

/* Small signed numbers become small unsigned ones: 0, -1, 1, -2 -> 0, 1, 2, 3. */
static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* Reads from [p, end). The first read past the end sets `bad`; from then on all reads return 0. */
struct cursor {
	const uint8_t *p, *end;
	bool bad;
};

const uint8_t *cursor_bytes(struct cursor *c, size_t len); /* NULL if there are fewer */
uint8_t cursor_u8(struct cursor *c);
uint32_t cursor_u32(struct cursor *c);
uint64_t cursor_u64(struct cursor *c);
uint64_t cursor_varint(struct cursor *c); /* LEB128 */
/* A varint length and that number of bytes; `*ret` points into the buffer and is not
 * NUL-terminated. */
size_t cursor_string(struct cursor *c, const char **ret);

/* Write to a buffer that is large enough; each returns the next byte. */
uint8_t *write_varint(uint8_t *p, uint64_t v); /* at most 10 bytes */

#endif
