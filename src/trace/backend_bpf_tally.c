/* Copies the kernel's counts into a tally.
 *
 * The last counts are remembered, and only the growth is added. So the tally grows even if a cell
 * of the kernel was reused and begins at 0 again for another process with the same id.
 */
#include "trace/backend_bpf.h"

#include "base/array.h"
#include "base/idmap.h"
#include "base/time.h"
#include "trace/backend_bpf_entries.h"
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CELLS_CHUNK 64 /* cells read with one call */
/* A closed connection is kept this long after it was last used: it may have been closed by a
 * process that passed it to another. */
#define CLOSED_NS (10 * NS_PER_SEC)
/* Its end may have been missed: by dup2(), close_range(), exec. */
#define IDLE_NS (600 * NS_PER_SEC)

struct seen_cell {
	struct tally_key key; /* pid 0: not in use */
	struct tally_cell last;
	bool here; /* in the kernel's map at the last reading */
	bool gone; /* its process had ended at the last check */
};

struct seen_error {
	struct tally_error_key key;
	uint64_t n;
	bool gone;
};

struct seen_conn {
	struct tally_conn last;
	int64_t changed_ns; /* when it last changed */
	bool gone;
};

/* Keys to be removed from a map, 8 bytes each. */
struct removals {
	uint64_t *keys;
	size_t n, cap;
};

struct bpf_counts {
	struct bpf_entries processes, slots, errors, conns;
	int cells, free_slots;	 /* descriptors of the maps */
	struct bpf_cell *values; /* of CELLS_CHUNK cells, one for each CPU */
	int n_cpus;
	bool singly;		/* cells are read one by one */
	struct idmap traced;	/* processes, as of the beginning of this reading */
	struct removals over;	/* from the map that is being read */
	struct seen_cell *seen; /* by slot */
	struct seen_error *seen_errors;
	struct seen_conn *seen_conns;
	size_t n_seen, cap_seen, n_errors, cap_errors, n_conns, cap_conns;
	struct idmap error_at, conn_at;
};

void bpf_counts_free(struct bpf_counts *c)
{
	if (!c)
		return;
	bpf_entries_release(&c->processes);
	bpf_entries_release(&c->slots);
	bpf_entries_release(&c->errors);
	bpf_entries_release(&c->conns);
	free(c->values);
	free(c->seen);
	free(c->seen_errors);
	free(c->seen_conns);
	free(c->over.keys);
	idmap_release(&c->traced);
	idmap_release(&c->error_at);
	idmap_release(&c->conn_at);
	free(c);
}

static int counts_open(struct bpf_counts *c, const struct bpf_tracer *t)
{
	int r = bpf_entries_open(&c->processes, t->processes_fd);

	if (r == 0)
		r = bpf_entries_open(&c->slots, bpf_tracer_map(t, "slots"));
	if (r == 0)
		r = bpf_entries_open(&c->errors, bpf_tracer_map(t, "errors"));
	if (r == 0)
		r = bpf_entries_open(&c->conns, bpf_tracer_map(t, "conns"));
	c->cells = bpf_tracer_map(t, "cells");
	c->free_slots = bpf_tracer_map(t, "free_slots");
	c->n_cpus = libbpf_num_possible_cpus();
	if (r == 0 && c->n_cpus <= 0)
		r = c->n_cpus < 0 ? c->n_cpus : -EINVAL;
	if (r == 0)
		c->values = calloc(CELLS_CHUNK * (size_t)c->n_cpus, sizeof(*c->values));
	return r == 0 && !c->values ? -ENOMEM : r;
}

static int counts_new(const struct bpf_tracer *t, struct bpf_counts **ret)
{
	struct bpf_counts *c = calloc(1, sizeof(*c));
	int r = c ? counts_open(c, t) : -ENOMEM;

	if (r < 0)
		bpf_counts_free(c);
	else
		*ret = c;
	return r;
}

/* The currently traced processes. Counts are read after this. So if a process is not among them,
 * and was not the last time, its counts are complete. */
static int read_processes(struct bpf_counts *c)
{
	int r = bpf_entries_read(&c->processes);

	idmap_clear(&c->traced);
	for (size_t i = 0; r == 0 && i < c->processes.n; i++) {
		uint32_t pid;

		memcpy(&pid, bpf_entries_key(&c->processes, i), sizeof(pid));
		r = idmap_put(&c->traced, pid, 0);
	}
	return r;
}

static bool process_is_traced(const struct bpf_counts *c, uint32_t pid)
{
	uint32_t value;

	return idmap_get(&c->traced, pid, &value);
}

static int remove_later(struct bpf_counts *c, const void *key)
{
	if (array_reserve(&c->over.keys, &c->over.cap, c->over.n + 1, sizeof(*c->over.keys)) < 0)
		return -ENOMEM;
	memcpy(&c->over.keys[c->over.n++], key, sizeof(*c->over.keys));
	return 0;
}

static void remove_now(struct bpf_counts *c, struct bpf_entries *from)
{
	bpf_entries_remove(from, c->over.keys, c->over.n);
	c->over.n = 0;
}

/* All CPUs together. */
static void cell_sum(
	const struct bpf_counts *c, const struct bpf_cell *values, struct tally_cell *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (int i = 0; i < c->n_cpus; i++) {
		const struct bpf_cell *v = &values[i];

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

/* The owner of each cell. */
static int read_slots(struct bpf_counts *c)
{
	int r = bpf_entries_read(&c->slots);

	for (size_t i = 0; r == 0 && i < c->slots.n; i++) {
		const void *key = bpf_entries_key(&c->slots, i);
		struct seen_cell *seen;
		uint32_t slot;

		memcpy(&slot, bpf_entries_value(&c->slots, i), sizeof(slot));
		if (array_reserve(&c->seen, &c->cap_seen, (size_t)slot + 1, sizeof(*c->seen)) < 0)
			return -ENOMEM;
		if (slot >= c->n_seen)
			c->n_seen = (size_t)slot + 1;
		seen = &c->seen[slot];
		if (memcmp(&seen->key, key, sizeof(seen->key)) != 0) {
			*seen = (struct seen_cell){0};
			memcpy(&seen->key, key, sizeof(seen->key));
		}
		seen->here = true;
	}
	return r;
}

/* Free a cell for others: its process ended some time ago. */
static void cell_give_back(struct bpf_counts *c, uint32_t slot, struct bpf_cell *zeroes)
{
	memset(zeroes, 0, (size_t)c->n_cpus * sizeof(*zeroes));
	if (bpf_map_update_elem(c->cells, &slot, zeroes, BPF_ANY) == 0)
		bpf_map_update_elem(c->free_slots, NULL, &slot, BPF_ANY);
	c->seen[slot] = (struct seen_cell){0};
}

static int cell_read(
	struct bpf_counts *c, struct tally *tally, uint32_t slot, struct bpf_cell *values)
{
	struct seen_cell *seen = &c->seen[slot];
	bool gone = !process_is_traced(c, seen->key.pid);
	struct tally_cell now, *to;

	cell_sum(c, values, &now);
	seen->here = false;
	if (now.n != seen->last.n) {
		to = tally_cell(tally, &seen->key);
		if (!to)
			return -ENOMEM;
		cell_grow(to, &now, &seen->last);
		seen->last = now;
	}
	if (gone && seen->gone) {
		/* The key first: a free cell must not be found by its old key. */
		if (bpf_map_delete_elem(c->slots.fd, &seen->key) == 0)
			cell_give_back(c, slot, values);
		return 0;
	}
	seen->gone = gone;
	return 0;
}

static int cells_read_singly(struct bpf_counts *c, struct tally *tally, uint32_t from, uint32_t to)
{
	int r = 0;

	for (uint32_t slot = from; r == 0 && slot < to; slot++) {
		if (!c->seen[slot].here)
			continue;
		if (bpf_map_lookup_elem(c->cells, &slot, c->values) < 0)
			return -errno;
		r = cell_read(c, tally, slot, c->values);
	}
	return r;
}

/* Read the cells from `from` up to `to`, with one call if the kernel supports that (Linux 5.13). */
static int cells_read(struct bpf_counts *c, struct tally *tally, uint32_t from, uint32_t to)
{
	uint32_t keys[CELLS_CHUNK], count = to - from, before = from - 1, next;
	int r = -EOPNOTSUPP;

	if (!c->singly)
		r = bpf_map_lookup_batch(
			c->cells, from ? &before : NULL, &next, keys, c->values, &count, NULL);
	c->singly = r < 0 && r != -ENOENT; /* -ENOENT is the end of the map */
	if (c->singly)
		return cells_read_singly(c, tally, from, to);
	r = 0;
	for (uint32_t i = 0; r == 0 && i < count; i++) {
		if (keys[i] < c->n_seen && c->seen[keys[i]].here)
			r = cell_read(c, tally, keys[i], c->values + (size_t)i * (size_t)c->n_cpus);
	}
	return r;
}

static int read_cells(struct bpf_counts *c, struct tally *tally)
{
	int r = read_slots(c);

	for (size_t from = 0; r == 0 && from < c->n_seen; from += CELLS_CHUNK) {
		size_t to = from + CELLS_CHUNK < c->n_seen ? from + CELLS_CHUNK : c->n_seen;
		bool any = false;

		for (size_t i = from; i < to; i++)
			any = any || c->seen[i].here;
		if (any)
			r = cells_read(c, tally, (uint32_t)from, (uint32_t)to);
	}
	return r;
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

/* It is no longer in the kernel. The last entry takes its place. */
static int error_forget(struct bpf_counts *c, struct seen_error *seen)
{
	const struct seen_error *last = &c->seen_errors[--c->n_errors];
	int r = remove_later(c, &seen->key);
	uint64_t key;

	memcpy(&key, &seen->key, sizeof(key));
	idmap_remove(&c->error_at, key);
	if (seen == last)
		return r;
	*seen = *last;
	memcpy(&key, &seen->key, sizeof(key));
	return idmap_put(&c->error_at, key, (uint32_t)(seen - c->seen_errors)) < 0 ? -ENOMEM : r;
}

static int error_read(struct bpf_counts *c, struct tally *tally, const struct tally_error_key *key,
	const struct bpf_error *now)
{
	struct seen_error *seen = error_seen(c, key);
	bool gone = !process_is_traced(c, key->pid);
	uint64_t *to;

	if (!seen)
		return -ENOMEM;
	if (now->n != seen->n) {
		to = tally_error(tally, key);
		if (!to)
			return -ENOMEM;
		*to += now->n - seen->n;
		seen->n = now->n;
	}
	if (gone && seen->gone)
		return error_forget(c, seen);
	seen->gone = gone;
	return 0;
}

static int read_errors(struct bpf_counts *c, struct tally *tally)
{
	int r = bpf_entries_read(&c->errors);

	for (size_t i = 0; r == 0 && i < c->errors.n; i++) {
		struct tally_error_key key;
		struct bpf_error now;

		memcpy(&key, bpf_entries_key(&c->errors, i), sizeof(key));
		memcpy(&now, bpf_entries_value(&c->errors, i), sizeof(now));
		r = error_read(c, tally, &key, &now);
	}
	remove_now(c, &c->errors);
	return r;
}

static struct seen_conn *conn_seen(struct bpf_counts *c, uint64_t id)
{
	uint32_t at;

	if (idmap_get(&c->conn_at, id, &at))
		return &c->seen_conns[at];
	if (array_reserve(&c->seen_conns, &c->cap_conns, c->n_conns + 1, sizeof(*c->seen_conns)) <
			0 ||
		idmap_put(&c->conn_at, id, (uint32_t)c->n_conns) < 0)
		return NULL;
	c->seen_conns[c->n_conns] = (struct seen_conn){.last.id = id};
	return &c->seen_conns[c->n_conns++];
}

static int conn_forget(struct bpf_counts *c, struct seen_conn *seen)
{
	const struct seen_conn *last = &c->seen_conns[--c->n_conns];
	int r = remove_later(c, &seen->last.id);

	idmap_remove(&c->conn_at, seen->last.id);
	if (seen == last)
		return r;
	*seen = *last;
	return idmap_put(&c->conn_at, seen->last.id, (uint32_t)(seen - c->seen_conns)) < 0 ? -ENOMEM
											   : r;
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
	to->closed = now->closed;
	to->first_ns = now->first_ns;
	to->last_ns = now->last_ns;
	to->sent_ns = now->sent_ns;
	to->received_ns = now->received_ns;
	to->ends = now->ends;
}

/* Is it no longer used? If there are many connections, idle ones are dropped. */
static bool conn_is_over(const struct bpf_counts *c, const struct seen_conn *seen, int64_t now_ns)
{
	int64_t quiet_ns = now_ns - seen->changed_ns;
	bool scarce = c->conns.n > c->conns.max / 4 * 3;
	bool waits = seen->last.sent_ns > seen->last.received_ns;

	if (seen->last.closed)
		return scarce || quiet_ns >= CLOSED_NS;
	return quiet_ns >= (scarce ? CLOSED_NS : IDLE_NS) && (scarce || !waits);
}

static int conn_tell(const struct bpf_tracer *t, struct tally *tally, const struct tally_conn *now,
	const struct tally_conn *last)
{
	struct tally_conn *to = tally_conn(tally, now->id);

	if (!to)
		return -ENOMEM;
	conn_grow(to, now, last);
	to->serves |= now->serves || is_served(t, &now->ends);
	return 0;
}

static int conn_read(const struct bpf_tracer *t, struct tally *tally, uint64_t id,
	struct tally_conn *now, int64_t now_ns)
{
	struct bpf_counts *c = t->counts;
	struct seen_conn *seen = conn_seen(c, id);
	bool gone = now->pid && !process_is_traced(c, now->pid);

	if (!seen)
		return -ENOMEM;
	now->id = id;
	if (memcmp(now, &seen->last, sizeof(*now)) != 0) {
		if (conn_tell(t, tally, now, &seen->last) < 0)
			return -ENOMEM;
		seen->last = *now;
		seen->changed_ns = now_ns;
	}
	if ((gone && seen->gone) || conn_is_over(c, seen, now_ns))
		return conn_forget(c, seen);
	seen->gone = gone;
	return 0;
}

static int read_conns(const struct bpf_tracer *t, struct tally *tally)
{
	struct bpf_counts *c = t->counts;
	int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	int r = bpf_entries_read(&c->conns);

	for (size_t i = 0; r == 0 && i < c->conns.n; i++) {
		struct tally_conn now;
		uint64_t id;

		memcpy(&id, bpf_entries_key(&c->conns, i), sizeof(id));
		memcpy(&now, bpf_entries_value(&c->conns, i), sizeof(now));
		r = conn_read(t, tally, id, &now, now_ns);
	}
	remove_now(c, &c->conns);
	return r;
}

int bpf_counts_read(struct bpf_tracer *t, struct tally *tally, struct lp_err *err)
{
	int r = t->counts ? 0 : counts_new(t, &t->counts);

	if (r == 0)
		r = read_processes(t->counts);
	if (r == 0)
		r = read_cells(t->counts, tally);
	if (r == 0)
		r = read_errors(t->counts, tally);
	if (r == 0)
		r = read_conns(t, tally);
	__atomic_add_fetch(&t->shared->period, 1, __ATOMIC_RELAXED);
	return r < 0 ? lp_err_sys(err, r, "cannot read the counts of the kernel") : 0;
}
