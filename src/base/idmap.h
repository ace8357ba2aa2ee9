/* The hash table: a map from 64-bit numbers to 32-bit ones (open addressing). Maps with other keys
 * are built on it. They use a hash as the number, and store the first entry with this hash
 * (base/hash.h). */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise it. */
struct idmap {
	struct idmap_slot *slots;
	size_t n, cap; /* cap is a power of two, or 0 */
};

void idmap_release(struct idmap *m);
/* Forget all keys, keep the memory. */
void idmap_clear(struct idmap *m);
/* Make room for `n` keys. Up to that number, idmap_put() neither allocates nor fails. 0 or
 * -ENOMEM. */
int idmap_reserve(struct idmap *m, size_t n);
bool idmap_get(const struct idmap *m, uint64_t key, uint32_t *ret);
/* Values are below UINT32_MAX. 0 or -ENOMEM. */
int idmap_put(struct idmap *m, uint64_t key, uint32_t value);
/* Iterate over all entries: start with `*at` 0; false after the last. The order is arbitrary. Do
 * not add or remove keys during the iteration. */
bool idmap_next(const struct idmap *m, size_t *at, uint64_t *ret_key, uint32_t *ret);
/* Does nothing if the key does not exist. */
void idmap_remove(struct idmap *m, uint64_t key);

#endif
