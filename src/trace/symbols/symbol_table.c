#include "trace/symbols/symbol_table.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void symbol_table_release(struct symbol_table *t)
{
	free(t->items);
	free(t->names);
	*t = (struct symbol_table){0};
}

int symbol_table_add(struct symbol_table *t, uint64_t start, uint64_t size, const char *name,
	size_t len, uint32_t tag)
{
	len = len < SYMBOL_NAME_MAX ? len : SYMBOL_NAME_MAX;
	if (!len || t->n >= SYMBOL_TABLE_MAX || t->n_names + len + 1 > SYMBOL_NAMES_MAX)
		return 0;
	if (array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items)) < 0 ||
		array_reserve(&t->names, &t->cap_names, t->n_names + len + 1, 1) < 0)
		return -ENOMEM;
	memcpy(t->names + t->n_names, name, len);
	t->names[t->n_names + len] = '\0';
	t->items[t->n++] = (struct symbol){start, size, (uint32_t)t->n_names, tag};
	t->n_names += len + 1;
	return 0;
}

static int by_merit(const void *a, const void *b, void *names)
{
	const struct symbol *x = a, *y = b;
	const char *nx = (const char *)names + x->name, *ny = (const char *)names + y->name;
	size_t ux = strspn(nx, "_"), uy = strspn(ny, "_");

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (ux != uy)
		return ux < uy ? -1 : 1;
	return strcmp(nx, ny);
}

void symbol_table_finish(struct symbol_table *t)
{
	size_t n = 0;

	if (t->n)
		qsort_r(t->items, t->n, sizeof(*t->items), by_merit, t->names);
	for (size_t i = 0; i < t->n; i++) {
		if (!n || t->items[n - 1].start != t->items[i].start)
			t->items[n++] = t->items[i];
	}
	t->n = n;
}

/* How far back an enclosing symbol is searched. */
#define NESTED_MAX 16

static bool covers(const struct symbol_table *t, size_t i, uint64_t address)
{
	const struct symbol *s = &t->items[i];

	if (s->size)
		return address - s->start < s->size;
	return i + 1 == t->n || address < t->items[i + 1].start;
}

const struct symbol *symbol_table_find(const struct symbol_table *t, uint64_t address)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t->items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t back = 0; back < NESTED_MAX && back < low; back++) {
		if (covers(t, low - 1 - back, address))
			return &t->items[low - 1 - back];
	}
	return NULL;
}

const char *symbol_name(const struct symbol_table *t, const struct symbol *s)
{
	return t->names + s->name;
}
