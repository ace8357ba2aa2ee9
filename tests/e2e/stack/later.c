/* Asynchronous calls whose numbers, sizes and offsets are known: `later FILE`. With LIBAIO defined
 * by libaio, else by POSIX AIO. It prints what it saw, which must not depend on whether it is
 * watched. */
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { N = 8, SIZE = 4096 };

static char data[N][SIZE];

#ifdef LIBAIO
/* Its headers may not be installed. */
int io_setup(int n, aio_context_t *ret);
int io_submit(aio_context_t context, long n, struct iocb **blocks);
int io_getevents(aio_context_t context, long least, long most, struct io_event *events,
	struct timespec *limit);
int io_destroy(aio_context_t context);

static void together(int fd)
{
	struct iocb blocks[N] = {0}, *list[N];
	struct io_event events[N];
	aio_context_t context = 0;
	int n;

	printf("setup %d\n", io_setup(N, &context));
	for (int i = 0; i < N; i++) {
		list[i] = &blocks[i];
		blocks[i].aio_lio_opcode = IOCB_CMD_PWRITE;
		blocks[i].aio_fildes = (uint32_t)fd;
		blocks[i].aio_buf = (uint64_t)(uintptr_t)data[i];
		blocks[i].aio_nbytes = SIZE;
		blocks[i].aio_offset = i * SIZE;
	}
	blocks[N - 1].aio_reserved2 = 1; /* is refused */
	printf("submit %d\n", io_submit(context, 1, list));
	printf("submit %d\n", io_submit(context, N - 1, list + 1));
	for (int done = 0; done < N - 1; done += n) {
		n = io_getevents(context, 1, N, events, NULL);
		for (int i = 0; i < n; i++)
			printf("event %lld\n", (long long)events[i].res);
	}
	blocks[0].aio_lio_opcode = IOCB_CMD_PREAD;
	blocks[0].aio_offset = (N - 1) * SIZE - 100;
	printf("submit %d\n", io_submit(context, 1, list));
	printf("events %d\n", io_getevents(context, 1, 1, events, NULL));
	printf("event %lld\n", (long long)events[0].res);
	printf("refused %d\n", io_submit(context, 1, list + N - 1));
	printf("destroy %d\n", io_destroy(context));
}
#else
static void finish(struct aiocb *b)
{
	const struct aiocb *list[] = {b};
	int error;

	while (aio_error(b) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	error = aio_error(b);
	printf("%d of %d at %ld: %zd %s\n", b->aio_lio_opcode, (int)b->aio_nbytes,
		(long)b->aio_offset, aio_return(b), strerror(error));
}

static void together(int fd)
{
	struct aiocb blocks[N] = {0}, *list[N] = {NULL};

	for (int i = 0; i < N; i++) {
		blocks[i].aio_fildes = fd;
		blocks[i].aio_buf = data[i];
		blocks[i].aio_nbytes = SIZE;
		blocks[i].aio_offset = i * SIZE;
		printf("write %d\n", aio_write(&blocks[i]));
	}
	for (int i = 0; i < N; i++)
		finish(&blocks[i]);
	blocks[0].aio_offset = N * SIZE - 100;
	printf("read %d\n", aio_read(&blocks[0]));
	finish(&blocks[0]);
	blocks[0].aio_fildes = dup(fd);
	blocks[0].aio_offset = -1;
	printf("read %d\n", aio_read(&blocks[0]));
	finish(&blocks[0]);
	close(blocks[0].aio_fildes);
	for (int i = 0; i < 3; i++) {
		list[i] = &blocks[i + 1];
		list[i]->aio_lio_opcode = i == 1 ? LIO_NOP : LIO_WRITE;
		list[i]->aio_offset = (N + i) * SIZE;
	}
	printf("list %d\n", lio_listio(LIO_WAIT, list, 3, NULL));
	finish(list[0]);
	finish(list[2]);
	printf("fsync %d\n", aio_fsync(O_SYNC, &blocks[4]));
	finish(&blocks[4]);
}
#endif

int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDWR | O_CREAT | O_TRUNC, 0600);

	together(fd);
	errno = EXDEV;
	printf("close %d %s\n", close(fd), strerror(errno));
	return 0;
}
