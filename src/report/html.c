#include "report/html.h"

#include <stdint.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

/* How many bytes the character of UTF-8 at `p` has; 0: it is none. */
static size_t character_length(const unsigned char *p)
{
	size_t n = p[0] < 0x80 ? 1
		: p[0] < 0xc2  ? 0
		: p[0] < 0xe0  ? 2
		: p[0] < 0xf0  ? 3
		: p[0] < 0xf5  ? 4
			       : 0;
	uint32_t code = n == 2 ? p[0] & 0x1fu : n == 3 ? p[0] & 0x0fu : p[0] & 0x07u;

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3fu);
	}
	if (n == 3 && (code < 0x800 || (code >= 0xd800 && code < 0xe000)))
		return 0;
	return n == 4 && (code < 0x10000 || code > 0x10ffff) ? 0 : n;
}

/* What stands for a character; NULL: it stands for itself. */
static const char *replacement(const unsigned char *p, size_t len)
{
	if (len == 0 || (len == 2 && p[0] == 0xc2 && p[1] < 0xa0))
		return REPLACEMENT;
	switch (p[0]) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return p[0] < ' ' || p[0] == 0x7f ? REPLACEMENT : NULL;
	}
}

void html_write(FILE *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p) {
		size_t len = character_length(p);
		const char *instead = replacement(p, len);

		if (instead)
			fputs(instead, out);
		else
			fwrite(p, 1, len, out);
		p += len ? len : 1;
	}
}

void html_write_name(FILE *out, const char *name)
{
	fputs("<bdi class=\"name\">", out);
	html_write(out, name);
	fputs("</bdi>", out);
}
