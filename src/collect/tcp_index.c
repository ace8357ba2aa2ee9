#include "collect/tcp_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int tcp_index_init(struct tcp_index *x, uint32_t cap)
{
	uint32_t n_heads = 16;

	while (n_heads < cap && n_heads < UINT32_C(1) << 30)
		n_heads *= 2;
	*x = (struct tcp_index){
		.heads = malloc(n_heads * sizeof(*x->heads)),
		.next = malloc((cap ? cap : 1) * sizeof(*x->next)),
		.mask = n_heads - 1,
	};
	if (!x->heads || !x->next) {
		tcp_index_release(x);
		return -ENOMEM;
	}
	tcp_index_clear(x);
	return 0;
}

void tcp_index_release(struct tcp_index *x)
{
	free(x->heads);
	free(x->next);
	*x = (struct tcp_index){0};
}

void tcp_index_clear(struct tcp_index *x)
{
	memset(x->heads, 0xff, ((size_t)x->mask + 1) * sizeof(*x->heads));
}

static uint32_t *index_head(const struct tcp_index *x, uint64_t hash)
{
	return &x->heads[(hash ^ hash >> 32) & x->mask];
}

void tcp_index_insert(struct tcp_index *x, uint64_t hash, uint32_t position)
{
	uint32_t *head = index_head(x, hash);

	x->next[position] = *head;
	*head = position;
}

void tcp_index_remove(struct tcp_index *x, uint64_t hash, uint32_t position)
{
	uint32_t *link = index_head(x, hash);

	while (*link != position)
		link = &x->next[*link];
	*link = x->next[position];
}

uint32_t tcp_index_first(const struct tcp_index *x, uint64_t hash)
{
	return *index_head(x, hash);
}
