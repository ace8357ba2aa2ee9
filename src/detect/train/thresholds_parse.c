/* Reads the file of thresholds; docs/thresholds.md describes the format. */
#include "detect/train/thresholds.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/time.h"
#include "detect/compare/measure.h"
#include "detect/train/thresholds_form.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (UINT64_C(1) << 28) /* some millions of rows */
#define WORDS_A_LINE 4

/* Keys of the header. Each must occur once, except for the last one: it is missing if no service
 * times were learnt. */
enum { KEY_METHOD, KEY_SMOOTH, KEY_WIN_SIZE, KEY_WIN_SHIFT, KEY_K, KEY_STEP, KEY_SERVICE, N_KEYS };
static const char *const key_names[N_KEYS] = {
	"method", "smooth", "win-size", "win-shift", "k", "step", "service-method"};
#define N_KEYS_NEEDED KEY_SERVICE

struct parse {
	const char *name;
	unsigned long line;
	unsigned seen;	  /* bits of the keys */
	unsigned version; /* 0: not read yet */
	bool ended;
	char *method, *service;
	struct lp_params params;
	struct thresholds *thresholds; /* exists from the first row on */
	struct lp_err *err;
};

static void parse_release(struct parse *p)
{
	free(p->method);
	free(p->service);
	thresholds_free(p->thresholds);
}

/* Set an error: "oss.thr:12: " and a description. */
#define BAD(p, ...)                                                                                \
	(lp_err_set((p)->err, -EBADMSG, __VA_ARGS__),                                              \
		lp_err_prefix((p)->err, "%s:%lu", (p)->name, (p)->line), -EBADMSG)

static int hex_digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower((unsigned char)c) - 'a' + 10;
}

/* Decode the escape after a backslash at `*s`; '\0' if it is invalid. */
static char unescape(const char **s)
{
	char c = *(*s)++;

	if (c == 'x' && isxdigit((unsigned char)(*s)[0]) && isxdigit((unsigned char)(*s)[1])) {
		c = (char)(hex_digit((*s)[0]) * 16 + hex_digit((*s)[1]));
		*s += 2;
		return c;
	}
	return c == '"' || c == '\\' ? c : '\0';
}

/* Read a quoted word in place; `*s` is after the first quote. */
static bool unquote(const char **s, char *out)
{
	while (**s && **s != '"') {
		char c = *(*s)++;

		if (c == '\\')
			c = unescape(s);
		if (!c)
			return false;
		*out++ = c;
	}
	if (**s != '"')
		return false;
	++*s;
	*out = '\0';
	return !**s || isspace((unsigned char)**s);
}

/* Split a line in place. Returns the number of words (one too many if they do not fit), or
 * -EBADMSG. */
static int split(struct parse *p, char *line, char *words[WORDS_A_LINE])
{
	int n = 0;

	for (char *s = line;;) {
		char *word;

		while (isspace((unsigned char)*s))
			s++;
		if (!*s || *s == '#')
			return n;
		if (n == WORDS_A_LINE)
			return n + 1;
		word = s;
		if (*s == '"') {
			const char *rest = s + 1;

			if (!unquote(&rest, word))
				return BAD(p,
					"a word in quotes does not end, or has a bad "
					"backslash");
			s = line + (rest - line);
		} else {
			while (*s && !isspace((unsigned char)*s))
				s++;
		}
		if (*s)
			*s++ = '\0';
		words[n++] = word;
	}
}

static int take_version(struct parse *p, char *const *words, int n)
{
	if (n != 3 || strcmp(words[0], "limpet") || strcmp(words[1], "thresholds"))
		return BAD(p,
			"this is not a file of thresholds (its first line is 'limpet thresholds "
			"%d')",
			THRESHOLDS_VERSION_PLAIN);
	if (strspn(words[2], "0123456789") != strlen(words[2]) || *words[2] == '0')
		return BAD(p, "'%.64s' is not a version", words[2]);
	if (strlen(words[2]) > 1 || *words[2] > '0' + THRESHOLDS_VERSION)
		return BAD(p,
			"these thresholds are of version %.20s, and this limpet reads versions up "
			"to %d (take a newer limpet, or train again)",
			words[2], THRESHOLDS_VERSION);
	p->version = (unsigned)(*words[2] - '0');
	return 0;
}

static int take_number(struct parse *p, const char *key, const char *text, uint32_t *ret)
{
	unsigned long value = strtoul(text, NULL, 10);

	if (!*text || strspn(text, "0123456789") != strlen(text) || value < 1 ||
		value > THRESHOLDS_PARAM_MAX)
		return BAD(p, "%s: want a whole number from 1 to %d, not '%.64s'", key,
			THRESHOLDS_PARAM_MAX, text);
	*ret = (uint32_t)value;
	return 0;
}

static int take_step(struct parse *p, const char *text)
{
	struct lp_err err = {0};

	if (span_parse(text, &p->params.step_us, &err) < 0)
		return BAD(p, "step: %s", err.text);
	return p->params.step_us > 0 ? 0 : BAD(p, "step: a span of time must be longer than 0");
}

static int take_method(struct parse *p, const char *text)
{
	if (!measure_find(text))
		return BAD(p, "there is no method '%.64s' in this limpet", text);
	p->method = strdup(text);
	return p->method ? 0 : lp_err_sys(p->err, -ENOMEM, "cannot read %s", p->name);
}

static int take_service(struct parse *p, const char *text)
{
	p->service = strdup(text);
	return p->service ? 0 : lp_err_sys(p->err, -ENOMEM, "cannot read %s", p->name);
}

static int take_key(struct parse *p, const char *key, const char *value)
{
	unsigned i = 0;

	while (i < N_KEYS && strcmp(key_names[i], key))
		i++;
	if (i == N_KEYS)
		return BAD(p,
			"unknown key '%.64s' (a threshold is a line 'METRIC COMPONENT NUMBER')",
			key);
	if (p->seen & (1u << i))
		return BAD(p, "'%s' is given twice", key);
	if (p->thresholds)
		return BAD(p, "'%s' must come before the first threshold", key);
	p->seen |= 1u << i;
	switch (i) {
	case KEY_METHOD:
		return take_method(p, value);
	case KEY_SMOOTH:
		return take_number(p, key, value, &p->params.smooth);
	case KEY_WIN_SIZE:
		return take_number(p, key, value, &p->params.win_size);
	case KEY_WIN_SHIFT:
		return take_number(p, key, value, &p->params.win_shift);
	case KEY_K:
		return take_number(p, key, value, &p->params.k);
	case KEY_SERVICE:
		return take_service(p, value);
	default:
		return take_step(p, value);
	}
}

/* The header is complete: begin with the rows. */
static int begin_rows(struct parse *p)
{
	for (unsigned i = 0; i < N_KEYS_NEEDED; i++) {
		if (!(p->seen & (1u << i)))
			return BAD(p, "a line '%s ...' is missing before this one", key_names[i]);
	}
	if (p->params.win_shift > p->params.win_size)
		return BAD(p, "win-shift %u is more than win-size %u", p->params.win_shift,
			p->params.win_size);
	if (p->service && strcmp(p->service, "series") != 0 && strcmp(p->service, p->method) != 0)
		return BAD(p, "service-method: want 'series' or '%s', not '%.64s'", p->method,
			p->service);
	p->thresholds = thresholds_new(p->method, &p->params);
	if (!p->thresholds || (p->service && thresholds_set_service(p->thresholds, p->service) < 0))
		return lp_err_sys(p->err, -ENOMEM, "cannot read %s", p->name);
	return 0;
}

static int take_row(struct parse *p, char *const *words)
{
	double value;
	int r = p->thresholds ? 0 : begin_rows(p);

	if (r < 0)
		return r;
	if (!threshold_value_parse(words[2], &value))
		return BAD(p, "'%.64s' is not a threshold: want a number not below 0", words[2]);
	r = thresholds_add(p->thresholds, words[0], words[1], value);
	if (r == -EEXIST)
		return BAD(p, "%.64s of %.200s has a threshold already", words[0], words[1]);
	if (r == -EINVAL)
		return BAD(p, "a name is empty or longer than %d bytes", THRESHOLDS_NAME_MAX);
	return r < 0 ? lp_err_sys(p->err, r, "cannot read %s", p->name) : 0;
}

/* "normal server lgetxattr ENODATA" */
static int take_normal(struct parse *p, char *const *words)
{
	int r = p->thresholds ? 0 : begin_rows(p);

	if (r < 0)
		return r;
	if (p->version == THRESHOLDS_VERSION_PLAIN)
		return BAD(p, "'normal ...' is of version %d, and the file says that it is of %d",
			THRESHOLDS_VERSION_NORMAL, THRESHOLDS_VERSION_PLAIN);
	r = thresholds_add_normal(p->thresholds, words[1], words[2], words[3]);
	if (r == -EEXIST)
		return BAD(p, "'normal %.64s %.64s %.64s' is given twice", words[1], words[2],
			words[3]);
	if (r == -EINVAL)
		return BAD(p,
			"want 'normal server|client CALL ERRNO', as in 'normal server "
			"lgetxattr ENODATA'");
	return r < 0 ? lp_err_sys(p->err, r, "cannot read %s", p->name) : 0;
}

/* "worse lower bandwidth" */
static int take_worse(struct parse *p, char *const *words)
{
	struct lp_err err = {0};
	int r = p->thresholds ? 0 : begin_rows(p);

	if (r < 0)
		return r;
	if (p->version == THRESHOLDS_VERSION_PLAIN)
		return BAD(p, "'worse ...' is of version %d, and the file says that it is of %d",
			THRESHOLDS_VERSION_NORMAL, THRESHOLDS_VERSION_PLAIN);
	r = meanings_add(thresholds_meanings(p->thresholds), words[1], words[2], &err);
	return r < 0 ? BAD(p, "%s", err.text) : 0;
}

/* "weight samples glusterfsd:posix.so:posix_readv 2.5" */
static int take_weight(struct parse *p, char *const *words)
{
	double value;
	int r = p->thresholds ? 0 : begin_rows(p);

	if (r < 0)
		return r;
	if (p->version < THRESHOLDS_VERSION)
		return BAD(p, "'weight ...' is of version %d, and the file says that it is of %u",
			THRESHOLDS_VERSION, p->version);
	if (!threshold_value_parse(words[3], &value))
		return BAD(p, "'%.64s' is not a weight: want a number not below 0", words[3]);
	r = function_weights_add(thresholds_weights(p->thresholds), words[1], words[2], value);
	if (r == -EEXIST)
		return BAD(p, "%.64s of %.200s has a weight already", words[1], words[2]);
	if (r == -EINVAL)
		return BAD(p, "want 'weight METRIC FUNCTION NUMBER', and the number at most %g",
			FUNCTION_WEIGHT_MAX);
	return r < 0 ? lp_err_sys(p->err, r, "cannot read %s", p->name) : 0;
}

static int take_end(struct parse *p, const char *count)
{
	size_t n, n_normals;
	int r = p->thresholds ? 0 : begin_rows(p);

	if (r < 0)
		return r;
	thresholds_rows(p->thresholds, &n);
	thresholds_normals(p->thresholds, &n_normals);
	n += n_normals + thresholds_weighted(p->thresholds)->n;
	if (count && (strspn(count, "0123456789") != strlen(count) || strlen(count) > 12))
		return BAD(p, "'%.64s' is not a number of thresholds", count);
	if (count && strtoull(count, NULL, 10) != n)
		return BAD(p,
			"there should be %s thresholds and there are %zu (if you edited the file, "
			"omit the number after 'end')",
			count, n);
	p->ended = true;
	return 0;
}

static int take_line(struct parse *p, char *line)
{
	char *words[WORDS_A_LINE];
	int n = split(p, line, words);

	if (n <= 0)
		return n;
	if (!p->version)
		return take_version(p, words, n);
	if (p->ended)
		return BAD(p, "there is text after 'end'");
	if (n <= 2 && !strcmp(words[0], "end"))
		return take_end(p, n == 2 ? words[1] : NULL);
	if (n == 2)
		return take_key(p, words[0], words[1]);
	if (n == 3 && !strcmp(words[0], "worse") &&
		(!strcmp(words[1], "lower") || !strcmp(words[1], "higher")))
		return take_worse(p, words);
	if (n == 3)
		return take_row(p, words);
	if (n == 4 && !strcmp(words[0], "normal"))
		return take_normal(p, words);
	if (n == 4 && !strcmp(words[0], "weight"))
		return take_weight(p, words);
	return BAD(p, "want 'METRIC COMPONENT NUMBER' (names with spaces go in quotes)");
}

static int take_text(struct parse *p, const char *text, size_t len)
{
	_cleanup_free_ char *line = malloc(THRESHOLDS_LINE_MAX + 1);

	if (!line)
		return lp_err_sys(p->err, -ENOMEM, "cannot read %s", p->name);
	for (const char *end = text + len; text < end; text++) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);

		p->line++;
		if (n > THRESHOLDS_LINE_MAX)
			return BAD(p, "the line is longer than %d bytes", THRESHOLDS_LINE_MAX);
		if (memchr(text, '\0', n))
			return BAD(p, "the line has a NUL byte: this is not text");
		memcpy(line, text, n);
		line[n] = '\0';
		if (take_line(p, line) < 0)
			return p->err->code;
		text += n;
	}
	return 0;
}

int thresholds_parse(
	const char *text, size_t len, const char *name, struct thresholds **ret, struct lp_err *err)
{
	struct lp_err here = {0};
	_cleanup_(parse_release) struct parse p = {.name = name, .err = err ? err : &here};
	int r = take_text(&p, text, len);

	if (r < 0)
		return r;
	if (!p.version)
		return lp_err_set(err, -EBADMSG, "%s: the file is empty", name);
	if (!p.ended)
		return lp_err_set(err, -EBADMSG,
			"%s:%lu: the file is cut off: its last line is not 'end'", name, p.line);
	r = thresholds_finish(p.thresholds);
	if (r < 0)
		return lp_err_sys(err, r, "cannot read %s", name);
	*ret = TAKE_PTR(p.thresholds);
	return 0;
}

int thresholds_read(const char *path, struct thresholds **ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_slurp(path, FILE_MAX, &text, &len, err);

	return r < 0 ? r : thresholds_parse(text, len, path, ret, err);
}
