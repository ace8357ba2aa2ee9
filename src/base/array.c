#include "base/array.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int array_reserve(void *items, size_t *cap, size_t need, size_t item_size)
{
	void **slot = items;
	size_t want = *cap ? *cap : 8;
	void *grown;

	if (need <= *cap)
		return 0;
	while (want < need)
		want = want > SIZE_MAX / 2 ? need : want * 2;
	grown = reallocarray(*slot, want, item_size);
	if (!grown)
		return -ENOMEM;
	memset((char *)grown + *cap * item_size, 0, (want - *cap) * item_size);
	*slot = grown;
	*cap = want;
	return 0;
}
