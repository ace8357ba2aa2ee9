#include "collect/tcp_index.h"

#include <errno.h>
#include <stdlib.h>

int tcp_index_init(struct tcp_index *x, uint32_t cap)
{
	*x = (struct tcp_index){.next = malloc((cap ? cap : 1) * sizeof(*x->next))};
	/* One more: a key is put before the last of another is removed. */
	if (!x->next || idmap_reserve(&x->heads, (size_t)cap + 1) < 0) {
		tcp_index_release(x);
		return -ENOMEM;
	}
	return 0;
}

void tcp_index_release(struct tcp_index *x)
{
	idmap_release(&x->heads);
	free(x->next);
	*x = (struct tcp_index){0};
}

void tcp_index_clear(struct tcp_index *x)
{
	idmap_clear(&x->heads);
}

uint32_t tcp_index_first(const struct tcp_index *x, uint64_t hash)
{
	uint32_t first = TCP_INDEX_END;

	idmap_get(&x->heads, hash, &first);
	return first;
}

void tcp_index_insert(struct tcp_index *x, uint64_t hash, uint32_t position)
{
	x->next[position] = tcp_index_first(x, hash);
	idmap_put(&x->heads, hash, position);
}

void tcp_index_remove(struct tcp_index *x, uint64_t hash, uint32_t position)
{
	uint32_t at = tcp_index_first(x, hash);

	if (at != position) {
		while (x->next[at] != position)
			at = x->next[at];
		x->next[at] = x->next[position];
	} else if (x->next[position] != TCP_INDEX_END) {
		idmap_put(&x->heads, hash, x->next[position]);
	} else {
		idmap_remove(&x->heads, hash);
	}
}
