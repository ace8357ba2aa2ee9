/* The kernel's counts into a tally.
 *
 * What was seen last is remembered, and only what is new is added: the tally grows also where the
 * kernel's cell was given back and begins at 0 again under another process with the same id.
 */
#include "trace/backend_bpf.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/idmap.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

struct seen_cell {
	struct tally_key key; /* pid 0: not in use */
	struct tally_cell last;
	bool gone; /* its process had ended when we last looked */
};

struct seen_error {
	struct tally_error_key key;
	uint64_t n;
	bool gone;
};

struct seen_conn {
	struct tally_conn last; /* id 0: not in use */
};

struct bpf_counts {
	int cells, slots, free_slots, errors, conns; /* descriptors of the maps */
	struct bpf_cell *values;		     /* of one cell, one for each CPU */
	int n_cpus;
	struct seen_cell *seen; /* by slot */
	struct seen_error *seen_errors;
	struct seen_conn *seen_conns;
	size_t cap_seen, n_errors, cap_errors, n_conns, cap_conns;
	struct idmap error_at, conn_at;
};

void bpf_counts_free(struct bpf_counts *c)
{
	if (!c)
		return;
	free(c->values);
	free(c->seen);
	free(c->seen_errors);
	free(c->seen_conns);
	idmap_release(&c->error_at);
	idmap_release(&c->conn_at);
	free(c);
}

static struct bpf_counts *counts_new(const struct bpf_tracer *t)
{
	struct bpf_counts *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->cells = bpf_tracer_map(t, "cells");
	c->slots = bpf_tracer_map(t, "slots");
	c->free_slots = bpf_tracer_map(t, "free_slots");
	c->errors = bpf_tracer_map(t, "errors");
	c->conns = bpf_tracer_map(t, "conns");
	c->n_cpus = libbpf_num_possible_cpus();
	c->values = c->n_cpus > 0 ? calloc((size_t)c->n_cpus, sizeof(*c->values)) : NULL;
	if (!c->values) {
		bpf_counts_free(c);
		return NULL;
	}
	return c;
}

static bool process_is_traced(const struct bpf_tracer *t, uint32_t pid)
{
	uint32_t value;

	return bpf_map_lookup_elem(t->processes_fd, &pid, &value) == 0;
}

/* All CPUs together. */
static void cell_sum(const struct bpf_counts *c, struct tally_cell *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < c->n_cpus; i++) {
		const struct bpf_cell *v = &c->values[i];

		ret->errors += v->errors;
		ret->sum_ns += v->sum_ns;
		ret->bytes += v->bytes;
		for (unsigned b = 0; b < TALLY_BUCKETS; b++) {
			ret->buckets[b] += v->buckets[b];
			ret->n += v->buckets[b];
		}
	}
}

static void cell_grow(
	struct tally_cell *to, const struct tally_cell *now, const struct tally_cell *last)
{
	to->n += now->n - last->n;
	to->errors += now->errors - last->errors;
	to->sum_ns += now->sum_ns - last->sum_ns;
	to->bytes += now->bytes - last->bytes;
	for (unsigned b = 0; b < TALLY_BUCKETS; b++)
		to->buckets[b] += now->buckets[b] - last->buckets[b];
}

/* The process ended a while ago: nobody counts here any more, and others need the place. */
static void cell_give_back(struct bpf_counts *c, const struct tally_key *key, uint32_t slot)
{
	if (bpf_map_delete_elem(c->slots, key) < 0)
		return;
	memset(c->values, 0, (size_t)c->n_cpus * sizeof(*c->values));
	if (bpf_map_update_elem(c->cells, &slot, c->values, BPF_ANY) == 0)
		bpf_map_update_elem(c->free_slots, NULL, &slot, BPF_ANY);
	c->seen[slot] = (struct seen_cell){0};
}

static int cell_read(struct bpf_tracer *t, struct tally *tally, const struct tally_key *key)
{
	struct bpf_counts *c = t->counts;
	struct tally_cell now, *to;
	struct seen_cell *seen;
	uint32_t slot;
	bool gone;

	if (bpf_map_lookup_elem(c->slots, key, &slot) < 0)
		return 0;
	if (array_reserve(&c->seen, &c->cap_seen, slot + 1, sizeof(*c->seen)) < 0)
		return -ENOMEM;
	gone = !process_is_traced(t, key->pid);
	if (bpf_map_lookup_elem(c->cells, &slot, c->values) < 0)
		return -errno;
	cell_sum(c, &now);
	seen = &c->seen[slot];
	if (memcmp(&seen->key, key, sizeof(*key)) != 0)
		*seen = (struct seen_cell){.key = *key};
	if (now.n != seen->last.n) {
		to = tally_cell(tally, key);
		if (!to)
			return -ENOMEM;
		cell_grow(to, &now, &seen->last);
		seen->last = now;
	}
	if (gone && seen->gone)
		cell_give_back(c, key, slot);
	else
		seen->gone = gone;
	return 0;
}

static struct seen_error *error_seen(struct bpf_counts *c, const struct tally_error_key *key)
{
	uint64_t k;
	uint32_t at;

	memcpy(&k, key, sizeof(k));
	if (idmap_get(&c->error_at, k, &at))
		return &c->seen_errors[at];
	if (array_reserve(&c->seen_errors, &c->cap_errors, c->n_errors + 1,
		    sizeof(*c->seen_errors)) < 0 ||
		idmap_put(&c->error_at, k, (uint32_t)c->n_errors) < 0)
		return NULL;
	c->seen_errors[c->n_errors] = (struct seen_error){.key = *key};
	return &c->seen_errors[c->n_errors++];
}

static int error_read(struct bpf_tracer *t, struct tally *tally, const struct tally_error_key *key)
{
	struct bpf_counts *c = t->counts;
	struct seen_error *seen = error_seen(c, key);
	struct bpf_error now;
	uint64_t *to;
	bool gone;

	if (!seen)
		return -ENOMEM;
	gone = !process_is_traced(t, key->pid);
	if (bpf_map_lookup_elem(c->errors, key, &now) < 0)
		return 0;
	if (now.n != seen->n) {
		to = tally_error(tally, key);
		if (!to)
			return -ENOMEM;
		*to += now.n - seen->n;
		seen->n = now.n;
	}
	if (gone && seen->gone) {
		bpf_map_delete_elem(c->errors, key);
		seen->n = 0;
	}
	seen->gone = gone;
	return 0;
}

static struct tally_conn *conn_seen(struct bpf_counts *c, uint64_t id)
{
	uint32_t at;

	if (idmap_get(&c->conn_at, id, &at))
		return &c->seen_conns[at].last;
	if (array_reserve(&c->seen_conns, &c->cap_conns, c->n_conns + 1, sizeof(*c->seen_conns)) <
			0 ||
		idmap_put(&c->conn_at, id, (uint32_t)c->n_conns) < 0)
		return NULL;
	c->seen_conns[c->n_conns] = (struct seen_conn){{.id = id}};
	return &c->seen_conns[c->n_conns++].last;
}

static bool is_served(const struct bpf_tracer *t, const struct trace_endpoints *ends)
{
	for (unsigned i = 0; i < t->n_ports; i++) {
		if (__builtin_bswap16(ends->local_port) == t->ports[i])
			return true;
	}
	return false;
}

static void conn_grow(
	struct tally_conn *to, const struct tally_conn *now, const struct tally_conn *last)
{
	to->n_in += now->n_in - last->n_in;
	to->n_out += now->n_out - last->n_out;
	to->bytes_in += now->bytes_in - last->bytes_in;
	to->bytes_out += now->bytes_out - last->bytes_out;
	to->read_n += now->read_n - last->read_n;
	to->read_ns += now->read_ns - last->read_ns;
	to->pid = now->pid;
	to->reading = now->reading;
	to->first_ns = now->first_ns;
	to->last_ns = now->last_ns;
	to->sent_ns = now->sent_ns;
	to->received_ns = now->received_ns;
	to->ends = now->ends;
}

static int conn_read(struct bpf_tracer *t, struct tally *tally, const uint64_t *id)
{
	struct bpf_counts *c = t->counts;
	struct tally_conn now, *to, *last = conn_seen(c, *id);

	if (!last)
		return -ENOMEM;
	if (bpf_map_lookup_elem(c->conns, id, &now) < 0)
		return 0;
	if (!memcmp(&now, last, sizeof(now)))
		return 0;
	to = tally_conn(tally, *id);
	if (!to)
		return -ENOMEM;
	conn_grow(to, &now, last);
	to->serves |= now.serves || is_served(t, &now.ends);
	*last = now;
	if (now.pad[0]) { /* closed */
		bpf_map_delete_elem(c->conns, id);
		*last = (struct tally_conn){.id = *id};
	}
	return 0;
}

#define KEYS_MAX 65536
#define KEY_SIZE 8

/* Call `fn` for each key (8 bytes all of them) of a map. They are copied first: it may delete. */
static int each_key(struct bpf_tracer *t, int fd, struct tally *tally,
	int (*fn)(struct bpf_tracer *t, struct tally *tally, const void *key))
{
	_cleanup_free_ uint64_t *keys = NULL;
	size_t cap = 0, n = 0;
	int r = 0;

	do {
		if (array_reserve(&keys, &cap, n + 1, KEY_SIZE) < 0)
			return -ENOMEM;
		if (bpf_map_get_next_key(fd, n ? &keys[n - 1] : NULL, &keys[n]) < 0)
			break;
	} while (++n < KEYS_MAX);
	for (size_t i = 0; i < n && r == 0; i++)
		r = fn(t, tally, &keys[i]);
	return r;
}

static int each_cell(struct bpf_tracer *t, struct tally *tally, const void *key)
{
	return cell_read(t, tally, key);
}

static int each_error(struct bpf_tracer *t, struct tally *tally, const void *key)
{
	return error_read(t, tally, key);
}

static int each_conn(struct bpf_tracer *t, struct tally *tally, const void *key)
{
	return conn_read(t, tally, key);
}

int bpf_counts_read(struct bpf_tracer *t, struct tally *tally, struct lp_err *err)
{
	int r = 0;

	if (!t->counts)
		t->counts = counts_new(t);
	if (!t->counts)
		r = -ENOMEM;
	if (r == 0)
		r = each_key(t, t->counts->slots, tally, each_cell);
	if (r == 0)
		r = each_key(t, t->counts->errors, tally, each_error);
	if (r == 0)
		r = each_key(t, t->counts->conns, tally, each_conn);
	__atomic_add_fetch(&t->shared->period, 1, __ATOMIC_RELAXED);
	return r < 0 ? lp_err_sys(err, r, "cannot read the counts of the kernel") : 0;
}
