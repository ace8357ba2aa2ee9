/* Reads and writes a file through AIO and through io_uring, for a tracer to see.
 *
 * trace_async FILE N: N times 512 bytes are written and read back by each. Prints "aio", "uring" or
 * both, as far as the kernel lets it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PIECE 512

static char buffer[PIECE];

static int aio_one(aio_context_t context, int fd, int opcode, int64_t offset)
{
	struct iocb piece = {.aio_lio_opcode = (uint16_t)opcode,
		.aio_fildes = (uint32_t)fd,
		.aio_buf = (uint64_t)(uintptr_t)buffer,
		.aio_nbytes = PIECE,
		.aio_offset = offset};
	struct iocb *pieces[] = {&piece};
	struct io_event done;

	if (syscall(SYS_io_submit, context, 1L, pieces) != 1 ||
		syscall(SYS_io_getevents, context, 1L, 1L, &done, NULL) != 1)
		return -errno;
	return done.res == PIECE ? 0 : -EIO;
}

static int by_aio(int fd, int n)
{
	aio_context_t context = 0;
	int r = syscall(SYS_io_setup, 8, &context) < 0 ? -errno : 0;

	for (int i = 0; r == 0 && i < n; i++)
		r = aio_one(context, fd, IOCB_CMD_PWRITE, (int64_t)i * PIECE);
	for (int i = 0; r == 0 && i < n; i++)
		r = aio_one(context, fd, IOCB_CMD_PREAD, (int64_t)i * PIECE);
	if (context)
		syscall(SYS_io_destroy, context);
	return r;
}

struct uring {
	int fd;
	struct io_uring_params p;
	unsigned char *sq, *cq;
	struct io_uring_sqe *entries;
};

static int uring_open(struct uring *u)
{
	size_t sq_size, cq_size;

	u->fd = (int)syscall(SYS_io_uring_setup, 4, &u->p);
	if (u->fd < 0)
		return -errno;
	sq_size = u->p.sq_off.array + u->p.sq_entries * sizeof(uint32_t);
	cq_size = u->p.cq_off.cqes + u->p.cq_entries * sizeof(struct io_uring_cqe);
	u->sq = mmap(NULL, sq_size, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_SQ_RING);
	u->cq = mmap(NULL, cq_size, PROT_READ | PROT_WRITE, MAP_SHARED, u->fd, IORING_OFF_CQ_RING);
	u->entries = mmap(NULL, u->p.sq_entries * sizeof(*u->entries), PROT_READ | PROT_WRITE,
		MAP_SHARED, u->fd, IORING_OFF_SQES);
	return u->sq == MAP_FAILED || u->cq == MAP_FAILED || u->entries == MAP_FAILED ? -ENOMEM : 0;
}

static uint32_t *at(unsigned char *ring, uint32_t offset)
{
	return (uint32_t *)(void *)(ring + offset);
}

static int uring_one(struct uring *u, int fd, int opcode, uint64_t offset)
{
	uint32_t *tail = at(u->sq, u->p.sq_off.tail), *head = at(u->cq, u->p.cq_off.head);
	uint32_t mask = *at(u->sq, u->p.sq_off.ring_mask), slot = *tail & mask;
	struct io_uring_cqe *done;

	u->entries[slot] = (struct io_uring_sqe){.opcode = (uint8_t)opcode,
		.fd = fd,
		.addr = (uint64_t)(uintptr_t)buffer,
		.len = PIECE,
		.off = offset};
	at(u->sq, u->p.sq_off.array)[slot] = slot;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		return -errno;
	if (__atomic_load_n(at(u->cq, u->p.cq_off.tail), __ATOMIC_ACQUIRE) == *head)
		return -EAGAIN;
	done = (struct io_uring_cqe *)(void *)(u->cq + u->p.cq_off.cqes) +
		(*head & *at(u->cq, u->p.cq_off.ring_mask));
	opcode = done->res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return opcode == PIECE ? 0 : -EIO;
}

static int by_uring(int fd, int n)
{
	struct uring u = {0};
	int r = uring_open(&u);

	for (int i = 0; r == 0 && i < n; i++)
		r = uring_one(&u, fd, IORING_OP_WRITE, (uint64_t)i * PIECE);
	for (int i = 0; r == 0 && i < n; i++)
		r = uring_one(&u, fd, IORING_OP_READ, (uint64_t)i * PIECE);
	return r;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	int n = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;

	if (fd < 0)
		return 2;
	memset(buffer, 'x', sizeof(buffer));
	if (by_aio(fd, n) == 0)
		puts("aio");
	if (by_uring(fd, n) == 0)
		puts("uring");
	return 0;
}
