#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct strmap_slot {
	char *key; /* NULL: free */
	uint32_t value;
};

uint64_t hash_bytes(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < size; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return h;
}

void strmap_release(struct strmap *m)
{
	for (size_t i = 0; i < m->cap; i++)
		free(m->slots[i].key);
	free(m->slots);
	*m = (struct strmap){0};
}

/* The slot that holds `key`, or the free one where it belongs. */
static struct strmap_slot *strmap_find(const struct strmap *m, const char *key)
{
	size_t i = hash_bytes(key, strlen(key)) & (m->cap - 1);

	while (m->slots[i].key && strcmp(m->slots[i].key, key))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

bool strmap_get(const struct strmap *m, const char *key, uint32_t *ret)
{
	const struct strmap_slot *slot = m->cap ? strmap_find(m, key) : NULL;

	if (!slot || !slot->key)
		return false;
	*ret = slot->value;
	return true;
}

static int strmap_grow(struct strmap *m)
{
	struct strmap bigger = {.cap = m->cap ? m->cap * 2 : 16, .n = m->n};

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++) {
		if (m->slots[i].key)
			*strmap_find(&bigger, m->slots[i].key) = m->slots[i];
	}
	free(m->slots);
	*m = bigger;
	return 0;
}

int strmap_put(struct strmap *m, const char *key, uint32_t value)
{
	struct strmap_slot *slot;

	if ((m->n + 1) * 4 > m->cap * 3 && strmap_grow(m) < 0)
		return -ENOMEM;
	slot = strmap_find(m, key);
	if (!slot->key) {
		slot->key = strdup(key);
		if (!slot->key)
			return -ENOMEM;
		m->n++;
	}
	slot->value = value;
	return 0;
}
