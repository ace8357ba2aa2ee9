/* A hash index over the positions of an array, allocated once: chains of positions, no keys. The
 * owner of the array compares its items while it walks a chain.
 */
#ifndef COLLECT_TCP_INDEX_H
#define COLLECT_TCP_INDEX_H

#include "base/idmap.h"
#include <stddef.h>
#include <stdint.h>

#define TCP_INDEX_END UINT32_MAX

struct tcp_index {
	struct idmap heads; /* hash -> first position of the chain */
	uint32_t *next;	    /* [position] the following one */
};

/* An empty index for positions 0..cap-1. 0 or -ENOMEM. */
int tcp_index_init(struct tcp_index *x, uint32_t cap);
void tcp_index_release(struct tcp_index *x);

void tcp_index_clear(struct tcp_index *x);
void tcp_index_insert(struct tcp_index *x, uint64_t hash, uint32_t position);
/* `position` must have been inserted with the same hash. */
void tcp_index_remove(struct tcp_index *x, uint64_t hash, uint32_t position);

/* Walk: `for (i = tcp_index_first(x, h); i != TCP_INDEX_END; i = x->next[i])`. */
uint32_t tcp_index_first(const struct tcp_index *x, uint64_t hash);

#endif
