#include "collect/tcp_table.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The number of addresses that may get names within TCP_NAMES_SAMPLES; further ones are
 * combined. */
#define NAMES_MAX 65536

/* The last values of one socket. */
struct tcp_entry {
	uint64_t cookie; /* valid while `seen` is not 0 */
	uint64_t seen;	 /* the last dump that had it */
	uint64_t counters[TCP_COUNTERS];
	uint8_t direction;
};

struct tcp_folded {
	struct tcp_addr addr;
	uint8_t direction;
};

DEFINE_CLEANUP(struct tcp_table *, tcp_table_free);

/* The seed prevents peers from choosing addresses that all have the same hash. */
static uint64_t hash_key(const struct tcp_table *t, const void *key, size_t size, uint8_t extra)
{
	uint8_t seeded[sizeof(t->seed) + sizeof(struct tcp_addr) + 1];

	memcpy(seeded, &t->seed, sizeof(t->seed));
	memcpy(seeded + sizeof(t->seed), key, size);
	seeded[sizeof(t->seed) + size] = extra;
	return hash_bytes(seeded, sizeof(t->seed) + size + 1);
}

static uint64_t hash_addr(
	const struct tcp_table *t, const struct tcp_addr *a, enum tcp_direction direction)
{
	return hash_key(t, a->bytes, sizeof(a->bytes), (uint8_t)direction);
}

static uint64_t hash_cookie(const struct tcp_table *t, uint64_t cookie)
{
	return hash_key(t, &cookie, sizeof(cookie), 0);
}

static struct tcp_remote *other_remote(struct tcp_table *t, enum tcp_direction direction)
{
	return &t->remotes[(direction + 1) * (t->max_remotes + 1) - 1];
}

static void init_remotes(struct tcp_table *t)
{
	for (unsigned d = 0; d < TCP_DIRECTIONS; d++) {
		struct tcp_remote *other = other_remote(t, d);

		other->other = true;
		other->direction = d;
		/* The last one in the list is used first. */
		for (uint32_t i = 0; i < t->max_remotes; i++)
			t->free_remotes[d][i] = d * (t->max_remotes + 1) + t->max_remotes - 1 - i;
		t->n_free_remotes[d] = t->max_remotes;
	}
}

static bool alloc_arrays(struct tcp_table *t)
{
	for (unsigned d = 0; d < TCP_DIRECTIONS; d++) {
		t->free_remotes[d] = calloc(t->max_remotes, sizeof(*t->free_remotes[d]));
		if (!t->free_remotes[d])
			return false;
	}
	t->remotes = calloc(t->n_remotes, sizeof(*t->remotes));
	t->live = calloc(t->n_remotes, sizeof(*t->live));
	t->entries = calloc(t->max_sockets, sizeof(*t->entries));
	t->free_entries = calloc(t->max_sockets, sizeof(*t->free_entries));
	t->folded = calloc(t->max_folded, sizeof(*t->folded));
	return t->remotes && t->entries && t->free_entries && t->folded &&
		tcp_index_init(&t->by_addr, t->n_remotes) == 0 &&
		tcp_index_init(&t->by_cookie, t->max_sockets) == 0 &&
		tcp_index_init(&t->by_folded, t->max_folded) == 0;
}

struct tcp_table *tcp_table_new(uint32_t max_remotes, uint32_t max_sockets)
{
	_cleanup_(tcp_table_freep) struct tcp_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->max_remotes = max_remotes;
	t->n_remotes = TCP_DIRECTIONS * (max_remotes + 1);
	t->max_sockets = max_sockets;
	t->max_folded = max_sockets / 4 + 1;
	t->names_left = NAMES_MAX;
	if (getrandom(&t->seed, sizeof(t->seed), GRND_NONBLOCK) < 0)
		t->seed = (uint64_t)(uintptr_t)t;
	if (!alloc_arrays(t))
		return NULL;
	init_remotes(t);
	return TAKE_PTR(t);
}

void tcp_table_free(struct tcp_table *t)
{
	if (!t)
		return;
	for (unsigned d = 0; d < TCP_DIRECTIONS; d++)
		free(t->free_remotes[d]);
	tcp_index_release(&t->by_addr);
	tcp_index_release(&t->by_cookie);
	tcp_index_release(&t->by_folded);
	free(t->remotes);
	free(t->live);
	free(t->entries);
	free(t->free_entries);
	free(t->folded);
	free(t);
}

void tcp_table_begin(struct tcp_table *t)
{
	t->dump++;
	t->overflowed = false;
	for (uint32_t i = 0; i < t->n_live; i++)
		t->remotes[t->live[i]].now = (struct tcp_gauges){.cwnd_min = UINT32_MAX};
	if (t->n_folded > 0)
		tcp_index_clear(&t->by_folded);
	t->n_folded = 0;
}

static void make_live(struct tcp_table *t, struct tcp_remote *m)
{
	m->used = true;
	m->now = (struct tcp_gauges){.cwnd_min = UINT32_MAX};
	t->live[t->n_live++] = (uint32_t)(m - t->remotes);
}

static struct tcp_entry *find_entry(struct tcp_table *t, uint64_t cookie)
{
	uint32_t i = tcp_index_first(&t->by_cookie, hash_cookie(t, cookie));

	while (i != TCP_INDEX_END && t->entries[i].cookie != cookie)
		i = t->by_cookie.next[i];
	return i == TCP_INDEX_END ? NULL : &t->entries[i];
}

/* Use freed places first, so that a host with few sockets touches little memory. */
static struct tcp_entry *add_entry(struct tcp_table *t, const struct tcp_sock *s, uint8_t direction)
{
	struct tcp_entry *e;
	uint32_t i;

	if (t->n_free_entries > 0)
		i = t->free_entries[--t->n_free_entries];
	else if (t->n_touched < t->max_sockets)
		i = t->n_touched++;
	else
		return NULL;
	e = &t->entries[i];
	*e = (struct tcp_entry){.cookie = s->cookie, .direction = direction};
	tcp_index_insert(&t->by_cookie, hash_cookie(t, s->cookie), i);
	/* At the first sample, a socket may be older than the recorder. If the table was full, an
	 * unknown socket may have existed before. In both cases only its growth counts. */
	if (t->sample == 0 || t->overflowed_before)
		memcpy(e->counters, s->counters, sizeof(e->counters));
	return e;
}

static void remove_entry(struct tcp_table *t, uint32_t i)
{
	tcp_index_remove(&t->by_cookie, hash_cookie(t, t->entries[i].cookie), i);
	t->entries[i].seen = 0;
	t->free_entries[t->n_free_entries++] = i;
}

static struct tcp_remote *find_remote(
	struct tcp_table *t, const struct tcp_addr *a, enum tcp_direction direction, uint64_t hash)
{
	uint32_t i = tcp_index_first(&t->by_addr, hash);

	for (; i != TCP_INDEX_END; i = t->by_addr.next[i]) {
		struct tcp_remote *m = &t->remotes[i];

		if (m->direction == direction && tcp_addr_equal(&m->addr, a))
			return m;
	}
	return NULL;
}

static struct tcp_remote *add_remote(
	struct tcp_table *t, const struct tcp_addr *a, enum tcp_direction direction, uint64_t hash)
{
	struct tcp_remote *m;
	uint32_t i;

	if (t->n_free_remotes[direction] == 0 || t->names_left == 0)
		return NULL;
	i = t->free_remotes[direction][--t->n_free_remotes[direction]];
	m = &t->remotes[i];
	*m = (struct tcp_remote){.direction = direction, .addr = *a};
	make_live(t, m);
	tcp_index_insert(&t->by_addr, hash, i);
	return m;
}

static void remove_remote(struct tcp_table *t, uint32_t i)
{
	struct tcp_remote *m = &t->remotes[i];

	tcp_index_remove(&t->by_addr, hash_addr(t, &m->addr, m->direction), i);
	m->used = false;
	t->free_remotes[m->direction][t->n_free_remotes[m->direction]++] = i;
}

/* Count each address once in the row "other". */
static struct tcp_remote *fold(
	struct tcp_table *t, const struct tcp_addr *a, enum tcp_direction direction, uint64_t hash)
{
	struct tcp_remote *other = other_remote(t, direction);
	uint32_t i = tcp_index_first(&t->by_folded, hash);

	if (!other->used)
		make_live(t, other);
	for (; i != TCP_INDEX_END; i = t->by_folded.next[i]) {
		if (t->folded[i].direction == direction && tcp_addr_equal(&t->folded[i].addr, a))
			return other;
	}
	if (t->n_folded < t->max_folded) {
		t->folded[t->n_folded] = (struct tcp_folded){*a, (uint8_t)direction};
		tcp_index_insert(&t->by_folded, hash, t->n_folded++);
		other->now.folded++;
	}
	return other;
}

static struct tcp_remote *remote_of(
	struct tcp_table *t, const struct tcp_addr *a, enum tcp_direction direction)
{
	uint64_t hash = hash_addr(t, a, direction);
	struct tcp_remote *m = find_remote(t, a, direction, hash);

	if (!m)
		m = add_remote(t, a, direction, hash);
	if (!m)
		m = fold(t, a, direction, hash);
	m->last_seen = t->sample;
	return m;
}

static void add_gauges(struct tcp_gauges *g, const struct tcp_sock *s)
{
	g->sockets++;
	g->cwnd_sum += s->cwnd;
	g->rtt_sum_us += s->rtt_us;
	g->unacked_sum += s->unacked;
	g->unread += s->rqueue_bytes > 0;
	g->rqueue_bytes += s->rqueue_bytes;
	g->wqueue_bytes += s->wqueue_bytes;
	if (s->cwnd < g->cwnd_min)
		g->cwnd_min = s->cwnd;
	if (s->rtt_us > g->rtt_max_us)
		g->rtt_max_us = s->rtt_us;
}

/* A narrow counter wraps. A socket that was disconnected and is used again starts from 0, so its
 * whole value is new. A decrease by less than half of the range means the latter. */
static uint64_t counter_growth(enum tcp_counter c, uint64_t last, uint64_t now)
{
	if (tcp_counter_is_short(c)) {
		uint32_t growth = (uint32_t)now - (uint32_t)last;

		return growth <= INT32_MAX ? growth : now;
	}
	return now >= last ? now - last : now;
}

static void add_growth(struct tcp_remote *m, struct tcp_entry *e, const struct tcp_sock *s)
{
	for (unsigned c = 0; c < TCP_COUNTERS; c++)
		m->counters[c] += counter_growth(c, e->counters[c], s->counters[c]);
	memcpy(e->counters, s->counters, sizeof(e->counters));
}

void tcp_table_add(struct tcp_table *t, const struct tcp_sock *s, enum tcp_direction direction)
{
	struct tcp_entry *e = find_entry(t, s->cookie);
	struct tcp_remote *m;

	if (e && e->seen == t->dump)
		return;
	if (!e)
		e = add_entry(t, s, (uint8_t)direction);
	m = remote_of(t, &s->remote, e ? e->direction : direction);
	m->counted |= s->counted;
	add_gauges(&m->now, s);
	if (e) {
		add_growth(m, e, s);
		e->seen = t->dump;
	} else {
		m->now.untracked++;
		t->overflowed = true;
	}
}

void tcp_table_end(struct tcp_table *t)
{
	for (uint32_t i = 0; i < t->n_touched; i++) {
		const struct tcp_entry *e = &t->entries[i];

		if (e->seen > 0 && t->dump - e->seen > TCP_SOCKET_LINGER)
			remove_entry(t, i);
	}
	for (uint32_t i = t->n_live; i-- > 0;) { /* backwards: the last one takes a free place */
		uint32_t at = t->live[i];

		if (t->remotes[at].other || t->sample - t->remotes[at].last_seen < TCP_REMOTE_IDLE)
			continue;
		remove_remote(t, at);
		t->live[i] = t->live[--t->n_live];
	}
	t->overflowed_before = t->overflowed;
	if (++t->sample % TCP_NAMES_SAMPLES == 0)
		t->names_left = NAMES_MAX;
}
