#include "trace/stack/join_index.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>

void join_index_release(struct join_index *x)
{
	free(x->items);
	*x = (struct join_index){0};
}

int join_index_add(
	struct join_index *x, const struct spans *s, uint64_t key, uint32_t span, uint32_t other)
{
	if (array_reserve(&x->items, &x->cap, x->n + 1, sizeof(*x->items)) < 0)
		return -ENOMEM;
	x->items[x->n++] = (struct join_entry){
		key, s->items[span].start_ns, s->items[span].end_ns, 0, span, other};
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct join_entry *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

void join_index_sort(struct join_index *x)
{
	if (x->n)
		qsort(x->items, x->n, sizeof(*x->items), compare);
	for (size_t i = 0; i < x->n; i++) {
		struct join_entry *e = &x->items[i];

		e->last_end_ns = e->end_ns;
		if (i && e[-1].key == e->key && e[-1].last_end_ns > e->end_ns)
			e->last_end_ns = e[-1].last_end_ns;
	}
}

/* The place after the last entry of the key that began at `ns` or before. */
size_t join_index_last(const struct join_index *x, uint64_t key, int64_t ns)
{
	size_t low = 0, high = x->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct join_entry *e = &x->items[middle];

		if (e->key < key || (e->key == key && e->start_ns <= ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool join_index_before(
	const struct join_index *x, uint64_t key, size_t *at, const struct join_entry **ret)
{
	if (!*at || x->items[*at - 1].key != key)
		return false;
	*ret = &x->items[--*at];
	return true;
}

bool join_index_next(const struct join_index *x, uint64_t key, int64_t ns, size_t *at,
	const struct join_entry **ret)
{
	while (join_index_before(x, key, at, ret)) {
		if ((*ret)->last_end_ns < ns)
			return false;
		if ((*ret)->end_ns >= ns)
			return true;
	}
	return false;
}

static uint64_t mix(uint64_t n)
{
	n ^= n >> 31;
	n *= UINT64_C(0x9e3779b97f4a7c15);
	return n ^ n >> 29;
}

uint64_t join_key(uint32_t observer, uint64_t a, uint64_t b)
{
	return mix(mix(mix(observer + UINT64_C(1)) + a) + b);
}
