#include "report/html.h"

#include "base/safe_text.h"
#include "report/clock.h"
#include <stdbool.h>

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

/* Write one character; returns its length. */
static size_t write_character(FILE *out, const char *text)
{
	bool safe;
	size_t len = safe_text_next(text, &safe);
	const char *instead = replacement(text, safe);

	if (instead)
		fputs(instead, out);
	else
		fwrite(text, 1, len, out);
	return len;
}

void html_write(FILE *out, const char *text)
{
	while (*text)
		text += write_character(out, text);
}

void html_write_sentence(FILE *out, const char *text)
{
	bool between = true; /* words */

	while (*text) {
		size_t len = between ? clock_iso_length(text) : 0;

		between = *text == ' ' || *text == '(';
		if (len)
			fprintf(out, "<time>%.*s</time>", (int)len, text);
		text += len ? len : write_character(out, text);
	}
}

void html_write_name(FILE *out, const char *name)
{
	fputs("<bdi class=\"name\">", out);
	html_write(out, name);
	fputs("</bdi>", out);
}
