/* Which calls of the ranks are the same collective operation: the first one of a function for a
 * file in each rank, then the second one, and so on, as MPI demands that all ranks make them in the
 * same order.
 */
#include "base/array.h"
#include "base/idmap.h"
#include "trace/stack/stack_metrics.h"
#include <errno.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

/* The function and the file. Hosts may have other numbers for a file, but not another path. */
static uint64_t operation_key(const struct span *s)
{
	uint64_t hash = mix(1, (uint64_t)(uintptr_t)s->function); /* one text, one pointer */

	return *s->object ? mix(hash, (uint64_t)(uintptr_t)s->object)
			  : mix(mix(hash, s->device), s->inode);
}

/* The position of a call among those of the same operation in its rank. */
static int ordinal_of(
	struct idmap *ordinals, const struct stack_call *call, uint64_t key, uint32_t *ret)
{
	uint64_t of_rank = mix(key, (uint64_t)(uint32_t)call->rank + 1);

	*ret = 0;
	idmap_get(ordinals, of_rank, ret);
	return idmap_put(ordinals, of_rank, *ret + 1);
}

static void collective_add(struct stack_collective *c, const struct span *s)
{
	if (!c->n_calls || s->start_ns < c->start_ns)
		c->start_ns = s->start_ns;
	if (!c->n_calls || s->start_ns > c->last_start_ns)
		c->last_start_ns = s->start_ns;
	if (!c->n_calls || s->end_ns > c->end_ns)
		c->end_ns = s->end_ns;
	c->n_calls++;
}

static int call_group(struct stack_metrics *m, uint32_t i, struct idmap *ordinals,
	struct idmap *groups, size_t *cap)
{
	struct stack_call *call = &m->calls[i];
	const struct span *s = &m->graph->spans->items[call->span];
	uint64_t key = operation_key(s);
	uint32_t ordinal, at;
	int r = ordinal_of(ordinals, call, key, &ordinal);

	if (r < 0)
		return r;
	key = mix(mix(key, ordinal), 0);
	if (!idmap_get(groups, key, &at)) {
		at = (uint32_t)m->n_collectives;
		if (array_reserve(&m->collectives, cap, m->n_collectives + 1,
			    sizeof(*m->collectives)) < 0 ||
			idmap_put(groups, key, at) < 0)
			return -ENOMEM;
		m->collectives[m->n_collectives++] = (struct stack_collective){.first = i};
	}
	call->collective = at;
	collective_add(&m->collectives[at], s);
	return 0;
}

/* How long each rank waited for the last one to arrive, and how many servers took part. */
static int collectives_sum(struct stack_metrics *m)
{
	struct idmap seen = {0};
	int r = 0;

	for (uint32_t i = 0; i < m->n_calls && r == 0; i++) {
		struct stack_call *call = &m->calls[i];
		const struct span *s = &m->graph->spans->items[call->span];
		struct stack_collective *c;

		if (call->collective == STACK_NONE)
			continue;
		c = &m->collectives[call->collective];
		call->late_ns =
			(c->last_start_ns < s->end_ns ? c->last_start_ns : s->end_ns) - s->start_ns;
		if (call->communicating_ns > c->communicating_ns)
			c->communicating_ns = call->communicating_ns;
		for (uint32_t k = call->shares; k < call->shares + call->n_shares && r == 0; k++) {
			uint64_t key = (uint64_t)call->collective << 32 | m->shares[k].server;
			uint32_t known;

			if (idmap_get(&seen, key, &known))
				continue;
			c->n_servers++;
			r = idmap_put(&seen, key, 1);
		}
	}
	idmap_release(&seen);
	return r;
}

int stack_collectives_find(struct stack_metrics *m)
{
	struct idmap ordinals = {0}, groups = {0};
	size_t cap = 0;
	int r = 0;

	for (uint32_t i = 0; i < m->n_calls && r == 0; i++) {
		m->calls[i].collective = STACK_NONE;
		if (m->graph->spans->items[m->calls[i].span].flags & SPAN_COLLECTIVE)
			r = call_group(m, i, &ordinals, &groups, &cap);
	}
	idmap_release(&ordinals);
	idmap_release(&groups);
	return r < 0 ? r : collectives_sum(m);
}
