#include "trace/symbols/perf_map.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "trace/namespaces.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAP_BYTES_MAX ((off_t)64 << 20)

static int line_parse(struct symbol_table *t, char *line)
{
	char *end;
	uint64_t start = strtoull(line, &end, 16), size;

	if (end == line || *end != ' ')
		return 0;
	line = end + 1;
	size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !size || start + size < start)
		return 0;
	return symbol_table_add(t, start, size, end + 1, strcspn(end + 1, "\r"), (uint32_t)t->n);
}

static int by_start(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->tag > y->tag ? -1 : 1; /* the later one first, because it is the current one */
}

static void table_finish(struct symbol_table *t)
{
	size_t n = 0;

	if (t->n)
		qsort(t->items, t->n, sizeof(*t->items), by_start);
	for (size_t i = 0; i < t->n; i++) {
		if (!n || t->items[n - 1].start != t->items[i].start)
			t->items[n++] = t->items[i];
	}
	t->n = n;
}

int perf_map_parse(char *text, struct symbol_table *ret)
{
	_cleanup_(symbol_table_release) struct symbol_table t = {0};
	int r = 0;

	while (r == 0 && *text) {
		char *end = strchrnul(text, '\n'), *next = *end ? end + 1 : end;

		*end = '\0';
		r = line_parse(&t, text);
		text = next;
	}
	if (r < 0)
		return r;
	table_finish(&t);
	*ret = t;
	t = (struct symbol_table){0};
	return 0;
}

static int map_open(const char *proc, int pid, off_t *ret_size)
{
	_cleanup_close_ int fd = -1;
	char path[512];
	struct stat st, owner;

	snprintf(path, sizeof(path), "%s/%d", proc, pid);
	if (stat(path, &owner) < 0)
		return -errno;
	snprintf(path, sizeof(path), "%s/%d/root/tmp/perf-%d.map", proc, pid,
		namespaces_inner_pid(proc, pid));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || (st.st_uid != owner.st_uid && st.st_uid != 0))
		return -EPERM;
	*ret_size = st.st_size < MAP_BYTES_MAX ? st.st_size : MAP_BYTES_MAX;
	return TAKE_FD(fd);
}

int perf_map_read(const char *proc, int pid, struct symbol_table *ret)
{
	_cleanup_free_ char *text = NULL;
	off_t size = 0;
	_cleanup_close_ int fd = map_open(proc, pid, &size);
	ssize_t got;

	if (fd < 0)
		return fd;
	text = malloc((size_t)size + 1);
	if (!text)
		return -ENOMEM;
	got = file_pread_full(fd, text, (size_t)size, 0);
	if (got < 0)
		return (int)got;
	text[got] = '\0';
	return perf_map_parse(text, ret);
}
