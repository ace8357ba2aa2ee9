/* A map from strings to 32-bit numbers (open addressing; keys are copied). */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strmap {
	struct strmap_slot *slots;
	size_t n, cap; /* cap is a power of two, or 0 */
};

/* FNV-1a. */
uint64_t hash_bytes(const void *data, size_t size);

void strmap_release(struct strmap *m);
bool strmap_get(const struct strmap *m, const char *key, uint32_t *ret);
int strmap_put(struct strmap *m, const char *key, uint32_t value); /* 0 or -ENOMEM */

#endif
