/* I/O that bypasses calls: AIO, recorded where it is submitted and reaped (its duration ends when
 * the program reaps it); and io_uring, recorded where the kernel submits and completes it, in any
 * thread.
 */
#ifndef TRACE_BPF_ASYNC_H
#define TRACE_BPF_ASYNC_H

#ifdef __bpf__

#include "trace/bpf/emit.bpf.h"
#include "trace/bpf/tally.bpf.h"
#include "trace/bpf/thread.bpf.h"

#define AIO_BATCH 256 /* of one call */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kiocb {
	int64_t ki_pos;
};

struct io_rw {
	struct kiocb kiocb;
	uint64_t addr;
	uint32_t len;
};

struct io_cqe {
	int32_t fd;
};

struct io_kiocb {
	struct file *file;
	uint8_t opcode;
	struct io_cqe cqe;
};

struct io_uring_cqe {
	int32_t res;
	uint32_t flags;
};

#pragma clang attribute pop

/* I/O in progress. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct bpf_async_key);
	__type(value, struct bpf_async);
} asyncs SEC(".maps");

/* The format of io_submit() and io_getevents() (linux/aio_abi.h). */
struct user_iocb {
	uint64_t data;
	uint32_t key, flags;
	uint16_t opcode, priority;
	uint32_t fd;
	uint64_t address, bytes, offset;
};

struct user_event {
	uint64_t data, iocb;
	int64_t result, result2;
};

/* Is the number that of a known call? */
FORCE_INLINE bool call_known(uint16_t nr)
{
	return nr < SYSCALL_MAX;
}

/* An index that the verifier accepts: the compiler must not drop the mask because it knows the
 * range. */
FORCE_INLINE uint32_t masked(uint32_t i, uint32_t mask)
{
	__asm__ volatile("" : "+r"(i));
	return i & mask;
}

FORCE_INLINE bool aio_read(uint64_t address, struct bpf_async *ret)
{
	struct user_iocb iocb;

	if (bpf_probe_read_user(&iocb, sizeof(iocb), (const void *)address))
		return false;
	if (iocb.opcode >= BPF_AIO_OPS)
		return false;
	ret->nr = settings.aio_calls[masked(iocb.opcode, BPF_AIO_OPS - 1)];
	ret->fd = (int32_t)iocb.fd;
	ret->address = iocb.address;
	ret->bytes = iocb.bytes;
	ret->offset = iocb.offset;
	return call_known(ret->nr);
}

/* A piece was submitted. Not inlined, so that the loop that calls it is verified once. */
__attribute__((noinline)) int aio_begun(uint64_t pointer, uint64_t start_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_async_key key = {.pid = (uint32_t)task->tgid};
	struct bpf_async a = {};
	struct look seen;

	if (bpf_probe_read_user(&key.address, sizeof(key.address), (const void *)pointer) ||
		!aio_read(key.address, &a))
		return 0;
	look(task, a.fd, &seen);
	a.file = seen.file;
	a.start_ns = start_ns;
	a.seq = __sync_fetch_and_add(&shared.seq, 1);
	a.pid = key.pid;
	a.tid = (uint32_t)task->pid;
	if (bpf_map_update_elem(&asyncs, &key, &a, BPF_ANY))
		emit_lost();
	return 0;
}

/* Deliver or count completed I/O. */
FORCE_INLINE void async_done(
	const struct bpf_async *a, int64_t result, uint64_t now_ns, const struct look *seen)
{
	const volatile struct bpf_call *c = call_info(a->nr, false);
	struct record_all r = {
		.args = {(uint64_t)a->fd, a->address, a->bytes, a->offset},
		.record =
			{
				.what = TRACE_ASYNC,
				.seq = a->seq,
				.start_ns = a->start_ns,
				.dur_ns = now_ns - a->start_ns,
				.ret = result,
				.pid = a->pid,
				.tid = a->tid,
				.nr = a->nr,
				.file = a->file,
				.n_args = 4,
			},
	};

	if (settings.records || count(NULL, &r.record, c, seen))
		emit_plain(&r, NULL);
}

/* A piece was reaped. */
__attribute__((noinline)) int aio_ended(uint64_t pointer, uint64_t now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_async_key key = {.pid = (uint32_t)task->tgid};
	struct bpf_async *known, a = {};
	struct look nothing = {};
	struct user_event e;

	if (bpf_probe_read_user(&e, sizeof(e), (const void *)pointer))
		return 0;
	key.address = e.iocb;
	known = bpf_map_lookup_elem(&asyncs, &key);
	if (!known)
		return 0; /* submitted before tracing began */
	a = *known;
	bpf_map_delete_elem(&asyncs, &key);
	async_done(&a, e.result, now_ns, &nothing);
	return 0;
}

/* All pieces of a call. Also not inlined: its loop would multiply the work of the verifier. */
__attribute__((noinline)) int aio_each(uint64_t pointer, int64_t n, uint64_t ns, bool submits)
{
	for (uint32_t i = 0; i < AIO_BATCH && i < n; i++) {
		if (submits)
			aio_begun(pointer + i * sizeof(uint64_t), ns);
		else
			aio_ended(pointer + i * sizeof(struct user_event), ns);
	}
	if (n > AIO_BATCH)
		__sync_fetch_and_add(&shared.lost, n - AIO_BATCH);
	return 0;
}

/* At the exit of io_submit(context, n, pointers) and io_getevents(context, min, n, events, ...). */
FORCE_INLINE void async_call(const struct bpf_record *r, const volatile struct bpf_call *c,
	const uint64_t args[TRACE_ARGS])
{
	if (c->flags & BPF_CALL_SUBMITS)
		aio_each(args[2], r->ret, r->start_ns, true);
	else
		aio_each(args[3], r->ret, r->start_ns + r->dur_ns, false);
}

/* io_uring: the kernel begins to process a request. */
FORCE_INLINE int uring_begun(uint64_t address)
{
	struct io_kiocb *request = POINTER(struct io_kiocb, address);
	struct task_struct *task = bpf_get_current_task_btf();
	struct bpf_async_key key = {.address = address};
	uint8_t op = MEMBER(request, opcode);
	uint32_t pid = (uint32_t)task->tgid;
	struct bpf_async a = {.pid = pid};
	struct io_rw *rw;

	/* By process: the thread may belong to the kernel (SQPOLL), for the same process. */
	if (op >= BPF_URING_OPS || !bpf_map_lookup_elem(&processes, &pid))
		return 0;
	a.nr = settings.uring_calls[masked(op, BPF_URING_OPS - 1)];
	if (!call_known(a.nr))
		return 0;
	a.tid = (uint32_t)task->pid;
	a.start_ns = bpf_ktime_get_ns();
	a.seq = __sync_fetch_and_add(&shared.seq, 1);
	a.fd = MEMBER(request, cqe.fd);
	if (bpf_core_type_exists(struct io_rw) &&
		settings.uring_moves >> masked(op, BPF_URING_OPS - 1) & 1) {
		rw = POINTER(struct io_rw, address); /* requests begin with their command */
		a.address = MEMBER(rw, addr);
		a.bytes = MEMBER(rw, len);
		a.offset = (uint64_t)MEMBER(rw, kiocb.ki_pos);
	}
	if (bpf_map_update_elem(&asyncs, &key, &a, BPF_ANY))
		emit_lost();
	return 0;
}

#define IORING_CQE_F_MORE 2u

FORCE_INLINE int uring_ended(uint64_t address, int64_t result, uint32_t flags)
{
	struct bpf_async_key key = {.address = address};
	struct bpf_async *known = bpf_map_lookup_elem(&asyncs, &key), a;
	struct io_kiocb *request;
	struct look seen = {};
	struct file *file;

	if (!known)
		return 0;
	a = *known;
	if (flags & IORING_CQE_F_MORE)
		known->start_ns = bpf_ktime_get_ns();
	else
		bpf_map_delete_elem(&asyncs, &key);
	request = POINTER(struct io_kiocb, address);
	file = MEMBER(request, file);
	if (file)
		look_at(file, &seen);
	a.file = seen.file;
	async_done(&a, result, bpf_ktime_get_ns(), &seen);
	return 0;
}

/* Tracepoints have changed their names and arguments: the backend loads the matching ones. */
SEC("tp_btf/io_uring_submit_req") /* Linux 6.4 */
int on_uring_request(uint64_t *ctx)
{
	return uring_begun(ctx[0]);
}

SEC("tp_btf/io_uring_submit_sqe") /* 5.19 */
int on_uring_entry(uint64_t *ctx)
{
	return uring_begun(ctx[0]);
}

SEC("tp_btf/io_uring_complete") /* with a completion; 6.10 */
int on_uring_completion(uint64_t *ctx)
{
	struct io_uring_cqe *cqe = (void *)ctx[2];
	int32_t result = 0;
	uint32_t flags = 0;

	bpf_core_read(&result, sizeof(result), &cqe->res);
	bpf_core_read(&flags, sizeof(flags), &cqe->flags);
	return uring_ended(ctx[1], result, flags);
}

SEC("tp_btf/io_uring_complete") /* with what is in it; 5.19 */
int on_uring_result(uint64_t *ctx)
{
	return uring_ended(ctx[1], (int32_t)ctx[3], (uint32_t)ctx[4]);
}

#endif
#endif
