#include "base/idmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct idmap_slot {
	uint64_t key;
	uint32_t value; /* the stored value plus 1; 0: free */
};

/* Numbers differ in their low bits (ids) or in their high bits (packed keys), so mix both. */
static size_t idmap_home(const struct idmap *m, uint64_t key)
{
	key ^= key >> 32;
	key *= UINT64_C(0x9e3779b97f4a7c15);
	return (key >> 29) & (m->cap - 1);
}

void idmap_release(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap){0};
}

void idmap_clear(struct idmap *m)
{
	if (m->n)
		memset(m->slots, 0, m->cap * sizeof(*m->slots));
	m->n = 0;
}

/* The slot of `key`, or the free slot where it belongs. */
static struct idmap_slot *idmap_find(const struct idmap *m, uint64_t key)
{
	size_t i = idmap_home(m, key);

	while (m->slots[i].value && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

bool idmap_get(const struct idmap *m, uint64_t key, uint32_t *ret)
{
	const struct idmap_slot *slot = m->cap ? idmap_find(m, key) : NULL;

	if (!slot || !slot->value)
		return false;
	*ret = slot->value - 1;
	return true;
}

bool idmap_next(const struct idmap *m, size_t *at, uint64_t *ret_key, uint32_t *ret)
{
	for (; *at < m->cap; ++*at) {
		const struct idmap_slot *slot = &m->slots[*at];

		if (!slot->value)
			continue;
		*ret_key = slot->key;
		*ret = slot->value - 1;
		++*at;
		return true;
	}
	return false;
}

/* Is there room for this many keys, with a quarter of the slots free? */
static bool idmap_holds(size_t cap, size_t n)
{
	return n * 4 <= cap * 3;
}

int idmap_reserve(struct idmap *m, size_t n)
{
	struct idmap bigger = {.cap = m->cap ? m->cap : 64, .n = m->n};

	if (m->cap && idmap_holds(m->cap, n))
		return 0;
	while (!idmap_holds(bigger.cap, n))
		bigger.cap *= 2;
	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++) {
		if (m->slots[i].value)
			*idmap_find(&bigger, m->slots[i].key) = m->slots[i];
	}
	free(m->slots);
	*m = bigger;
	return 0;
}

int idmap_put(struct idmap *m, uint64_t key, uint32_t value)
{
	struct idmap_slot *slot;

	if (idmap_reserve(m, m->n + 1) < 0)
		return -ENOMEM;
	slot = idmap_find(m, key);
	m->n += !slot->value;
	*slot = (struct idmap_slot){key, value + 1};
	return 0;
}

void idmap_remove(struct idmap *m, uint64_t key)
{
	struct idmap_slot *hole = m->cap ? idmap_find(m, key) : NULL;
	size_t at;

	if (!hole || !hole->value)
		return;
	m->n--;
	/* Move entries back that were displaced because this slot was taken. */
	for (at = (size_t)(hole - m->slots);;) {
		struct idmap_slot *next;
		size_t home;

		at = (at + 1) & (m->cap - 1);
		next = &m->slots[at];
		if (!next->value)
			break;
		home = idmap_home(m, next->key);
		if (((at - home) & (m->cap - 1)) <
			((at - (size_t)(hole - m->slots)) & (m->cap - 1)))
			continue;
		*hole = *next;
		hole = next;
	}
	*hole = (struct idmap_slot){0};
}
