#include "import/csv_parse.h"

#include "base/array.h"
#include "import/unpack.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_SIZE ((size_t)128 * 1024)

/* Forms of CSV that limpet does not read. */
static const struct {
	const char *magic;
	size_t len;
	const char *what, *command;
} wrappings[] = {
	{"PK\x03\x04", 4, "a zip archive", "unzip"},
	{"\xff\xfe", 2, "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
	{"\xfe\xff", 2, "UTF-16 text", "iconv -f UTF-16 -t UTF-8"},
};

/* Read more data into the buffer; sets `eof` if there is none. */
static int reader_fill(struct csv_reader *r)
{
	ssize_t n;

	if (r->start) {
		memmove(r->buf, r->buf + r->start, r->end - r->start);
		r->offset += r->start;
		r->end -= r->start;
		r->start = 0;
	}
	if (r->end == r->cap) {
		char *grown = realloc(r->buf, r->cap * 2 + 1);

		if (!grown)
			return -ENOMEM;
		r->buf = grown;
		r->cap *= 2;
	}
	do
		n = read(r->fd, r->buf + r->end, r->cap - r->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	r->eof = n == 0;
	r->has_nul |= memchr(r->buf + r->end, '\0', (size_t)n) != NULL;
	r->end += (size_t)n;
	r->buf[r->end] = '\n'; /* a sentinel: loops need not check for the end */
	return 0;
}

/* Skip to the next line, without keeping the skipped bytes. */
static int reader_skip_line(struct csv_reader *r)
{
	for (;;) {
		char *from = r->buf + r->start;
		char *newline = memchr(from, '\n', r->end - r->start);
		int n;

		if (newline) {
			r->start += (size_t)(newline - from) + 1;
			r->next_line++;
			return 0;
		}
		r->start = r->end;
		if (r->eof)
			return 0;
		n = reader_fill(r);
		if (n < 0)
			return n;
	}
}

static int reader_refuse(const char *path, const char *what, const char *format,
	const char *command, struct lp_err *err)
{
	return lp_err_set(err, -EINVAL, "%s is %s%s: unpack it first with: %s %s", path, what,
		format, command, path);
}

/* A first line "sep=;" names the separator. Exports for Excel have it. */
static void reader_take_declaration(struct csv_reader *r)
{
	static const char *const lines[] = {"sep=,", "sep=;", "sep=|", "sep=\t"};
	const char *p = r->buf + r->start;
	const char *end = memchr(p, '\n', r->end - r->start);
	size_t len = end ? (size_t)(end - p) : 0;

	if (len && p[len - 1] == '\r')
		len--;
	for (size_t i = 0; len == strlen(lines[0]) && i < ARRAY_SIZE(lines); i++) {
		if (memcmp(p, lines[i], len) != 0)
			continue;
		r->separator = lines[i][len - 1];
		r->declared = true;
		r->start += (size_t)(end + 1 - p);
		r->next_line++;
		return;
	}
}

static int reader_begin(struct csv_reader *r, const char *path, struct lp_err *err)
{
	const struct unpack_format *format;
	int n = 0;

	while (n == 0 && !r->eof && r->end < 16)
		n = reader_fill(r);
	if (n < 0)
		return lp_err_sys(err, n, "cannot read %s", path);
	format = unpack_format_of(r->buf, r->end);
	if (format)
		return reader_refuse(path, "compressed with ", format->name, format->command, err);
	for (size_t i = 0; i < ARRAY_SIZE(wrappings); i++) {
		if (r->end >= wrappings[i].len &&
			!memcmp(r->buf, wrappings[i].magic, wrappings[i].len))
			return reader_refuse(
				path, wrappings[i].what, "", wrappings[i].command, err);
	}
	if (r->end >= 3 && !memcmp(r->buf, "\xef\xbb\xbf", 3))
		r->start = 3;
	reader_take_declaration(r);
	return 0;
}

int csv_reader_open(struct csv_reader *r, const char *path, struct lp_err *err)
{
	int n;

	*r = (struct csv_reader){.cap = BUFFER_SIZE, .separator = ',', .next_line = 1};
	r->fd = unpack_open(path, &r->damage, err);
	if (r->fd < 0)
		return r->fd;
	r->buf = malloc(r->cap + 1);
	n = r->buf ? reader_begin(r, path, err) : lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	if (n < 0)
		csv_reader_close(r);
	return n;
}

void csv_reader_close(struct csv_reader *r)
{
	if (r->fd >= 0)
		close(r->fd);
	free(r->buf);
	free(r->fields);
	*r = (struct csv_reader){.fd = -1};
}

/* The separator that occurs most often outside of quotes in text[0..len). */
static char most_used_separator(const char *text, size_t len)
{
	static const char candidates[] = {',', ';', '\t'};
	size_t counts[ARRAY_SIZE(candidates)] = {0}, best = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		quoted ^= text[i] == '"';
		for (size_t c = 0; !quoted && c < ARRAY_SIZE(candidates); c++)
			counts[c] += text[i] == candidates[c];
	}
	for (size_t c = 1; c < ARRAY_SIZE(candidates); c++) {
		if (counts[c] > counts[best])
			best = c;
	}
	return candidates[best];
}

int csv_reader_detect(struct csv_reader *r, struct lp_err *err)
{
	while (!r->declared) {
		char *from = r->buf + r->start;
		char *newline = memchr(from, '\n', r->end - r->start);
		int n;

		if (newline && (*from == '#' || *from == '\r' || newline == from)) {
			n = reader_skip_line(r);
		} else if (newline || r->eof || r->end - r->start >= CSV_ROW_MAX) {
			r->separator = most_used_separator(
				from, newline ? (size_t)(newline - from) : r->end - r->start);
			return 0;
		} else {
			n = reader_fill(r);
		}
		if (n < 0)
			return lp_err_sys(err, n, "cannot read");
	}
	return 0;
}

enum scan_result { SCAN_ROW, SCAN_MORE, SCAN_BAD };

/* Scan a quoted field; `p` is at the opening quote. Returns the place after the closing quote and
 * blanks, or NULL if `end` comes first. */
static char *scan_quoted(char *p, const char *end, struct csv_field *field, uint64_t *lines)
{
	field->text = ++p;
	field->doubled = false;
	for (;; p++) {
		if (*p == '\n') {
			if (p >= end)
				return NULL;
			++*lines;
		} else if (*p == '"') {
			if (p[1] != '"' || p + 1 >= end)
				break;
			field->doubled = true;
			p++;
		}
	}
	field->len = (size_t)(p - field->text);
	do
		p++;
	while (*p == ' ' || (*p == '\r' && p[1] == '\n'));
	return p;
}

/* Scan a field without quotes; `p` is at its first character. Returns the place after it. */
static inline char *scan_plain(char *p, char separator, struct csv_field *field)
{
	char *last;

	field->text = p;
	field->doubled = false;
	while (*p != separator && *p != '\n')
		p++;
	last = p;
	while (last > field->text && (last[-1] == ' ' || last[-1] == '\r'))
		last--;
	field->len = (size_t)(last - field->text);
	return p;
}

/* Split the row at `start`; `*ret_next` is the place after it. */
static enum scan_result scan_row(struct csv_reader *r, char **ret_next, uint64_t *ret_lines)
{
	char *p = r->buf + r->start, *end = r->buf + r->end;
	size_t n = 0;

	for (*ret_lines = 1;; p++) {
		if (n == r->cap_fields &&
			(n >= CSV_FIELDS_MAX ||
				array_reserve(&r->fields, &r->cap_fields, n + 1,
					sizeof(*r->fields)) < 0)) {
			r->fault = "more fields than the 16384 that a row may have";
			return SCAN_BAD;
		}
		while (*p == ' ')
			p++;
		if (*p == '"')
			p = scan_quoted(p, end, &r->fields[n++], ret_lines);
		else
			p = scan_plain(p, r->separator, &r->fields[n++]);
		if ((!p || p >= end) && !r->eof)
			return SCAN_MORE;
		if (!p) {
			r->fault = "a quote is opened and never closed";
			return SCAN_BAD;
		}
		if (*p == '\n')
			break;
		if (*p != r->separator) {
			r->fault = "text follows a closing quote";
			return SCAN_BAD;
		}
	}
	r->n_fields = n;
	*ret_next = p < end ? p + 1 : end;
	return SCAN_ROW;
}

/* Replace `""` by `"` in all fields that need it. */
static void row_undouble(struct csv_reader *r)
{
	for (size_t i = 0; i < r->n_fields; i++) {
		struct csv_field *f = &r->fields[i];
		size_t len = 0;

		for (size_t k = 0; f->doubled && k < f->len; k++) {
			f->text[len++] = f->text[k];
			k += f->text[k] == '"';
		}
		if (f->doubled)
			f->len = len;
	}
}

/* A row that holds a NUL byte is not text, whatever it looks like. */
static bool row_has_nul(struct csv_reader *r, const char *next)
{
	const char *from = r->buf + r->start;
	const char *nul = memchr(from, '\0', (size_t)(next - from));

	if (!nul)
		return false;
	r->nul = r->offset + r->start + (uint64_t)(nul - from) + 1;
	r->fault = "not text";
	return true;
}

/* Use the row that ends before `next`. If it is bad, its first line is skipped when the next row is
 * read, not now: the caller may give up on a file of gigabytes. 1, or 0 if the row is empty. */
static int row_finish(
	struct csv_reader *r, enum scan_result result, const char *next, uint64_t lines)
{
	if (result == SCAN_BAD || (r->has_nul && row_has_nul(r, next))) {
		r->n_fields = 0;
		r->skip = true;
		return 1;
	}
	r->start = (size_t)(next - r->buf);
	r->next_line += lines;
	row_undouble(r);
	return r->n_fields > 1 || r->fields[0].len > 0;
}

/* Read more data, because the row is incomplete. 0, or 1 with a fault if it is too long. */
static int row_extend(struct csv_reader *r)
{
	if (r->end - r->start < CSV_ROW_MAX)
		return reader_fill(r);
	r->fault = "longer than 1 MiB (is a quote not closed?)";
	if (r->has_nul)
		row_has_nul(r, r->buf + r->end);
	return row_finish(r, SCAN_BAD, NULL, 0);
}

int csv_reader_next(struct csv_reader *r, struct lp_err *err)
{
	int n = 0;

	while (n == 0) {
		enum scan_result result;
		uint64_t lines;
		char *next = NULL;

		r->fault = NULL;
		r->nul = 0;
		if (r->skip) {
			r->skip = false;
			n = reader_skip_line(r);
			continue;
		}
		r->line = r->next_line;
		if (r->start == r->end) {
			if (r->eof)
				return 0;
			n = reader_fill(r);
			continue;
		}
		if (r->buf[r->start] == '#') {
			n = reader_skip_line(r);
			continue;
		}
		result = scan_row(r, &next, &lines);
		n = result == SCAN_MORE ? row_extend(r) : row_finish(r, result, next, lines);
	}
	return n < 0 ? lp_err_sys(err, n, "cannot read") : n;
}
