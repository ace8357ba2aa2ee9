#include "base/hash.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct strmap_entry {
	char *key;
	uint32_t value;
	uint32_t same; /* another entry with the same hash, or NONE */
};

#define NONE UINT32_MAX

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
	for (size_t i = 0; i < m->n; i++)
		free(m->entries[i].key);
	free(m->entries);
	idmap_release(&m->by_hash);
	*m = (struct strmap){0};
}

/* The entry of `key`, or NULL; `*ret_first` is the first entry with the same hash, or NONE. */
static struct strmap_entry *strmap_find(
	const struct strmap *m, const char *key, uint64_t hash, uint32_t *ret_first)
{
	*ret_first = NONE;
	idmap_get(&m->by_hash, hash, ret_first);
	for (uint32_t i = *ret_first; i != NONE; i = m->entries[i].same) {
		if (!strcmp(m->entries[i].key, key))
			return &m->entries[i];
	}
	return NULL;
}

bool strmap_get(const struct strmap *m, const char *key, uint32_t *ret)
{
	uint32_t first;
	const struct strmap_entry *e =
		m->n ? strmap_find(m, key, hash_bytes(key, strlen(key)), &first) : NULL;

	if (!e)
		return false;
	*ret = e->value;
	return true;
}

bool strmap_next(const struct strmap *m, size_t *at, const char **ret_key, uint32_t *ret)
{
	if (*at >= m->n)
		return false;
	*ret_key = m->entries[*at].key;
	*ret = m->entries[(*at)++].value;
	return true;
}

int strmap_put(struct strmap *m, const char *key, uint32_t value)
{
	uint64_t hash = hash_bytes(key, strlen(key));
	uint32_t first;
	struct strmap_entry *e = strmap_find(m, key, hash, &first);
	char *copy;

	if (e) {
		e->value = value;
		return 0;
	}
	if (m->n >= NONE - 1 ||
		array_reserve(&m->entries, &m->cap, m->n + 1, sizeof(*m->entries)) < 0)
		return -ENOMEM;
	copy = strdup(key);
	if (!copy || idmap_put(&m->by_hash, hash, (uint32_t)m->n) < 0) {
		free(copy);
		return -ENOMEM;
	}
	m->entries[m->n++] = (struct strmap_entry){copy, value, first};
	return 0;
}

/* In the chain of entries with this hash, replace the reference to `from` by `to`. */
static void chain_redirect(struct strmap *m, uint64_t hash, uint32_t from, uint32_t to)
{
	uint32_t at = NONE;

	idmap_get(&m->by_hash, hash, &at);
	if (at == from) {
		if (to == NONE)
			idmap_remove(&m->by_hash, hash);
		else
			idmap_put(&m->by_hash, hash, to); /* the key exists, so this cannot fail */
		return;
	}
	while (m->entries[at].same != from)
		at = m->entries[at].same;
	m->entries[at].same = to;
}

void strmap_remove(struct strmap *m, const char *key)
{
	uint64_t hash = hash_bytes(key, strlen(key));
	uint32_t first, at, last;
	struct strmap_entry *e = strmap_find(m, key, hash, &first);

	if (!e)
		return;
	at = (uint32_t)(e - m->entries);
	chain_redirect(m, hash, at, e->same);
	free(e->key);
	last = (uint32_t)--m->n;
	if (at == last)
		return;
	/* Move the last entry into the gap. */
	*e = m->entries[last];
	chain_redirect(m, hash_bytes(e->key, strlen(e->key)), last, at);
}
