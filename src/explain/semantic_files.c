#include "explain/semantic_files.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct shared_name {
	size_t refs;
	char text[];
};

struct file_table {
	size_t refs;
	struct traced_file *items; /* by descriptor */
	size_t n, cap;
};

static struct shared_name *name_new(const char *text)
{
	size_t size = strlen(text) + 1;
	struct shared_name *n = malloc(sizeof(*n) + size);

	if (!n)
		return NULL;
	n->refs = 1;
	memcpy(n->text, text, size);
	return n;
}

static void name_free(struct shared_name *n)
{
	if (n && !--n->refs)
		free(n);
}

struct file_table *file_table_share(struct file_table *t)
{
	if (t)
		t->refs++;
	return t;
}

void file_table_free(struct file_table *t)
{
	if (!t || --t->refs)
		return;
	for (size_t i = 0; i < t->n; i++)
		name_free(t->items[i].held);
	free(t->items);
	free(t);
}

/* Make sure that only this process uses the table. */
static int table_own(struct file_table **t)
{
	struct file_table *own;

	if (*t && (*t)->refs == 1)
		return 0;
	own = calloc(1, sizeof(*own));
	if (!own)
		return -ENOMEM;
	own->refs = 1;
	if (*t && (*t)->n) {
		if (array_reserve(&own->items, &own->cap, (*t)->n, sizeof(*own->items)) < 0) {
			free(own);
			return -ENOMEM;
		}
		own->n = (*t)->n;
		memcpy(own->items, (*t)->items, own->n * sizeof(*own->items));
		for (size_t i = 0; i < own->n; i++)
			own->items[i].held->refs++;
	}
	file_table_free(*t);
	*t = own;
	return 0;
}

/* The index of the descriptor, or where it would be inserted. */
static size_t table_place(const struct file_table *t, int32_t fd)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->items[middle].fd < fd)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool table_has(const struct file_table *t, size_t at, int32_t fd)
{
	return at < t->n && t->items[at].fd == fd;
}

int file_table_set(struct file_table **t, int32_t fd, uint8_t file, const char *name)
{
	struct shared_name *held = name_new(name);
	size_t at;

	if (!held || table_own(t) < 0) {
		name_free(held);
		return -ENOMEM;
	}
	at = table_place(*t, fd);
	if (table_has(*t, at, fd)) {
		name_free((*t)->items[at].held);
	} else {
		if (array_reserve(&(*t)->items, &(*t)->cap, (*t)->n + 1, sizeof(*(*t)->items)) <
			0) {
			name_free(held);
			return -ENOMEM;
		}
		memmove((*t)->items + at + 1, (*t)->items + at,
			((*t)->n - at) * sizeof(*(*t)->items));
		(*t)->n++;
	}
	(*t)->items[at] =
		(struct traced_file){.fd = fd, .file = file, .name = held->text, .held = held};
	return 0;
}

int file_table_close(struct file_table **t, int32_t fd, int64_t at_ns)
{
	size_t at = *t ? table_place(*t, fd) : 0;

	if (!*t || !table_has(*t, at, fd))
		return 0;
	if (table_own(t) < 0)
		return -ENOMEM;
	(*t)->items[at].gone_ns = at_ns; /* a copy has the same order, so the index is still
					  * valid */
	return 0;
}

const struct traced_file *file_table_find(const struct file_table *t, int32_t fd)
{
	size_t at = t ? table_place(t, fd) : 0;

	return t && table_has(t, at, fd) ? &t->items[at] : NULL;
}

void file_table_forget(struct file_table *t, int64_t before_ns)
{
	size_t n = 0;

	for (size_t i = 0; t && i < t->n; i++) {
		if (t->items[i].gone_ns && t->items[i].gone_ns < before_ns)
			name_free(t->items[i].held);
		else
			t->items[n++] = t->items[i];
	}
	if (t)
		t->n = n;
}

size_t file_table_size(const struct file_table *t)
{
	return t ? t->n : 0;
}
