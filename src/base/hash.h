/* A map from strings to 32-bit numbers; keys are copied. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/idmap.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise it. */
struct strmap {
	struct idmap by_hash; /* the last entry with this hash */
	struct strmap_entry *entries;
	size_t n, cap; /* of entries */
};

/* FNV-1a. */
uint64_t hash_bytes(const void *data, size_t size);

void strmap_release(struct strmap *m);
bool strmap_get(const struct strmap *m, const char *key, uint32_t *ret);
/* Iterate over all entries: start with `*at` 0; false after the last. The order is arbitrary. */
bool strmap_next(const struct strmap *m, size_t *at, const char **ret_key, uint32_t *ret);
int strmap_put(struct strmap *m, const char *key, uint32_t value); /* 0 or -ENOMEM */
/* Does nothing if the key does not exist. */
void strmap_remove(struct strmap *m, const char *key);

#endif
