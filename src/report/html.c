#include "report/html.h"

#include "base/safe_text.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* The replacement of a character; NULL: none. */
static const char *replacement(const char *p, bool safe)
{
	if (!safe)
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
		return NULL;
	}
}

void html_write(FILE *out, const char *text)
{
	while (*text) {
		bool safe;
		size_t len = safe_text_next(text, &safe);
		const char *instead = replacement(text, safe);

		if (instead)
			fputs(instead, out);
		else
			fwrite(text, 1, len, out);
		text += len;
	}
}

void html_write_name(FILE *out, const char *name)
{
	fputs("<bdi class=\"name\">", out);
	html_write(out, name);
	fputs("</bdi>", out);
}
