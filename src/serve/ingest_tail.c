#include "serve/ingest_tail.h"

#include "base/array.h"
#include "base/hash.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tail {
	uint64_t offset;
	char *bytes; /* NULL: nothing */
	size_t size;
};

struct tails {
	pthread_mutex_t mutex;
	struct strmap index; /* of `items` by file */
	struct tail *items;
	size_t n, cap;
	uint64_t bytes; /* of all of them */
};

struct tails *tails_new(void)
{
	struct tails *t = calloc(1, sizeof(*t));

	if (t)
		pthread_mutex_init(&t->mutex, NULL);
	return t;
}

void tails_free(struct tails *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i].bytes);
	free(t->items);
	strmap_release(&t->index);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}

static struct tail *tail_of(struct tails *t, const char *file)
{
	uint32_t at;

	return strmap_get(&t->index, file, &at) ? &t->items[at] : NULL;
}

/* The entry of a file, which is added if it is new; NULL: out of memory. */
static struct tail *tail_add(struct tails *t, const char *file)
{
	struct tail *x = tail_of(t, file);

	if (x)
		return x;
	if (array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items)) < 0 ||
		strmap_put(&t->index, file, (uint32_t)t->n) < 0)
		return NULL;
	x = &t->items[t->n++];
	*x = (struct tail){0};
	return x;
}

static void tail_clear(struct tails *t, struct tail *x)
{
	t->bytes -= x->size;
	free(x->bytes);
	*x = (struct tail){0};
}

void tails_keep(struct tails *t, const char *file, uint64_t offset, const void *bytes, size_t size)
{
	struct tail *x;

	pthread_mutex_lock(&t->mutex);
	x = tail_add(t, file);
	if (x) {
		tail_clear(t, x);
		if (t->bytes + size <= TAILS_BYTES_MAX)
			x->bytes = malloc(size);
	}
	if (x && x->bytes) {
		memcpy(x->bytes, bytes, size);
		x->offset = offset;
		x->size = size;
		t->bytes += size;
	}
	pthread_mutex_unlock(&t->mutex);
}

void tails_drop(struct tails *t, const char *file)
{
	struct tail *x;

	pthread_mutex_lock(&t->mutex);
	x = tail_of(t, file);
	if (x)
		tail_clear(t, x);
	/* The list is short: only files that could not be written are in it. */
	if (!t->bytes && t->n) {
		strmap_release(&t->index);
		t->n = 0;
	}
	pthread_mutex_unlock(&t->mutex);
}

size_t tails_peek(struct tails *t, const char *file, uint64_t offset, void *buf, size_t size)
{
	const struct tail *x;
	size_t n = 0;

	pthread_mutex_lock(&t->mutex);
	x = tail_of(t, file);
	if (x && x->bytes && offset >= x->offset && offset - x->offset < x->size) {
		n = x->size - (size_t)(offset - x->offset);
		n = n < size ? n : size;
		memcpy(buf, x->bytes + (offset - x->offset), n);
	}
	pthread_mutex_unlock(&t->mutex);
	return n;
}
