#include "base/bytes.h"

const uint8_t *cursor_bytes(struct cursor *c, size_t len)
{
	const uint8_t *p = c->p;

	if (c->bad || len > (size_t)(c->end - c->p)) {
		c->bad = true;
		return NULL;
	}
	c->p += len;
	return p;
}

uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);

	return p ? get_u32(p) : 0;
}

uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);

	return p ? get_u64(p) : 0;
}

uint64_t cursor_varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift == 63 && byte > 1)
			break; /* more than 64 bits */
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return c->bad ? 0 : v;
	}
	c->bad = true;
	return 0;
}

size_t cursor_string(struct cursor *c, const char **ret)
{
	uint64_t len = cursor_varint(c);
	const uint8_t *p = cursor_bytes(c, len > SIZE_MAX ? SIZE_MAX : (size_t)len);

	*ret = (const char *)p;
	return p ? (size_t)len : 0;
}

uint8_t *write_varint(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}
