/* Writes the file of thresholds; docs/thresholds.md describes the format. */
#include "detect/train/thresholds.h"

#include "base/cleanup.h"
#include "base/output.h"
#include "base/strbuf.h"
#include "base/time.h"
#include "detect/train/thresholds_form.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHOLE_MAX 1e15

/* The shortest text that reads back as the same number. */
static void put_number(struct strbuf *sb, double value)
{
	char text[32];

	/* "80", not "8e+01". */
	if (value == floor(value) && fabs(value) < WHOLE_MAX) {
		strbuf_printf(sb, "%.0f", value);
		return;
	}
	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	strbuf_puts(sb, text);
}

static bool is_plain(const char *word)
{
	if (!*word || *word == '"' || *word == '#')
		return false;
	for (; *word; word++) {
		if (!isprint((unsigned char)*word) || *word == ' ')
			return false;
	}
	return true;
}

/* A word, in quotes if it needs them. */
static void put_word(struct strbuf *sb, const char *word)
{
	if (is_plain(word)) {
		strbuf_puts(sb, word);
		return;
	}
	strbuf_putc(sb, '"');
	for (; *word; word++) {
		unsigned char c = (unsigned char)*word;

		if (c == '"' || c == '\\')
			strbuf_printf(sb, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			strbuf_printf(sb, "\\x%02x", c);
		else
			strbuf_putc(sb, *word);
	}
	strbuf_putc(sb, '"');
}

/* The oldest version that can express the contents, so that older versions of limpet can read the
 * file. */
static int version_needed(const struct thresholds *t)
{
	size_t n_normals;

	thresholds_normals(t, &n_normals);
	if (thresholds_weighted(t)->n)
		return THRESHOLDS_VERSION;
	return n_normals || thresholds_meant(t)->n ? THRESHOLDS_VERSION_NORMAL
						   : THRESHOLDS_VERSION_PLAIN;
}

static void put_head(struct strbuf *sb, const struct thresholds *t)
{
	const struct lp_params *p = thresholds_params(t);

	strbuf_printf(sb, "limpet thresholds %d\n", version_needed(t));
	strbuf_puts(sb,
		"# Learnt by `limpet train`; for `limpet diagnose --thresholds FILE`. "
		"docs/thresholds.md\n# describes what may be edited, and how.\n");
	strbuf_puts(sb, "method ");
	put_word(sb, thresholds_method(t));
	if (thresholds_service(t)) {
		strbuf_puts(sb, "\nservice-method ");
		put_word(sb, thresholds_service(t));
	}
	strbuf_printf(sb,
		"\nsmooth %" PRIu32 "\nwin-size %" PRIu32 "\nwin-shift %" PRIu32 "\nk %" PRIu32
		"\nstep ",
		p->smooth, p->win_size, p->win_shift, p->k);
	put_number(sb, (double)p->step_us / US_PER_SEC);
	strbuf_puts(sb, "s\n");
}

/* Returns the number of lines. */
static size_t put_normals(struct strbuf *sb, const struct thresholds *t)
{
	size_t n;
	const struct threshold_normal *normals = thresholds_normals(t, &n);

	for (size_t i = 0; i < n; i++)
		strbuf_printf(sb, "%snormal  %s  %s  %s\n", i ? "" : "\n", normals[i].role,
			normals[i].call, normals[i].error);
	return n;
}

static void put_meanings(struct strbuf *sb, const struct meanings *m)
{
	for (unsigned i = 0; i < m->n; i++) {
		strbuf_printf(
			sb, "%sworse  %s  ", i ? "" : "\n", m->items[i].lower ? "lower" : "higher");
		put_word(sb, m->items[i].metric);
		strbuf_putc(sb, '\n');
	}
}

/* Returns the number of lines. */
static size_t put_weights(struct strbuf *sb, const struct function_weights *w)
{
	for (size_t i = 0; i < w->n; i++) {
		strbuf_puts(sb, i ? "weight  " : "\nweight  ");
		put_word(sb, w->items[i].metric);
		strbuf_puts(sb, "  ");
		put_word(sb, w->items[i].function);
		strbuf_puts(sb, "  ");
		put_number(sb, w->items[i].value);
		strbuf_putc(sb, '\n');
	}
	return w->n;
}

char *thresholds_text(const struct thresholds *t)
{
	_cleanup_(strbuf_release) struct strbuf sb = {0};
	const struct threshold_row *rows;
	size_t n;

	rows = thresholds_rows(t, &n);
	put_head(&sb, t);
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(rows[i].metric, rows[i - 1].metric))
			strbuf_putc(&sb, '\n');
		put_word(&sb, rows[i].metric);
		strbuf_puts(&sb, "  ");
		put_word(&sb, rows[i].component);
		strbuf_puts(&sb, "  ");
		put_number(&sb, rows[i].value);
		strbuf_putc(&sb, '\n');
	}
	n += put_normals(&sb, t);
	n += put_weights(&sb, thresholds_weighted(t));
	put_meanings(&sb, thresholds_meant(t));
	strbuf_printf(&sb, "\nend %zu\n", n);
	return strbuf_take(&sb);
}

static int write_all(int fd, const char *text)
{
	size_t left = strlen(text);

	while (left) {
		ssize_t n = write(fd, text, left);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int thresholds_write(const struct thresholds *t, const char *path, struct lp_err *err)
{
	_cleanup_(output_release) struct output out = {0};
	_cleanup_free_ char *text = thresholds_text(t);
	int r;

	if (!text)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", path);
	r = output_open(&out, path, err);
	if (r < 0)
		return r;
	r = write_all(out.fd, text);
	return r < 0 ? lp_err_sys(err, r, "cannot write %s", path) : output_commit(&out, path, err);
}
