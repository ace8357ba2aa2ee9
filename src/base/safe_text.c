#include "base/safe_text.h"

#include "base/array.h"
#include <stdint.h>
#include <string.h>

static const struct {
	uint32_t first, last;
} unsafe[] = {
	{0x0000, 0x001f},		    /* control characters */
	{0x007f, 0x009f}, {0x00ad, 0x00ad}, /* the soft hyphen, invisible */
	{0x061c, 0x061c}, /* marks and overrides of direction, and characters without a width */
	{0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfe00, 0xfe0f},
	{0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff}, /* tags */
};

/* Decode the UTF-8 character at `p`, which is NUL-terminated. Returns its length; 0: invalid. */
static size_t decode(const unsigned char *p, uint32_t *ret_code)
{
	size_t n = p[0] < 0x80 ? 1
		: p[0] < 0xc2  ? 0
		: p[0] < 0xe0  ? 2
		: p[0] < 0xf0  ? 3
		: p[0] < 0xf5  ? 4
			       : 0;
	uint32_t code = n == 1 ? p[0]
		: n == 2       ? p[0] & 0x1fu
		: n == 3       ? p[0] & 0x0fu
			       : p[0] & 0x07u;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	*ret_code = code;
	if (n == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return n == 4 && (code < 0x10000 || code > 0x10ffff) ? 0 : n;
}

size_t safe_text_next(const char *text, bool *ret_safe)
{
	uint32_t code = 0;
	size_t n = decode((const unsigned char *)text, &code);

	*ret_safe = n > 0;
	for (size_t i = 0; n && i < ARRAY_SIZE(unsafe); i++) {
		if (code >= unsafe[i].first && code <= unsafe[i].last)
			*ret_safe = false;
	}
	return n ? n : 1;
}

bool safe_text_is(const char *text)
{
	bool safe = true;

	while (*text && safe)
		text += safe_text_next(text, &safe);
	return safe;
}

void safe_text_make(char *text)
{
	char *to = text;

	while (*text) {
		bool safe;
		size_t n = safe_text_next(text, &safe);

		if (safe) {
			memmove(to, text, n);
			to += n;
		} else {
			*to++ = '?';
		}
		text += n;
	}
	*to = '\0';
}
