#include "collect/sysattr.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ROOT and the formatted path; false if that is too long for any file. */
__attribute__((format(printf, 3, 0))) static bool sysattr_path(
	const struct proc_root *root, char path[PATH_MAX], const char *fmt, va_list args)
{
	size_t len = strlen(root->dir);
	int n;

	if (len >= PATH_MAX)
		return false;
	memcpy(path, root->dir, len);
	n = vsnprintf(path + len, PATH_MAX - len, fmt, args);
	return n >= 0 && (size_t)n < PATH_MAX - len;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Turn a line into one word, in place. */
static size_t sysattr_squeeze(char *text)
{
	size_t n = 0;

	for (const char *p = text; *p && *p != '\n'; p++) {
		if (!is_blank(*p))
			text[n++] = *p;
		else if (n > 0 && !is_blank(p[1]) && p[1] != '\n' && p[1])
			text[n++] = '_';
	}
	text[n] = '\0';
	return n;
}

bool sysattr_read(const struct proc_root *root, char buf[SYSATTR_MAX], const char *fmt, ...)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	va_list args;
	ssize_t n;
	bool ok;

	va_start(args, fmt);
	ok = sysattr_path(root, path, fmt, args);
	va_end(args);
	if (!ok)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	n = file_pread_full(fd, buf, SYSATTR_MAX - 1, 0);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	return sysattr_squeeze(buf) > 0;
}

bool sysattr_link(const struct proc_root *root, char buf[SYSATTR_MAX], const char *fmt, ...)
{
	char path[PATH_MAX], target[PATH_MAX];
	va_list args;
	ssize_t n;
	bool ok;

	va_start(args, fmt);
	ok = sysattr_path(root, path, fmt, args);
	va_end(args);
	n = ok ? readlink(path, target, sizeof(target) - 1) : -1;
	if (n <= 0)
		return false;
	target[n] = '\0';
	/* A target like "../.." has no name of its own. */
	if (!strcmp(path_basename(target), "..") && !realpath(path, target))
		return false;
	n = snprintf(buf, SYSATTR_MAX, "%s", path_basename(target));
	return n > 0 && n < SYSATTR_MAX;
}

bool sysattr_exists(const struct proc_root *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool ok;

	va_start(args, fmt);
	ok = sysattr_path(root, path, fmt, args);
	va_end(args);
	return ok && access(path, F_OK) == 0;
}

void label_escape(struct strbuf *sb, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c > ' ' && c < 0x7f)
			strbuf_putc(sb, (char)c);
		else
			strbuf_printf(sb, "\\x%02x", c);
	}
}

void label_add(struct strbuf *sb, const char *key, const char *value)
{
	if (sb->len)
		strbuf_putc(sb, '\n');
	strbuf_puts(sb, key);
	strbuf_putc(sb, '=');
	label_escape(sb, value);
}
