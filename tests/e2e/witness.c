/* A library to preload into the recorder, which counts what a test cannot see from outside: samples
 * begun (the timer was read) and flushes. For every flush it notes how often memory was allocated
 * until then by the sampling (main) thread and by others. The counts live in the file that $WITNESS
 * names, so that they survive kill -9.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#pragma GCC visibility push(default)

#define FLUSHES_MAX 4096

struct counts {
	uint64_t samples, flushes;
	uint64_t allocations[FLUSHES_MAX][2]; /* before each flush: by the main thread, by others */
};

static struct counts none, *counts = &none;
static uint64_t allocations[2];
static int timer = -1;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("WITNESS");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
	void *map;

	if (fd < 0 || ftruncate(fd, sizeof(*counts)) < 0)
		return;
	map = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		counts = map;
	close(fd);
}

static void count(void)
{
	bool other = syscall(SYS_gettid) != getpid();

	__atomic_fetch_add(&allocations[other], 1, __ATOMIC_RELAXED);
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are its own. */

void *malloc(size_t size)
{
	count();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count();
	return __libc_calloc(n, size);
}

void *realloc(void *old, size_t size)
{
	count();
	return __libc_realloc(old, size);
}

int timerfd_create(int clock, int flags)
{
	timer = (int)syscall(SYS_timerfd_create, clock, flags);
	return timer;
}

ssize_t read(int fd, void *buf, size_t size)
{
	ssize_t n = syscall(SYS_read, fd, buf, size);

	if (fd == timer && n > 0)
		__atomic_fetch_add(&counts->samples, 1, __ATOMIC_RELAXED);
	return n;
}

int fdatasync(int fd)
{
	uint64_t n = __atomic_fetch_add(&counts->flushes, 1, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < 2 && n < FLUSHES_MAX; i++)
		counts->allocations[n][i] = __atomic_load_n(&allocations[i], __ATOMIC_RELAXED);
	return (int)syscall(SYS_fdatasync, fd);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */

#pragma GCC visibility pop
