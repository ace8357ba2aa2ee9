/* The layer posix: asynchronous I/O, by POSIX AIO (aio_write(); Open MPI's and MPICH's nonblocking
 * calls of MPI-IO use it) and by libaio (io_submit()). Such a call begins when the program requests
 * it, and ends when the program, in any thread, learns that it has ended.
 *
 * Calls in progress are in a table, by the address of the program's control block.
 */
#include "runtime/spans.h"

#include <aio.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <time.h>

enum {
	SLOTS = 8192,
	NEAR = 64,	/* a call is in one of this many slots, beginning with that of its hash */
	TOGETHER = 256, /* calls in one request; more are not recorded */
};

/* Both are set when the program has learnt that the call was accepted, and that it has ended; a
 * second thread may learn of the end first. */
enum { ACCEPTED = 1, ENDED = 2 };

/* `block` of a slot that is being filled. */
#define FILLING 1

static struct slot {
	uintptr_t block; /* address of the control block; 0: free; atomic */
	uint32_t state;	 /* atomic */
	struct spans_record *record;
	struct spans_record own; /* it is here if only sums are kept */
} slots[SLOTS];
static uint32_t n_slots; /* in use; atomic */

static struct slot *slot_near(uintptr_t block, unsigned i)
{
	uint64_t hash = (uint64_t)block * UINT64_C(0x9e3779b97f4a7c15);

	return &slots[((hash >> 40) + i) % SLOTS];
}

/* The slot of a call that has not ended. */
static struct slot *slot_find(const void *block)
{
	if (!__atomic_load_n(&n_slots, __ATOMIC_RELAXED))
		return NULL;
	for (unsigned i = 0; i < NEAR; i++) {
		struct slot *s = slot_near((uintptr_t)block, i);

		if (__atomic_load_n(&s->block, __ATOMIC_ACQUIRE) == (uintptr_t)block &&
			!(__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) & ENDED))
			return s;
	}
	return NULL;
}

static void slot_free(struct slot *s)
{
	s->record = NULL;
	__atomic_store_n(&s->block, 0, __ATOMIC_RELEASE);
	__atomic_sub_fetch(&n_slots, 1, __ATOMIC_RELAXED);
}

/* A free slot for a call; NULL: there is none. */
static struct slot *slot_take(const void *block)
{
	struct slot *old = slot_find(block);

	/* The program never asked for the result of an earlier call, which remains open. */
	if (old)
		slot_free(old);
	for (unsigned i = 0; i < NEAR; i++) {
		struct slot *s = slot_near((uintptr_t)block, i);
		uintptr_t free = 0;

		if (!__atomic_compare_exchange_n(
			    &s->block, &free, FILLING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		__atomic_add_fetch(&n_slots, 1, __ATOMIC_RELAXED);
		return s;
	}
	return NULL;
}

/* A call is about to be requested. */
SPANS_INLINE struct slot *begin(int fd, enum span_op op, const char *function, int64_t offset,
	int64_t size, const void *block)
{
	struct spans_object object;
	struct spans_record *r;
	struct slot *s;

	if (!spans_on(SPANS_POSIX) || !spans_fd(fd, &object))
		return NULL;
	s = slot_take(block);
	if (!s) {
		spans_lost();
		return NULL;
	}
	r = spans_begin(SPANS_POSIX, op | SPANS_LATER, function, offset, size, &object);
	if (!r) {
		slot_free(s);
		return NULL;
	}
	if (spans_sums()) {
		s->own = *r;
		r = &s->own;
	}
	s->record = r;
	__atomic_store_n(&s->state, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->block, (uintptr_t)block, __ATOMIC_RELEASE);
	return s;
}

static void happened(struct slot *s, uint32_t what)
{
	struct spans_record *r = s->record;

	if (__atomic_fetch_or(&s->state, what, __ATOMIC_ACQ_REL) == 0)
		return;
	spans_done(r);
	slot_free(s);
}

/* The request returned: was the call accepted? If not, `error` is the reason; 0: it was not
 * tried. */
static void requested(struct slot *s, bool accepted, int error)
{
	if (!s)
		return;
	spans_requested(s->record);
	if (accepted) {
		happened(s, ACCEPTED);
		return;
	}
	if (error) {
		spans_finish(s->record, error);
		spans_done(s->record);
	} else {
		spans_void(s->record);
	}
	slot_free(s);
}

/* The program learns that the call has ended. */
static void ended(const void *block, int64_t result)
{
	struct slot *s = slot_find(block);

	if (!s)
		return;
	spans_finish(s->record, result);
	happened(s, ENDED);
}

#define AIO_REQUEST(name, type, op)                                                                \
	SPANS_EXPORT int name(struct type *block);                                                 \
	SPANS_EXPORT int name(struct type *block)                                                  \
	{                                                                                          \
		struct slot *s;                                                                    \
		int result;                                                                        \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		s = begin(block->aio_fildes, op, #name, (int64_t)block->aio_offset,                \
			(int64_t)block->aio_nbytes, block);                                        \
		result = next(block);                                                              \
		requested(s, result == 0, -errno);                                                 \
		return result;                                                                     \
	}

AIO_REQUEST(aio_read, aiocb, SPAN_READ)
AIO_REQUEST(aio_read64, aiocb64, SPAN_READ)
AIO_REQUEST(aio_write, aiocb, SPAN_WRITE)
AIO_REQUEST(aio_write64, aiocb64, SPAN_WRITE)

#define AIO_SYNC(name, type)                                                                       \
	SPANS_EXPORT int name(int how, struct type *block);                                        \
	SPANS_EXPORT int name(int how, struct type *block)                                         \
	{                                                                                          \
		struct slot *s;                                                                    \
		int result;                                                                        \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		s = begin(block->aio_fildes, SPAN_SYNC, #name, SPAN_NO_OFFSET, 0, block);          \
		result = next(how, block);                                                         \
		requested(s, result == 0, -errno);                                                 \
		return result;                                                                     \
	}

AIO_SYNC(aio_fsync, aiocb)
AIO_SYNC(aio_fsync64, aiocb64)

/* If not all could be requested, aio_error() and aio_return() say which were. */
#define AIO_LIST(name, type)                                                                       \
	SPANS_EXPORT int name(                                                                     \
		int mode, struct type *const blocks[], int n, struct sigevent *signal);            \
	SPANS_EXPORT int name(                                                                     \
		int mode, struct type *const blocks[], int n, struct sigevent *signal)             \
	{                                                                                          \
		struct slot *begun[TOGETHER];                                                      \
		int result, n_begun = spans_on(SPANS_POSIX) ? n : 0;                               \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		n_begun = n_begun < TOGETHER ? n_begun : TOGETHER;                                 \
		for (int i = 0; i < n_begun; i++)                                                  \
			begun[i] = blocks[i] && blocks[i]->aio_lio_opcode != LIO_NOP               \
				? begin(blocks[i]->aio_fildes,                                     \
					  blocks[i]->aio_lio_opcode == LIO_READ ? SPAN_READ        \
										: SPAN_WRITE,      \
					  #name, (int64_t)blocks[i]->aio_offset,                   \
					  (int64_t)blocks[i]->aio_nbytes, blocks[i])               \
				: NULL;                                                            \
		result = next(mode, blocks, n, signal);                                            \
		for (int i = 0; i < n_begun; i++)                                                  \
			requested(begun[i], result == 0 || errno != EINVAL, 0);                    \
		return result;                                                                     \
	}

AIO_LIST(lio_listio, aiocb)
AIO_LIST(lio_listio64, aiocb64)

/* It returns -1 for all errors, which aio_error() distinguishes. */
#define AIO_RETURN(name, type, error_name)                                                         \
	SPANS_EXPORT ssize_t name(struct type *block);                                             \
	SPANS_EXPORT ssize_t name(struct type *block)                                              \
	{                                                                                          \
		int error = slot_find(block) ? error_name(block) : 0;                              \
		ssize_t result;                                                                    \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		result = next(block);                                                              \
		if (error != EINPROGRESS)                                                          \
			ended(block, result < 0 ? -error : result);                                \
		return result;                                                                     \
	}

AIO_RETURN(aio_return, aiocb, aio_error)
AIO_RETURN(aio_return64, aiocb64, aio_error64)

/* libaio. Its control blocks are the kernel's. */
SPANS_INLINE struct slot *begin_block(const struct iocb *b)
{
	const struct iovec *iov = (const struct iovec *)(uintptr_t)b->aio_buf;
	int64_t size = (int64_t)b->aio_nbytes;
	enum span_op op;

	switch (b->aio_lio_opcode) {
	case IOCB_CMD_PREAD:
	case IOCB_CMD_PREADV:
		op = SPAN_READ;
		break;
	case IOCB_CMD_PWRITE:
	case IOCB_CMD_PWRITEV:
		op = SPAN_WRITE;
		break;
	case IOCB_CMD_FSYNC:
	case IOCB_CMD_FDSYNC:
		return begin(
			(int)b->aio_fildes, SPAN_SYNC, "io_submit fsync", SPAN_NO_OFFSET, 0, b);
	default:
		return NULL;
	}
	if (b->aio_lio_opcode == IOCB_CMD_PREADV || b->aio_lio_opcode == IOCB_CMD_PWRITEV) {
		size = 0;
		for (uint64_t i = 0; i < b->aio_nbytes && i < 1024; i++)
			size += (int64_t)iov[i].iov_len;
	}
	return begin((int)b->aio_fildes, op, "io_submit", b->aio_offset, size, b);
}

SPANS_EXPORT int io_submit(aio_context_t context, long n, struct iocb **blocks);
SPANS_EXPORT int io_submit(aio_context_t context, long n, struct iocb **blocks)
{
	struct slot *begun[TOGETHER];
	long n_begun = spans_on(SPANS_POSIX) ? n : 0;
	int result;

	SPANS_NEXT(io_submit);
	if (!next)
		return -ENOSYS;
	n_begun = n_begun < TOGETHER ? n_begun : TOGETHER;
	for (long i = 0; i < n_begun; i++)
		begun[i] = begin_block(blocks[i]);
	result = next(context, n, blocks);
	for (long i = 0; i < n_begun; i++)
		requested(begun[i], i < result, i == 0 ? result : 0);
	return result;
}

static void all_ended(const struct io_event *events, int n)
{
	for (int i = 0; i < n; i++)
		ended((const void *)(uintptr_t)events[i].obj, events[i].res);
}

SPANS_EXPORT int io_getevents(aio_context_t context, long least, long most, struct io_event *events,
	struct timespec *limit);
SPANS_EXPORT int io_getevents(aio_context_t context, long least, long most, struct io_event *events,
	struct timespec *limit)
{
	int result;

	SPANS_NEXT(io_getevents);
	if (!next)
		return -ENOSYS;
	result = next(context, least, most, events, limit);
	all_ended(events, result);
	return result;
}

SPANS_EXPORT int io_pgetevents(aio_context_t context, long least, long most,
	struct io_event *events, struct timespec *limit, sigset_t *signals);
SPANS_EXPORT int io_pgetevents(aio_context_t context, long least, long most,
	struct io_event *events, struct timespec *limit, sigset_t *signals)
{
	int result;

	SPANS_NEXT(io_pgetevents);
	if (!next)
		return -ENOSYS;
	result = next(context, least, most, events, limit, signals);
	all_ended(events, result);
	return result;
}
