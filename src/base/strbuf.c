#include "base/strbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void strbuf_release(struct strbuf *sb)
{
	free(sb->text);
	*sb = (struct strbuf){0};
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->failed = false;
	if (sb->text)
		sb->text[0] = '\0';
}

/* Make room for `more` bytes and the NUL; false (and sets `failed`) if memory runs out. */
static bool strbuf_grow(struct strbuf *sb, size_t more)
{
	size_t need = sb->len + more + 1;
	size_t cap = sb->cap ? sb->cap : 64;
	char *text;

	if (sb->failed)
		return false;
	if (need <= sb->cap)
		return true;
	while (cap < need)
		cap *= 2;
	text = realloc(sb->text, cap);
	if (!text) {
		sb->failed = true;
		return false;
	}
	sb->text = text;
	sb->cap = cap;
	return true;
}

void strbuf_reserve(struct strbuf *sb, size_t more)
{
	strbuf_grow(sb, more);
}

void strbuf_add(struct strbuf *sb, const void *data, size_t len)
{
	if (!len || !strbuf_grow(sb, len))
		return;
	memcpy(sb->text + sb->len, data, len);
	sb->len += len;
	sb->text[sb->len] = '\0';
}

void strbuf_puts(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_putc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_printf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap, again;
	int len;

	va_start(ap, fmt);
	va_copy(again, ap);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len > 0 && strbuf_grow(sb, (size_t)len)) {
		vsnprintf(sb->text + sb->len, (size_t)len + 1, fmt, again);
		sb->len += (size_t)len;
	}
	va_end(again);
}

char *strbuf_take(struct strbuf *sb)
{
	char *text = sb->text;

	if (sb->failed) {
		strbuf_release(sb);
		return NULL;
	}
	if (!text)
		text = strdup("");
	*sb = (struct strbuf){0};
	return text;
}
