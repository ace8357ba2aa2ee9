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
	free(t->slots);
	*t = (struct csv_intern){0};
}

static bool entry_equal(const struct csv_intern *t, uint32_t number, const char *text, size_t len)
{
	const struct csv_intern_entry *e = &t->entries[number];

	return e->len == len && (!len || !memcmp(t->text + e->offset, text, len));
}

/* The slot that holds a text, or the free one where it belongs. */
static uint32_t *slot_find(const struct csv_intern *t, uint64_t hash, const char *text, size_t len)
{
	size_t i = hash & (t->n_slots - 1);

	while (t->slots[i] &&
		(t->entries[t->slots[i] - 1].hash != hash ||
			!entry_equal(t, t->slots[i] - 1, text, len)))
		i = (i + 1) & (t->n_slots - 1);
	return &t->slots[i];
}

/* Room for one more: the slots stay at most half full. */
static int intern_reserve(struct csv_intern *t, size_t len)
{
	size_t n_slots = t->n_slots ? t->n_slots * 2 : 64;
	uint32_t *slots;

	if (array_reserve(&t->text, &t->cap, t->len + len + 1, 1) < 0 ||
		array_reserve(&t->entries, &t->cap_entries, t->n + 1, sizeof(*t->entries)) < 0)
		return -ENOMEM;
	if ((t->n + 1) * 2 <= t->n_slots)
		return 0;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t number = 0; number < t->n; number++) {
		size_t i = t->entries[number].hash & (n_slots - 1);

		while (slots[i])
			i = (i + 1) & (n_slots - 1);
		slots[i] = number + 1;
	}
	free(t->slots);
	t->slots = slots;
	t->n_slots = n_slots;
	return 0;
}

static int intern_add(
	struct csv_intern *t, uint64_t hash, const char *text, size_t len, uint32_t *ret_number)
{
	if (t->max && t->n >= t->max)
		return -E2BIG;
	if (intern_reserve(t, len) < 0)
		return -ENOMEM;
	if (len)
		memcpy(t->text + t->len, text, len);
	t->text[t->len + len] = '\0';
	t->entries[t->n] =
		(struct csv_intern_entry){.hash = hash, .offset = t->len, .len = (uint32_t)len};
	*ret_number = (uint32_t)t->n++;
	*slot_find(t, hash, text, len) = *ret_number + 1;
	t->len += len + 1;
	return 1;
}

int csv_intern_get(struct csv_intern *t, const char *text, size_t len, uint32_t *ret_number)
{
	uint32_t number, *slot;
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
	slot = t->n_slots ? slot_find(t, hash, text, len) : NULL;
	if (slot && *slot)
		number = *slot - 1;
	else
		r = intern_add(t, hash, text, len, &number);
	if (r < 0)
		return r;
	t->entries[t->last].next = number;
	*ret_number = t->last = number;
	return r;
}
