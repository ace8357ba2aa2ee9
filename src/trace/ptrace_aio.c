#include "trace/ptrace_aio.h"

#include "base/array.h"
#include "trace/ptrace_capture.h"
#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <sys/syscall.h>

#define BATCH 128	  /* items to read at once from the process */
#define WAITING_MAX 8192u /* per process */

struct aio_item {
	uint64_t context, iocb; /* addresses in the process; together they identify it */
	uint64_t seq;
	int64_t start_ns;
	uint64_t args[4];
	uint16_t nr;
	uint8_t file;
};

void aio_release(struct aio *a)
{
	free(a->items);
	*a = (struct aio){0};
}

/* The equivalent call of an operation; -1 if there is none. */
static int call_of(unsigned opcode)
{
	switch (opcode) {
	case IOCB_CMD_PREAD:
		return SYS_pread64;
	case IOCB_CMD_PWRITE:
		return SYS_pwrite64;
	case IOCB_CMD_FSYNC:
		return SYS_fsync;
	case IOCB_CMD_FDSYNC:
		return SYS_fdatasync;
	case IOCB_CMD_PREADV:
		return SYS_preadv;
	case IOCB_CMD_PWRITEV:
		return SYS_pwritev;
	default:
		return -1;
	}
}

static size_t find(const struct aio *a, uint64_t context, uint64_t iocb)
{
	size_t i;

	for (i = 0; i < a->n; i++) {
		if (a->items[i].iocb == iocb && a->items[i].context == context)
			break;
	}
	return i;
}

static void drop(struct aio *a, size_t i)
{
	a->items[i] = a->items[--a->n];
}

/* Keep a submission; 1 if another one had to be forgotten for it. */
static int keep(struct aio *a, const struct aio_item *item)
{
	size_t i = find(a, item->context, item->iocb);
	int forgotten = i < a->n;

	if (forgotten) {
		drop(a, i);
	} else if (a->n >= WAITING_MAX) {
		drop(a, 0);
		forgotten = 1;
	}
	if (array_reserve(&a->items, &a->cap, a->n + 1, sizeof(*a->items)) < 0)
		return -ENOMEM;
	a->items[a->n++] = *item;
	return forgotten;
}

int aio_submitted(struct aio *a, const struct trace_event *call,
	unsigned (*kind)(void *ctx, int fd), void *ctx)
{
	uint64_t pointers[BATCH];
	int forgotten = 0;

	for (int64_t done = 0; done < call->ret; done += BATCH) {
		int64_t want = call->ret - done < BATCH ? call->ret - done : BATCH;
		size_t got = capture_bytes(call->tid, call->args[2] + (uint64_t)done * 8, pointers,
			(size_t)want * sizeof(*pointers));

		for (size_t i = 0; i < got / sizeof(*pointers); i++) {
			struct iocb cb;
			struct aio_item item = {.context = call->args[0],
				.iocb = pointers[i],
				.seq = call->seq,
				.start_ns = call->start_ns};
			int nr, r;

			if (capture_bytes(call->tid, pointers[i], &cb, sizeof(cb)) != sizeof(cb))
				continue;
			nr = call_of(cb.aio_lio_opcode);
			if (nr < 0)
				continue;
			item.nr = (uint16_t)nr;
			item.args[0] = cb.aio_fildes;
			item.args[1] = cb.aio_buf;
			item.args[2] = cb.aio_nbytes;
			item.args[3] = (uint64_t)cb.aio_offset;
			item.file = (uint8_t)kind(ctx, (int)cb.aio_fildes);
			r = keep(a, &item);
			if (r < 0)
				return r;
			forgotten += r;
		}
	}
	return forgotten;
}

static int tell(struct aio *a, const struct trace_event *call, const struct io_event *done,
	int (*event)(void *ctx, struct trace_event *e), void *ctx)
{
	size_t i = find(a, call->args[0], done->obj);
	const struct aio_item *item = &a->items[i];
	struct trace_event e = {.what = TRACE_ASYNC, .pid = call->pid, .tid = call->tid};

	if (i == a->n)
		return 0; /* submitted before tracing began, or not an operation on a file */
	e.seq = item->seq;
	e.start_ns = item->start_ns;
	e.dur_ns = call->start_ns + call->dur_ns - item->start_ns;
	e.nr = item->nr;
	e.file = item->file;
	e.ret = done->res;
	for (int k = 0; k < 4; k++)
		e.args[k] = item->args[k];
	drop(a, i);
	return event(ctx, &e);
}

int aio_completed(struct aio *a, const struct trace_event *call,
	int (*event)(void *ctx, struct trace_event *e), void *ctx)
{
	struct io_event events[BATCH];

	for (int64_t done = 0; a->n && done < call->ret; done += BATCH) {
		int64_t want = call->ret - done < BATCH ? call->ret - done : BATCH;
		size_t got =
			capture_bytes(call->tid, call->args[3] + (uint64_t)done * sizeof(*events),
				events, (size_t)want * sizeof(*events));

		for (size_t i = 0; i < got / sizeof(*events); i++) {
			int r = tell(a, call, &events[i], event, ctx);

			if (r)
				return r;
		}
	}
	return 0;
}
