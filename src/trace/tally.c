#include "trace/tally.h"

#include "base/array.h"
#include "base/idmap.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* Entries of one kind by index; dropped ones are reused. Keys are 8 bytes each. */
struct bin {
	struct idmap index; /* key -> position */
	uint32_t *unused;
	size_t n, n_unused, cap_unused;
};

struct cell_entry {
	struct tally_key key; /* pid 0: empty */
	struct tally_cell cell;
};

struct error_entry {
	struct tally_error_key key; /* pid 0: empty */
	uint64_t n;
};

struct tally {
	struct bin cells_bin, errors_bin, conns_bin;
	struct cell_entry *cells;
	struct error_entry *errors;
	struct tally_conn *conns; /* valid if used[i] */
	bool *used;
	size_t cap_cells, cap_errors, cap_conns, cap_used;
};

static void bin_release(struct bin *b)
{
	idmap_release(&b->index);
	free(b->unused);
}

struct tally *tally_new(void)
{
	return calloc(1, sizeof(struct tally));
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	bin_release(&t->cells_bin);
	bin_release(&t->errors_bin);
	bin_release(&t->conns_bin);
	free(t->cells);
	free(t->errors);
	free(t->conns);
	free(t->used);
	free(t);
}

static uint64_t key_of(const void *eight_bytes)
{
	uint64_t key;

	memcpy(&key, eight_bytes, sizeof(key));
	return key;
}

/* An index for a new entry of `items` with this key; or -1. */
static int64_t bin_place(struct bin *b, uint64_t key, void *items, size_t *cap, size_t item_size)
{
	size_t i = b->n_unused ? b->unused[b->n_unused - 1] : b->n;

	if (i >= UINT32_MAX - 1 || array_reserve(items, cap, i + 1, item_size) < 0 ||
		array_reserve(&b->unused, &b->cap_unused, i + 1, sizeof(*b->unused)) < 0 ||
		idmap_put(&b->index, key, (uint32_t)i) < 0)
		return -1;
	if (b->n_unused)
		b->n_unused--;
	else
		b->n++;
	return (int64_t)i;
}

/* There is room for it: bin_place() made sure of that. */
static void bin_give_back(struct bin *b, size_t i)
{
	b->unused[b->n_unused++] = (uint32_t)i;
}

struct tally_cell *tally_cell(struct tally *t, const struct tally_key *key)
{
	uint64_t k = key_of(key);
	uint32_t at;
	int64_t i;

	if (idmap_get(&t->cells_bin.index, k, &at))
		return &t->cells[at].cell;
	i = bin_place(&t->cells_bin, k, &t->cells, &t->cap_cells, sizeof(*t->cells));
	if (i < 0)
		return NULL;
	t->cells[i] = (struct cell_entry){.key = *key};
	return &t->cells[i].cell;
}

uint64_t *tally_error(struct tally *t, const struct tally_error_key *key)
{
	uint64_t k = key_of(key);
	uint32_t at;
	int64_t i;

	if (idmap_get(&t->errors_bin.index, k, &at))
		return &t->errors[at].n;
	i = bin_place(&t->errors_bin, k, &t->errors, &t->cap_errors, sizeof(*t->errors));
	if (i < 0)
		return NULL;
	t->errors[i] = (struct error_entry){.key = *key};
	return &t->errors[i].n;
}

struct tally_conn *tally_conn(struct tally *t, uint64_t id)
{
	uint32_t at;
	int64_t i;

	if (idmap_get(&t->conns_bin.index, id, &at))
		return &t->conns[at];
	if (array_reserve(&t->used, &t->cap_used, t->conns_bin.n + 1, sizeof(*t->used)) < 0)
		return NULL;
	i = bin_place(&t->conns_bin, id, &t->conns, &t->cap_conns, sizeof(*t->conns));
	if (i < 0)
		return NULL;
	t->conns[i] = (struct tally_conn){.id = id};
	t->used[i] = true;
	return &t->conns[i];
}

size_t tally_n_cells(const struct tally *t)
{
	return t->cells_bin.n;
}

const struct tally_cell *tally_cell_at(
	const struct tally *t, size_t i, const struct tally_key **ret_key)
{
	*ret_key = t->cells[i].key.pid ? &t->cells[i].key : NULL;
	return *ret_key ? &t->cells[i].cell : NULL;
}

size_t tally_n_errors(const struct tally *t)
{
	return t->errors_bin.n;
}

uint64_t tally_error_at(const struct tally *t, size_t i, const struct tally_error_key **ret_key)
{
	*ret_key = t->errors[i].key.pid ? &t->errors[i].key : NULL;
	return t->errors[i].n;
}

size_t tally_n_conns(const struct tally *t)
{
	return t->conns_bin.n;
}

const struct tally_conn *tally_conn_at(const struct tally *t, size_t i)
{
	return t->used[i] ? &t->conns[i] : NULL;
}

void tally_drop_cell(struct tally *t, size_t i)
{
	if (!t->cells[i].key.pid)
		return;
	idmap_remove(&t->cells_bin.index, key_of(&t->cells[i].key));
	t->cells[i] = (struct cell_entry){0};
	bin_give_back(&t->cells_bin, i);
}

void tally_drop_error(struct tally *t, size_t i)
{
	if (!t->errors[i].key.pid)
		return;
	idmap_remove(&t->errors_bin.index, key_of(&t->errors[i].key));
	t->errors[i] = (struct error_entry){0};
	bin_give_back(&t->errors_bin, i);
}

void tally_drop_conn(struct tally *t, size_t i)
{
	if (!t->used[i])
		return;
	if (t->conns[i].id)
		idmap_remove(&t->conns_bin.index, t->conns[i].id);
	t->used[i] = false;
	bin_give_back(&t->conns_bin, i);
}

/* floor(log2(ns)), within the buckets. */
static unsigned bucket_of(uint64_t ns)
{
	unsigned b = ns ? 63u - (unsigned)__builtin_clzll(ns) : 0;

	return b < TALLY_BUCKETS ? b : TALLY_BUCKETS - 1;
}

static int count_error(struct tally *t, const struct trace_event *e, int error)
{
	const struct tally_error_key key = {.pid = (uint32_t)e->pid,
		.nr = (uint16_t)(e->nr | (e->flags & TRACE_COMPAT ? 0x8000u : 0)),
		.error = (uint16_t)error};
	uint64_t *n = tally_error(t, &key);

	if (!n)
		return -ENOMEM;
	++*n;
	return 0;
}

/* Does the state belong to another connection that had the id before? */
static bool ends_differ(const struct tally_conn *c, const struct trace_endpoints *ends)
{
	return ends && ends->family && c->ends.family && memcmp(&c->ends, ends, sizeof(*ends)) != 0;
}

static struct tally_conn *conn_of(struct tally *t, const struct tally_socket *socket)
{
	struct tally_conn *c = tally_conn(t, socket->id);

	if (c && ends_differ(c, socket->ends)) {
		idmap_remove(&t->conns_bin.index, c->id);
		c->id = 0;
		c = tally_conn(t, socket->id);
	}
	if (c && socket->ends && socket->ends->family)
		c->ends = *socket->ends;
	return c;
}

/* Data was received: it begins or continues a message. */
static void conn_received(
	struct tally_conn *c, const struct trace_event *e, uint64_t bytes, bool blocks)
{
	int64_t end_ns = e->start_ns + e->dur_ns;

	if (!c->reading) {
		c->reading = 1;
		c->n_in++;
		c->first_ns = blocks ? end_ns : e->start_ns;
		c->last_ns = end_ns;
	} else if (end_ns > c->last_ns) {
		c->last_ns = end_ns;
	}
	c->received_ns = end_ns > c->received_ns ? end_ns : c->received_ns;
	c->bytes_in += bytes;
}

/* Data was sent: the data read before is a complete message. */
static void conn_sent(struct tally_conn *c, const struct trace_event *e, uint64_t bytes)
{
	int64_t end_ns = e->start_ns + e->dur_ns;

	if (c->reading) {
		c->reading = 0;
		c->read_n++;
		c->read_ns += c->last_ns > c->first_ns ? (uint64_t)(c->last_ns - c->first_ns) : 0;
		c->n_out++;
	} else if (!c->bytes_out) {
		c->n_out++;
	}
	c->sent_ns = end_ns > c->sent_ns ? end_ns : c->sent_ns;
	c->bytes_out += bytes;
}

static int count_message(struct tally *t, const struct trace_event *e, unsigned call,
	uint64_t bytes, const struct tally_socket *socket)
{
	struct tally_conn *c = conn_of(t, socket);

	if (!c)
		return -ENOMEM;
	c->pid = (uint32_t)e->pid;
	c->closed = 0;
	c->serves |= socket->serves;
	if (call == TRACE_CALL_READ)
		conn_received(c, e, bytes, socket->blocks);
	else
		conn_sent(c, e, bytes);
	return 0;
}

/* A closed connection does not wait for an answer. */
static void note_close(struct tally *t, const struct trace_event *e, uint64_t id)
{
	uint32_t at;

	if (e->nr != SYS_close || e->flags & TRACE_COMPAT ||
		!idmap_get(&t->conns_bin.index, id, &at))
		return;
	t->conns[at].sent_ns = 0;
	t->conns[at].closed = 1;
}

int tally_add(struct tally *t, const struct trace_event *e, const struct tally_socket *socket)
{
	unsigned call = trace_event_call(e);
	const struct tally_key key = {
		.pid = (uint32_t)e->pid, .file = e->file, .call = (uint8_t)call};
	uint64_t ns = e->dur_ns > 0 ? (uint64_t)e->dur_ns : 0;
	struct tally_cell *cell;
	int64_t bytes;
	int error;

	if ((e->what != TRACE_CALL && e->what != TRACE_ASYNC) || !key.pid)
		return 0;
	cell = tally_cell(t, &key);
	if (!cell)
		return -ENOMEM;
	bytes = trace_event_bytes(e);
	bytes = bytes > 0 ? bytes : 0;
	error = trace_event_errno(e);
	cell->n++;
	cell->errors += error != 0;
	cell->sum_ns += ns;
	cell->bytes += (uint64_t)bytes;
	cell->buckets[bucket_of(ns)]++;
	if (error)
		return count_error(t, e, error);
	if (!socket || !socket->id || e->file != TRACE_FILE_TCP)
		return 0;
	if (call == TRACE_CALL_OPEN)
		note_close(t, e, socket->id);
	if (!bytes || (call != TRACE_CALL_READ && call != TRACE_CALL_WRITE))
		return 0;
	return count_message(t, e, call, (uint64_t)bytes, socket);
}
