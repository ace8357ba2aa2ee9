#include "collect/procfile.h"

#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Large enough for a few hundred devices without growing. */
#define PROCFILE_CAP (64 * 1024)
#define PROCFILE_MAX (64 * 1024 * 1024)

static int procfile_connect(struct procfile *f, struct lp_err *err)
{
	char full[PATH_MAX];
	int fd;

	if (snprintf(full, sizeof(full), "%s%s", f->root->dir, f->path) >= (int)sizeof(full))
		return lp_err_set(
			err, -ENAMETOOLONG, "path too long: %s%.64s...", f->root->dir, f->path);
	fd = file_open_input(full, O_RDONLY, err);
	if (fd < 0)
		return fd;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = fd;
	f->generation = f->root->generation;
	return 0;
}

int procfile_open(
	struct procfile *f, const struct proc_root *root, const char *path, struct lp_err *err)
{
	int r;

	*f = (struct procfile){.fd = -1, .root = root, .path = path, .cap = PROCFILE_CAP};
	f->text = malloc(f->cap);
	if (!f->text)
		return lp_err_sys(err, -ENOMEM, "cannot open %s%s", root->dir, path);
	r = procfile_connect(f, err);
	if (r < 0)
		procfile_close(f);
	return r;
}

/* Double the buffer, because the file is larger than ever before. */
static int procfile_grow(struct procfile *f)
{
	char *grown;

	if (f->cap >= PROCFILE_MAX)
		return -EFBIG;
	grown = realloc(f->text, f->cap * 2);
	if (!grown)
		return -ENOMEM;
	f->text = grown;
	f->cap *= 2;
	return 0;
}

/* A read that ends this far before the end of a page has reached the end of the file: the kernel
 * fills a page until the next line does not fit, and no line is longer than the rest. (Files with
 * longer lines are returned in one piece.) Another read that returns 0 would cost as much as
 * reading a short file. */
#define PIECE_CERTAINLY_LAST 3072

static int procfile_fill(struct procfile *f, bool to_end)
{
	f->len = 0;
	for (;;) {
		ssize_t n = pread(f->fd, f->text + f->len, f->cap - 1 - f->len, (off_t)f->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		f->len += (size_t)n;
		if (n < PIECE_CERTAINLY_LAST && !to_end)
			break;
		if (f->len == f->cap - 1) {
			int r = procfile_grow(f);

			if (r < 0)
				return r;
		}
	}
	f->text[f->len] = '\0';
	return 0;
}

static int procfile_load(struct procfile *f, bool to_end, struct lp_err *err)
{
	int r = 0;

	if (f->generation != f->root->generation)
		r = procfile_connect(f, err);
	if (r == 0) {
		r = procfile_fill(f, to_end);
		if (r < 0)
			lp_err_sys(err, r, "cannot read %s%s", f->root->dir, f->path);
	}
	return r;
}

int procfile_read(struct procfile *f, struct lp_err *err)
{
	return procfile_load(f, false, err);
}

int procfile_read_records(struct procfile *f, struct lp_err *err)
{
	return procfile_load(f, true, err);
}

void procfile_close(struct procfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free(f->text);
	*f = (struct procfile){.fd = -1};
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* This many digits fit into 64 bits. */
#define DIGITS_SAFE 19

/* Parse a number that may be too large for 64 bits; then it is UINT64_MAX. */
static uint64_t scan_long(const char *s, const char *end)
{
	uint64_t value = 0;

	for (; s < end; s++) {
		if (__builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(*s - '0'), &value))
			return UINT64_MAX;
	}
	return value;
}

bool scan_u64(const char **p, uint64_t *ret)
{
	const char *s = skip_blanks(*p);
	uint64_t value = 0;

	const char *start = s;

	for (; *s >= '0' && *s <= '9'; s++)
		value = value * 10 + (uint64_t)(*s - '0');
	if (s == start)
		return false;
	if (s - start > DIGITS_SAFE)
		value = scan_long(start, s);
	*p = s;
	*ret = value;
	return true;
}

bool scan_word(const char **p, const char **ret_word, size_t *ret_len)
{
	const char *s = skip_blanks(*p);
	const char *start = s;

	while (*s && *s != ' ' && *s != '\t' && *s != '\n')
		s++;
	if (s == start)
		return false;
	*ret_word = start;
	*ret_len = (size_t)(s - start);
	*p = s;
	return true;
}

bool scan_line(const char **p)
{
	const char *end = strchrnul(*p, '\n');

	*p = *end ? end + 1 : end;
	return **p != '\0';
}
