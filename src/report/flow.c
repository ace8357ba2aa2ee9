#include "report/flow.h"

#include "base/cleanup.h"
#include "base/safe_text.h"
#include <stdarg.h>
#include <string.h>

static void print_bytes(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		bool safe;
		size_t n = safe_text_next(text + i, &safe);

		if (safe)
			fwrite(text + i, 1, n, out);
		else
			fputc('?', out);
		i += n;
	}
}

void flow_print_safe(FILE *out, const char *text)
{
	print_bytes(out, text, strlen(text));
}

/* The formatted text, which the caller frees; NULL: out of memory. */
__attribute__((format(printf, 1, 0))) static char *formatted(const char *fmt, va_list ap)
{
	char *text;

	return vasprintf(&text, fmt, ap) < 0 ? NULL : text;
}

void flow_print_line(FILE *out, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (text)
		flow_print_safe(out, text);
	fputc('\n', out);
}

static size_t width_of(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

size_t flow_text_width(const char *text)
{
	return width_of(text, strlen(text));
}

static void add_word(struct flow *f, const char *word, size_t len)
{
	size_t width = width_of(word, len);

	if (f->column > f->indent && f->column + 1 + width > f->width)
		flow_end(f);
	if (f->column > f->indent) {
		fputc(' ', f->out);
		f->column++;
	}
	for (; f->column < f->indent; f->column++)
		fputc(' ', f->out);
	print_bytes(f->out, word, len);
	f->column += width;
}

void flow_add(struct flow *f, const char *text)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t len = strcspn(text, " ");

		add_word(f, text, len);
		text += len;
	}
}

void flow_addf(struct flow *f, const char *fmt, ...)
{
	_cleanup_free_ char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = formatted(fmt, ap);
	va_end(ap);
	if (text)
		flow_add(f, text);
}

void flow_end(struct flow *f)
{
	if (f->column)
		fputc('\n', f->out);
	f->column = 0;
}
