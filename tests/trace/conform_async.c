/* I/O that is done without anybody waiting: AIO and io_uring; and 32-bit calls. */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char data[4096];

static void aio(void)
{
	struct iocb cbs[3] = {{.aio_lio_opcode = IOCB_CMD_PWRITE, .aio_nbytes = 512},
		{.aio_lio_opcode = IOCB_CMD_PREAD, .aio_nbytes = 100, .aio_offset = 10},
		{.aio_lio_opcode = IOCB_CMD_FSYNC}};
	struct iocb *list[3] = {&cbs[0], &cbs[1], &cbs[2]}, *wrong[1] = {(void *)8};
	struct io_event done[3];
	aio_context_t context = 0;
	int64_t n;
	long fd;

	part_begin("aio");
	fd = DO(open, P("aio"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	if (DO(io_setup, 8, P(&context)) == 0) {
		for (int i = 0; i < 3; i++) {
			cbs[i].aio_fildes = (uint32_t)fd;
			cbs[i].aio_buf = cbs[i].aio_nbytes ? P(data) : 0;
			/* One after the other, so that their results are known. */
			n = DO(io_submit, context, 1, P(&list[i]));
			if (n == 1 && DO(io_getevents, context, 1, 3, P(done), 0) == 1)
				note_async(i == 0	 ? "pwrite64"
						: i == 1 ? "pread64"
							 : "fsync",
					(int)fd, cbs[i].aio_buf, cbs[i].aio_nbytes,
					cbs[i].aio_offset, (long)done[0].res);
		}
		DO(io_submit, context, 1, P(wrong)); /* EFAULT */
		DO(io_destroy, context);
	}
	DO(close, I(fd));
	part_end();
}

struct ring {
	long fd;
	unsigned *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void map_ring(struct ring *r, const struct io_uring_params *p)
{
	size_t size = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	char *ring;

	if (size < p->sq_off.array + p->sq_entries * 4)
		size = p->sq_off.array + p->sq_entries * 4;
	ring = (char *)DO(
		mmap, 0, size, PROT_READ | PROT_WRITE, MAP_SHARED, I(r->fd), IORING_OFF_SQ_RING);
	r->sq_tail = (void *)(ring + p->sq_off.tail);
	r->sq_mask = (void *)(ring + p->sq_off.ring_mask);
	r->sq_array = (void *)(ring + p->sq_off.array);
	r->cq_head = (void *)(ring + p->cq_off.head);
	r->cq_tail = (void *)(ring + p->cq_off.tail);
	r->cq_mask = (void *)(ring + p->cq_off.ring_mask);
	r->cqes = (void *)(ring + p->cq_off.cqes);
	r->sqes = (void *)DO(mmap, 0, p->sq_entries * sizeof(struct io_uring_sqe),
		PROT_READ | PROT_WRITE, MAP_SHARED, I(r->fd), IORING_OFF_SQES);
}

/* Submit one and wait for it; its result. */
static int ring_do(struct ring *r, const struct io_uring_sqe *sqe)
{
	unsigned tail = *r->sq_tail, head = *r->cq_head;

	r->sqes[tail & *r->sq_mask] = *sqe;
	r->sq_array[tail & *r->sq_mask] = tail & *r->sq_mask;
	atomic_thread_fence(memory_order_seq_cst);
	*(volatile unsigned *)r->sq_tail = tail + 1;
	atomic_thread_fence(memory_order_seq_cst);
	DO(io_uring_enter, I(r->fd), 1, 1, IORING_ENTER_GETEVENTS, 0, 0);
	*(volatile unsigned *)r->cq_head = head + 1;
	return r->cqes[head & *r->cq_mask].res;
}

static void uring(void)
{
	static struct io_uring_params p;
	struct io_uring_sqe write = {.opcode = IORING_OP_WRITE, .len = 300, .addr = P(data)};
	struct io_uring_sqe read = {
		.opcode = IORING_OP_READ, .len = 100, .addr = P(data), .off = 20};
	struct io_uring_sqe sync = {.opcode = IORING_OP_FSYNC};
	struct ring r;
	long fd;

	part_begin("uring");
	fd = DO(open, P("uring"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	write.fd = read.fd = sync.fd = (int)fd;
	r.fd = DO(io_uring_setup, 4, P(&p));
	if (r.fd >= 0 && p.features & IORING_FEAT_SINGLE_MMAP) {
		map_ring(&r, &p);
		note_async("pwrite64", (int)fd, P(data), 300, 0, ring_do(&r, &write));
		note_async("pread64", (int)fd, P(data), 100, 20, ring_do(&r, &read));
		note_async("fsync", (int)fd, 0, 0, 0, ring_do(&r, &sync));
		DO(close, I(r.fd));
	}
	DO(close, I(fd));
	part_end();
}

#ifdef __x86_64__

static long call32(long nr, unsigned a, unsigned b, unsigned c)
{
	long ret;

	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"((long)a), "c"((long)b), "d"((long)c)
			 : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

/* Whether there are such calls is up to the kernel: without, the process gets a signal. */
static volatile sig_atomic_t missing;
static sigjmp_buf back;

static void on_missing(int sig)
{
	(void)sig;
	missing = 1;
	siglongjmp(back, 1);
}

static bool has_compat(void)
{
	struct sigaction before, try = {.sa_handler = on_missing};

	sigaction(SIGSEGV, &try, &before);
	if (!sigsetjmp(back, 1))
		missing = call32(20, 0, 0, 0) == -ENOSYS; /* getpid */
	sigaction(SIGSEGV, &before, NULL);
	return !missing;
}

/* Noted with "32:" before its name. */
static long do32(const char *name, long nr, unsigned a, unsigned b, unsigned c)
{
	const uint64_t args[6] = {a, b, c};
	long ret = call32(nr, a, b, c);
	char text[32];

	snprintf(text, sizeof(text), "%ld", ret);
	note_call(name, args, 3, text);
	return ret;
}

static void compat(void)
{
	char *low = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	unsigned at = (unsigned)(uintptr_t)low;
	long fd;

	if (low == MAP_FAILED || !has_compat())
		return;
	memcpy(low, "a", 2);
	part_begin("compat");
	fd = do32("32:open", 5, at, O_RDONLY, 0);
	do32("32:read", 3, (unsigned)fd, at, 10);
	do32("32:close", 6, (unsigned)fd, 0, 0);
	do32("32:close", 6, (unsigned)fd, 0, 0); /* EBADF */
	do32("32:getpid", 20, 0, 0, 0);
	do32("32:write", 4, 999, at, 1); /* EBADF */
	part_end();
	munmap(low, 4096);
}

#else

static void compat(void)
{
}

#endif

void parts_of_async(void)
{
	aio();
	uring();
	compat();
}
