/* stress THREADS DESCRIPTORS: as many threads open so many descriptors together, hold all of them
 * at once, use and close them. Prints one JSON object: how many calls of each kind were made.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KEEP 1000 /* descriptors for everything else */

static int threads, each;
static pthread_barrier_t all_open;
static atomic_ulong failed;

static void must(int good)
{
	if (!good)
		atomic_fetch_add(&failed, 1);
}

/* One descriptor of each kind in turn: opened, copied, an eventfd, a socket. */
static int make(int i, int first)
{
	switch (i % 4) {
	case 0:
		return (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
	case 1:
		return (int)syscall(SYS_dup, first);
	case 2:
		return (int)syscall(SYS_eventfd2, 0, EFD_NONBLOCK);
	default:
		return (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	}
}

static void *work(void *arg)
{
	int *fds = calloc((size_t)each, sizeof(*fds));
	char byte = 0;

	(void)arg;
	if (!fds)
		exit(1);
	for (int i = 0; i < each; i++) {
		fds[i] = make(i, fds[0]);
		must(fds[i] >= 0);
	}
	pthread_barrier_wait(&all_open);
	for (int i = 0; i < each; i += 4)
		must(syscall(SYS_pwrite64, fds[i], &byte, 1, (off_t)i) == 1);
	for (int i = 0; i < each; i++)
		must(syscall(SYS_close, fds[i]) == 0);
	free(fds);
	return NULL;
}

static int allow(rlim_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	if (limit.rlim_max < n)
		limit.rlim_max = n;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	pthread_t *ids;
	long n;

	if (argc != 3)
		return 2;
	threads = atoi(argv[1]);
	each = atoi(argv[2]) / threads / 4 * 4;
	n = (long)threads * each;
	if (allow((rlim_t)n + KEEP) < 0) {
		fprintf(stderr, "stress: cannot have %ld descriptors: %s\n", n, strerror(errno));
		return 77;
	}
	ids = calloc((size_t)threads, sizeof(*ids));
	pthread_barrier_init(&all_open, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, work, NULL))
			return 1;
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	free(ids);
	printf("{\"threads\":%d,\"descriptors\":%ld,\"openat\":%ld,\"dup\":%ld,\"eventfd2\":%ld,"
	       "\"socket\":%ld,\"pwrite64\":%ld,\"close\":%ld,\"failed\":%lu}\n",
		threads, n, n / 4, n / 4, n / 4, n / 4, n / 4, n, atomic_load(&failed));
	return atomic_load(&failed) != 0;
}
