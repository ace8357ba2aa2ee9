/* busy THREADS FILE: threads that make calls until SIGTERM.
 *
 * FILE is a shared array of 64-bit numbers: one for each thread, which counts its rounds, and
 * before them how many calls went otherwise than they would have without a tracer (also EINTR:
 * nobody sends signals).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint64_t *counts;
static int zero, null;

static void must(int good)
{
	if (!good) {
		atomic_fetch_add(&counts[1], errno == EINTR);
		atomic_fetch_add(&counts[0], 1);
	}
}

/* Calls that go on at once, and calls that wait. */
static void *work(void *arg)
{
	const struct timespec brief = {.tv_nsec = 500000};
	intptr_t number = (intptr_t)arg;
	int epoll = epoll_create1(EPOLL_CLOEXEC), fds[2];
	struct epoll_event e;
	char data[512];

	must(epoll >= 0);
	for (;;) {
		errno = 0;
		must(read(zero, data, sizeof(data)) == sizeof(data));
		must(write(null, data, sizeof(data)) == sizeof(data));
		must(pipe(fds) == 0);
		must(write(fds[1], data, 100) == 100);
		must(read(fds[0], data, sizeof(data)) == 100);
		must(close(fds[0]) == 0 && close(fds[1]) == 0);
		if (number % 2)
			must(epoll_wait(epoll, &e, 1, 1) == 0);
		else
			must(nanosleep(&brief, NULL) == 0);
		atomic_fetch_add(&counts[number + 1], 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0, fd;
	size_t size = ((size_t)threads + 2) * sizeof(*counts);
	pthread_t t;

	fd = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;
	if (threads < 1 || fd < 0 || ftruncate(fd, (off_t)size) < 0)
		return 2;
	counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counts == MAP_FAILED)
		return 2;
	zero = open("/dev/zero", O_RDONLY);
	null = open("/dev/null", O_WRONLY);
	for (intptr_t i = 1; i < threads; i++) {
		if (pthread_create(&t, NULL, work, (void *)i))
			return 2;
	}
	work((void *)(intptr_t)threads);
	return 0;
}
