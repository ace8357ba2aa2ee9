#include "trace/backend_bpf_entries.h"

#include "base/array.h"
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 1024
/* The kernel's error for an operation that a map lacks; it is not in errno.h. */
#define KERNEL_ENOTSUPP 524

int bpf_entries_open(struct bpf_entries *e, int fd)
{
	struct bpf_map_info info = {0};
	uint32_t size = sizeof(info);
	int r = bpf_obj_get_info_by_fd(fd, &info, &size);

	if (r < 0)
		return r;
	*e = (struct bpf_entries){.fd = fd,
		.key_size = info.key_size,
		.value_size = info.value_size,
		.max = info.max_entries};
	return 0;
}

void bpf_entries_release(struct bpf_entries *e)
{
	free(e->keys);
	free(e->values);
	*e = (struct bpf_entries){.fd = -1};
}

const void *bpf_entries_key(const struct bpf_entries *e, size_t i)
{
	return e->keys + i * e->key_size;
}

const void *bpf_entries_value(const struct bpf_entries *e, size_t i)
{
	return e->values + i * e->value_size;
}

static int reserve(struct bpf_entries *e, size_t n)
{
	if (array_reserve(&e->keys, &e->cap_keys, n, e->key_size) < 0)
		return -ENOMEM;
	return array_reserve(&e->values, &e->cap_values, n, e->value_size);
}

static bool is_unsupported(int r)
{
	return r == -EINVAL || r == -EOPNOTSUPP || r == -KERNEL_ENOTSUPP;
}

/* 1: there are more; 0: that was all. */
static int read_chunk(struct bpf_entries *e, const uint32_t *from, uint32_t *to, uint32_t want)
{
	uint32_t count = want;
	int r = reserve(e, e->n + want);

	if (r < 0)
		return r;
	r = bpf_map_lookup_batch(e->fd, (void *)from, to, e->keys + e->n * e->key_size,
		e->values + e->n * e->value_size, &count, NULL);
	if (r < 0 && r != -ENOENT)
		return r;
	e->n += count;
	return r == 0;
}

static int read_many(struct bpf_entries *e)
{
	uint32_t at = 0, next = 0, want = CHUNK;
	bool first = true;
	int r;

	do {
		r = read_chunk(e, first ? NULL : &at, &next, want);
		if (r == -ENOSPC && want < e->max) { /* many entries in one bucket */
			want *= 2;
			r = 1;
			continue;
		}
		at = next;
		first = false;
	} while (r > 0 && e->n < 2 * (size_t)e->max);
	return r < 0 ? r : 0;
}

static int read_keys(struct bpf_entries *e)
{
	const void *before = NULL;

	/* If a key is removed during the loop, the kernel begins again: never read more than
	 * fit. */
	for (e->n = 0; e->n < e->max; e->n++) {
		int r = reserve(e, e->n + 1);

		if (r < 0)
			return r;
		if (e->n)
			before = bpf_entries_key(e, e->n - 1);
		if (bpf_map_get_next_key(e->fd, before, e->keys + e->n * e->key_size) < 0)
			break;
	}
	return 0;
}

static int read_singly(struct bpf_entries *e)
{
	size_t n_keys, n = 0;
	int r = read_keys(e);

	n_keys = e->n;
	for (size_t i = 0; i < n_keys; i++) {
		if (bpf_map_lookup_elem(
			    e->fd, bpf_entries_key(e, i), e->values + n * e->value_size) < 0)
			continue; /* removed in the meantime */
		memmove(e->keys + n * e->key_size, bpf_entries_key(e, i), e->key_size);
		n++;
	}
	e->n = n;
	return r;
}

int bpf_entries_read(struct bpf_entries *e)
{
	int r;

	e->n = 0;
	if (!e->singly) {
		r = read_many(e);
		if (!is_unsupported(r))
			return r;
		e->singly = true;
	}
	return read_singly(e);
}

/* Remove up to CHUNK with one call; returns the number of removed entries. */
static size_t remove_many(struct bpf_entries *e, const void *keys, size_t n)
{
	uint32_t count = (uint32_t)(n < CHUNK ? n : CHUNK);
	int r = bpf_map_delete_batch(e->fd, keys, &count, NULL);

	if (is_unsupported(r))
		e->singly = true;
	return r == 0 || r == -ENOENT ? count : 0;
}

void bpf_entries_remove(struct bpf_entries *e, const void *keys, size_t n)
{
	const unsigned char *at = keys;

	while (n > 0) {
		size_t many = e->singly ? 0 : remove_many(e, at, n);

		if (!many) { /* the kernel stops at the first missing key */
			bpf_map_delete_elem(e->fd, at);
			many = 1;
		}
		at += many * e->key_size;
		n -= many;
	}
}
