#include "report/flow.h"

#include "base/array.h"
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

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* "7", "12.5", "(133", "(+-2" */
static bool is_number(const char *text, size_t len)
{
	static const char *const before[] = {"(", "+-", "±"};

	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		size_t n = strlen(before[i]);

		if (len > n && !memcmp(text, before[i], n)) {
			text += n;
			len -= n;
		}
	}
	return len && digits(text) && strspn(text, "0123456789.") == len;
}

/* "min", "MB/s)": a unit, and perhaps punctuation. */
static bool is_unit(const char *text, size_t len)
{
	static const char *const units[] = {"s", "ms", "us", "ns", "min", "h", "days", "B", "kB",
		"MB", "GB", "TB", "PB", "B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
	size_t bare = strcspn(text, " ,;:.)");

	for (size_t i = 0; bare <= len && i < ARRAY_SIZE(units); i++) {
		if (strlen(units[i]) == bare && !memcmp(units[i], text, bare))
			return true;
	}
	return false;
}

/* "2026-11-15" */
static bool is_date(const char *text, size_t len)
{
	return len == 10 && digits(text) == 4 && text[4] == '-' && text[7] == '-';
}

/* "12:34", "12:34:21," */
static bool is_clock(const char *text, size_t len)
{
	return len >= 5 && digits(text) == 2 && text[2] == ':';
}

/* "UTC", "CEST." */
static bool is_zone(const char *text, size_t len)
{
	size_t capitals = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return capitals >= 2 && capitals <= 5 && strspn(text + capitals, ",;:.)") + capitals == len;
}

/* Does a break between these two words make a text hard to read? */
static bool is_one(const char *word, size_t len, const char *next, size_t next_len)
{
	return (is_number(word, len) && is_unit(next, next_len)) ||
		(is_date(word, len) && is_clock(next, next_len)) ||
		(is_clock(word, len) && is_zone(next, next_len));
}

/* The length of the text up to where a line may be broken. */
static size_t piece_length(const char *text)
{
	size_t len = strcspn(text, " "), last = 0;

	while (text[len] == ' ') {
		size_t next_len = strcspn(text + len + 1, " ");

		if (!next_len || !is_one(text + last, len - last, text + len + 1, next_len))
			break;
		last = len + 1;
		len = last + next_len;
	}
	return len;
}

void flow_add(struct flow *f, const char *text)
{
	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		size_t len = piece_length(text);

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
