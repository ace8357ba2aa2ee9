#include "report/flow.h"

#include "base/cleanup.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

/* One character that may be part of UTF-8: how many bytes of it are a control character. The
 * second block of controls, U+0080 to U+009F, steers some terminals as the first one does. */
static size_t control_length(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;

	if (iscntrl(u[0]))
		return 1;
	return u[0] == 0xc2 && u[1] >= 0x80 && u[1] <= 0x9f ? 2 : 0;
}

static void print_bytes(FILE *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		size_t control = control_length(text + i);

		fputc(control ? '?' : text[i], out);
		i += control > 1;
	}
}

void flow_print_safe(FILE *out, const char *text)
{
	print_bytes(out, text, strlen(text));
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
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r >= 0)
		flow_add(f, text);
}

void flow_end(struct flow *f)
{
	if (f->column)
		fputc('\n', f->out);
	f->column = 0;
}
