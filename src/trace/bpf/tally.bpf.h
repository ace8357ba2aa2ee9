/* Counting in the kernel, for summaries: the cost of a call does not depend on the reader.
 *
 * A cell of (process, kind of file, kind of call) exists once per CPU, so that counting needs no
 * atomic operations: programs at these tracepoints are never preempted. A thread looks up its cell
 * once and keeps it; after that a call costs an array access and three additions.
 */
#ifndef TRACE_BPF_TALLY_H
#define TRACE_BPF_TALLY_H

#ifdef __bpf__

#include "trace/bpf/file.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1); /* settings.max_slots */
	__type(key, uint32_t);
	__type(value, struct bpf_cell);
} cells SEC(".maps");

/* The cell of each key. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct tally_key);
	__type(value, uint32_t);
} slots SEC(".maps");

/* Cells of ended processes, which the reader has freed. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, 65536);
	__type(value, uint32_t);
} free_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, struct tally_error_key);
	__type(value, struct bpf_error);
} errors SEC(".maps");

/* By the inode of the socket. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, uint64_t);
	__type(value, struct tally_conn);
} conns SEC(".maps");

#define EINTR 4
#define EAGAIN 11
#define EINPROGRESS 115
#define MAX_ERRNO 4095
#define RESTART_FIRST 512
#define RESTART_LAST 516

FORCE_INLINE bool is_restart(int64_t ret)
{
	return ret <= -RESTART_FIRST && ret >= -RESTART_LAST;
}

/* The errno that a call returned, 0 if it did not fail. */
FORCE_INLINE uint32_t error_of(int64_t ret)
{
	return ret < 0 && ret >= -MAX_ERRNO && !is_restart(ret) ? (uint32_t)-ret : 0;
}

FORCE_INLINE uint32_t bucket_of(uint64_t ns)
{
	uint32_t v = ns >> 32 ? (uint32_t)(ns >> 32) : (uint32_t)ns, b = ns >> 32 ? 32 : 0;

	if (v >> 16) {
		b += 16;
		v >>= 16;
	}
	if (v >> 8) {
		b += 8;
		v >>= 8;
	}
	if (v >> 4) {
		b += 4;
		v >>= 4;
	}
	if (v >> 2) {
		b += 2;
		v >>= 2;
	}
	b += v >> 1 & 1;
	return b < TALLY_BUCKETS ? b : TALLY_BUCKETS - 1;
}

/* The cell of a key, created if it is new; 0: there are no more cells. */
__attribute__((noinline)) uint32_t slot_make(uint32_t pid, uint32_t file, uint32_t call)
{
	struct tally_key key = {.pid = pid, .file = (uint8_t)file, .call = (uint8_t)call};
	uint32_t *known = bpf_map_lookup_elem(&slots, &key), slot;

	if (known)
		return *known;
	if (bpf_map_pop_elem(&free_slots, &slot))
		slot = (uint32_t)__sync_fetch_and_add(&shared.n_slots, 1) + 1;
	if (slot >= settings.max_slots)
		return 0;
	if (!bpf_map_update_elem(&slots, &key, &slot, BPF_NOEXIST))
		return slot;
	/* Another thread of the process was faster. */
	bpf_map_push_elem(&free_slots, &slot, BPF_ANY);
	known = bpf_map_lookup_elem(&slots, &key);
	return known ? *known : 0;
}

/* `t` may be NULL: any thread may complete I/O. */
FORCE_INLINE void count_call(struct bpf_thread *t, const struct bpf_record *r, uint32_t call,
	uint64_t bytes, uint32_t error)
{
	uint32_t at = (uint32_t)r->file * TRACE_CALLS + call, slot;
	struct bpf_cell *cell;
	uint32_t bucket = bucket_of(r->dur_ns);

	if (at >= BPF_SLOTS)
		return;
	slot = t ? t->slots[at] : 0;
	if (!slot) {
		slot = slot_make(r->pid, r->file, call);
		if (t)
			t->slots[at] = (uint16_t)slot;
	}
	cell = slot ? bpf_map_lookup_elem(&cells, &slot) : NULL;
	if (!cell) {
		__sync_fetch_and_add(&shared.uncounted, 1);
		return;
	}
	cell->sum_ns += r->dur_ns;
	cell->bytes += bytes;
	cell->errors += error != 0;
	if (bucket < TALLY_BUCKETS)
		cell->buckets[bucket]++;
}

/* Count an error; true: report it. */
FORCE_INLINE bool count_error(const struct bpf_record *r, uint32_t error)
{
	struct tally_error_key key = {
		.pid = r->pid,
		.nr = r->nr | (r->flags & TRACE_COMPAT ? 0x8000 : 0),
		.error = (uint16_t)error,
	};
	struct bpf_error none = {}, *e = bpf_map_lookup_elem(&errors, &key);
	uint32_t period = *(volatile uint32_t *)&shared.period;

	if (!e) {
		bpf_map_update_elem(&errors, &key, &none, BPF_NOEXIST);
		e = bpf_map_lookup_elem(&errors, &key);
	}
	if (!e) {
		__sync_fetch_and_add(&shared.uncounted, 1);
		return false;
	}
	__sync_fetch_and_add(&e->n, 1);
	if (error == EAGAIN || error == EINPROGRESS || error == EINTR)
		return false;
	if (e->period != period) {
		e->period = period;
		e->told = 0;
	}
	return e->told++ < settings.same_max;
}

FORCE_INLINE struct tally_conn *conn_get(const struct look *seen, uint64_t *ret_id)
{
	struct tally_conn fresh = {}, *c;

	*ret_id = file_inode(seen->of);
	c = bpf_map_lookup_elem(&conns, ret_id);
	if (c)
		return c;
	fresh.id = *ret_id;
	ends_get(seen->sock, &fresh.ends);
	bpf_map_update_elem(&conns, ret_id, &fresh, BPF_NOEXIST);
	c = bpf_map_lookup_elem(&conns, ret_id);
	if (!c)
		__sync_fetch_and_add(&shared.uncounted, 1);
	return c;
}

/* Data was received: it begins or continues a message. */
FORCE_INLINE void conn_received(
	struct tally_conn *c, const struct bpf_record *r, uint64_t bytes, bool blocks)
{
	int64_t end_ns = (int64_t)(r->start_ns + r->dur_ns);

	if (!c->reading) {
		c->reading = 1;
		c->n_in++;
		c->first_ns = blocks ? end_ns : (int64_t)r->start_ns;
	}
	c->last_ns = end_ns;
	c->received_ns = end_ns;
	c->bytes_in += bytes;
}

/* Data was sent: the data read before is a complete message. */
FORCE_INLINE void conn_sent(struct tally_conn *c, const struct bpf_record *r, uint64_t bytes)
{
	if (c->reading) {
		c->reading = 0;
		c->read_n++;
		if (c->last_ns > c->first_ns)
			c->read_ns += (uint64_t)(c->last_ns - c->first_ns);
		c->n_out++;
	} else if (!c->bytes_out) {
		c->n_out++;
	}
	c->sent_ns = (int64_t)(r->start_ns + r->dur_ns);
	c->bytes_out += bytes;
}

/* The effect of a call on a connection. Several threads may use one, but never at the same time,
 * because otherwise messages could not be separated. So there is no lock. */
FORCE_INLINE void count_message(
	const struct bpf_record *r, uint32_t call, uint64_t bytes, const struct look *seen)
{
	struct tally_conn *c;
	uint64_t id;

	if (!seen->sock)
		return;
	c = conn_get(seen, &id);
	if (!c)
		return;
	c->pid = r->pid;
	c->closed = 0;
	if (call == TRACE_CALL_READ)
		conn_received(c, r, bytes, file_blocks(seen->of));
	else
		conn_sent(c, r, bytes);
}

/* accept() shows the server's end of a connection. */
FORCE_INLINE void count_accept(const struct bpf_record *r, const struct look *seen)
{
	struct tally_conn *c;
	uint64_t id;

	if (!seen->sock)
		return;
	c = conn_get(seen, &id);
	if (c) {
		c->serves = 1;
		c->pid = r->pid;
	}
}

/* No answer is expected on a connection that is being closed. */
FORCE_INLINE void count_close(const struct look *seen)
{
	uint64_t id = file_inode(seen->of);
	struct tally_conn *c = bpf_map_lookup_elem(&conns, &id);

	if (c) {
		c->sent_ns = 0;
		c->closed = 1; /* the reader may forget it */
	}
}

/* Count a call; true: it is unusual, and becomes an event. */
FORCE_INLINE bool count(struct bpf_thread *t, const struct bpf_record *r,
	const volatile struct bpf_call *c, const struct look *seen)
{
	uint32_t call = c->call, error = error_of(r->ret);
	bool data = c->flags & BPF_CALL_MOVES && r->ret > 0, waits;

	if (error && c->no_result)
		error = 0;
	count_call(t, r, call, data ? (uint64_t)r->ret : 0, error);
	if (error)
		return count_error(r, error);
	if (r->file == TRACE_FILE_TCP && data)
		count_message(r, call, (uint64_t)r->ret, seen);
	if (r->file == TRACE_FILE_TCP && c->flags & BPF_CALL_ACCEPTS)
		count_accept(r, seen);
	if (r->dur_ns < settings.slow_ns)
		return false;
	waits = c->flags & BPF_CALL_WAITS ||
		(call == TRACE_CALL_READ && r->file != TRACE_FILE_STORAGE &&
			r->file != TRACE_FILE_DIRECTORY && r->file != TRACE_FILE_TCP);
	return !waits && !is_restart(r->ret);
}

#endif
#endif
