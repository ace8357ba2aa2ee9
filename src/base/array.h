/* Growing arrays. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Make room for at least `need` items of `item_size` bytes in `*items`, growing by doubling. New
 * room is zeroed. Returns 0, or -ENOMEM without a change. */
int array_reserve(void *items, size_t *cap, size_t need, size_t item_size);

#endif
