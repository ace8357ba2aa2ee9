#include "import/csv_intern.h"

#include "base/array.h"
#include "base/hash.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void csv_intern_release(struct csv_intern *t)
{
	free(t->text);
	free(t->entries);
	idmap_release(&t->by_hash);
	*t = (struct csv_intern){0};
}

static bool entry_equal(const struct csv_intern *t, uint32_t number, const char *text, size_t len)
{
	const struct csv_intern_entry *e = &t->entries[number];

	return e->len == len && (!len || !memcmp(t->text + e->offset, text, len));
}

/* The number of a text, or CSV_INTERN_NONE; `*ret_first` is the first entry with the same hash. */
static uint32_t intern_find(const struct csv_intern *t, uint64_t hash, const char *text, size_t len,
	uint32_t *ret_first)
{
	uint32_t i;

	*ret_first = CSV_INTERN_NONE;
	idmap_get(&t->by_hash, hash, ret_first);
	for (i = *ret_first; i != CSV_INTERN_NONE && !entry_equal(t, i, text, len);)
		i = t->entries[i].same;
	return i;
}

/* `same`: the first entry with the same hash. */
static int intern_add(struct csv_intern *t, uint64_t hash, uint32_t same, const char *text,
	size_t len, uint32_t *ret_number)
{
	if (t->max && t->n >= t->max)
		return -E2BIG;
	if (array_reserve(&t->text, &t->cap, t->len + len + 1, 1) < 0 ||
		array_reserve(&t->entries, &t->cap_entries, t->n + 1, sizeof(*t->entries)) < 0 ||
		idmap_put(&t->by_hash, hash, (uint32_t)t->n) < 0)
		return -ENOMEM;
	if (len)
		memcpy(t->text + t->len, text, len);
	t->text[t->len + len] = '\0';
	t->entries[t->n] =
		(struct csv_intern_entry){.offset = t->len, .len = (uint32_t)len, .same = same};
	*ret_number = (uint32_t)t->n++;
	t->len += len + 1;
	return 1;
}

int csv_intern_get(struct csv_intern *t, const char *text, size_t len, uint32_t *ret_number)
{
	uint32_t number, first;
	uint64_t hash;
	int r = 0;

	if (t->n) {
		number = t->entries[t->last].next;
		if (entry_equal(t, number, text, len)) {
			*ret_number = t->last = number;
			return 0;
		}
	}
	hash = hash_bytes(text, len);
	number = intern_find(t, hash, text, len, &first);
	if (number == CSV_INTERN_NONE)
		r = intern_add(t, hash, first, text, len, &number);
	if (r < 0)
		return r;
	t->entries[t->last].next = number;
	*ret_number = t->last = number;
	return r;
}
