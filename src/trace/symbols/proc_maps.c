#include "trace/symbols/proc_maps.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAPS_BYTES_MAX ((size_t)16 << 20)
#define DELETED " (deleted)"

void proc_maps_release(struct proc_maps *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->items[i].path);
	free(m->items);
	*m = (struct proc_maps){0};
}

/* The first mapping that ends after an address. */
static size_t maps_lower(const struct proc_maps *m, uint64_t address)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->items[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct proc_mapping *proc_maps_find(const struct proc_maps *m, uint64_t address)
{
	size_t at = maps_lower(m, address);

	return at < m->n && m->items[at].start <= address ? &m->items[at] : NULL;
}

int proc_maps_add(struct proc_maps *m, uint64_t start, uint64_t end, uint64_t offset,
	uint64_t inode, const char *path)
{
	size_t at = maps_lower(m, start), behind = at;
	char *copy = strdup(path);

	if (!copy || array_reserve(&m->items, &m->cap, m->n + 1, sizeof(*m->items)) < 0) {
		free(copy);
		return -ENOMEM;
	}
	while (behind < m->n && m->items[behind].start < end)
		free(m->items[behind++].path);
	memmove(m->items + at + 1, m->items + behind, (m->n - behind) * sizeof(*m->items));
	m->n = m->n - (behind - at) + 1;
	m->items[at] = (struct proc_mapping){start, end, offset, inode, copy};
	return 0;
}

/* Parse a number and the character after it; false: they are not there. */
static bool take_number(char **at, int base, char behind, uint64_t *ret)
{
	char *end;

	*ret = strtoull(*at, &end, base);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

/* "55d0c0a00000-55d0c0a21000 r-xp 00002000 fd:01 1234    /usr/bin/x" */
static int line_parse(struct proc_maps *m, char *line)
{
	uint64_t start, end, offset, device, inode;
	size_t len = strlen(line), cut = strlen(DELETED);
	char *at = line;

	if (!take_number(&at, 16, '-', &start) || !take_number(&at, 16, ' ', &end) ||
		strcspn(at, " ") != 4 || at[4] != ' ' || at[2] != 'x' || end <= start)
		return 0;
	at += 5;
	if (!take_number(&at, 16, ' ', &offset) || !take_number(&at, 16, ':', &device) ||
		!take_number(&at, 16, ' ', &device))
		return 0;
	inode = strtoull(at, &at, 10);
	at += strspn(at, " ");
	if (len > cut && !strcmp(line + len - cut, DELETED))
		line[len - cut] = '\0';
	return proc_maps_add(m, start, end, offset, inode, at);
}

int proc_maps_parse(struct proc_maps *m, char *text)
{
	int r = 0;

	while (r == 0 && *text && m->n < PROC_MAPS_MAX) {
		char *end = strchrnul(text, '\n'), *next = *end ? end + 1 : end;

		*end = '\0';
		r = line_parse(m, text);
		text = next;
	}
	return r;
}

int proc_maps_read(const char *proc, int pid, struct proc_maps *ret)
{
	_cleanup_(proc_maps_release) struct proc_maps m = {0};
	_cleanup_free_ char *text = NULL;
	char path[512];
	size_t size;
	int r;

	snprintf(path, sizeof(path), "%s/%d/maps", proc, pid);
	r = file_slurp(path, MAPS_BYTES_MAX, &text, &size, NULL);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	r = proc_maps_parse(&m, text);
	if (r < 0)
		return r;
	*ret = m;
	m = (struct proc_maps){0};
	return 0;
}
