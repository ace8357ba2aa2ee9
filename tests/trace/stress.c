/* stress THREADS DESCRIPTORS: as many threads open so many descriptors together, hold all of them
 * at once, use and close them. Prints one JSON object: how many calls of each kind were made.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEEP 1000 /* descriptors for everything else */

static int each; /* descriptors of a thread */
static struct {
	pthread_barrier_t all_open;
	atomic_ulong failed;
} * shared;

static void must(int good)
{
	if (!good)
		atomic_fetch_add(&shared->failed, 1);
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
	pthread_barrier_wait(&shared->all_open);
	for (int i = 0; i < each; i += 4)
		must(syscall(SYS_pwrite64, fds[i], &byte, 1, (off_t)i) == 1);
	for (int i = 0; i < each; i++)
		must(syscall(SYS_close, fds[i]) == 0);
	free(fds);
	return NULL;
}

/* How many descriptors a process may have, made as large as it goes. */
static long most_descriptors(long wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_max < (rlim_t)wanted) {
		struct rlimit more = {(rlim_t)wanted, (rlim_t)wanted};

		if (setrlimit(RLIMIT_NOFILE, &more) == 0)
			return wanted;
	}
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0 : (long)limit.rlim_max;
}

static void run_threads(int n)
{
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));

	for (int i = 0; i < n; i++) {
		if (!ids || pthread_create(&ids[i], NULL, work, NULL))
			exit(1);
	}
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

static int run_processes(int n, int threads)
{
	int status, bad = 0;

	for (int i = 0; i < n; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child == 0) {
			run_threads(threads);
			_exit(0);
		}
	}
	while (wait(&status) > 0)
		bad |= status;
	return bad;
}

static void share_barrier(int threads)
{
	pthread_barrierattr_t attr;

	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		exit(1);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->all_open, &attr, (unsigned)threads);
}

int main(int argc, char **argv)
{
	int threads = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0, processes = 1;
	long most, n;

	if (threads < 1)
		return 2;
	each = (int)strtol(argv[2], NULL, 10) / threads / 4 * 4;
	n = (long)threads * each;
	most = most_descriptors(n + KEEP);
	while ((long)(threads / processes) * each + KEEP > most || threads % processes) {
		if (++processes > threads)
			return 77;
	}
	share_barrier(threads);
	if (run_processes(processes, threads / processes))
		return 1;
	printf("{\"processes\":%d,\"threads\":%d,\"descriptors\":%ld,\"openat\":%ld,\"dup\":%ld,"
	       "\"eventfd2\":%ld,\"socket\":%ld,\"pwrite64\":%ld,\"close\":%ld,"
	       "\"failed\":%lu}\n",
		processes, threads, n, n / 4, n / 4, n / 4, n / 4, n / 4, n,
		atomic_load(&shared->failed));
	return atomic_load(&shared->failed) != 0;
}
