/* numbered FILE THREADS CALLS SIZE direct|buffered|read: threads write a file in turn, SIZE bytes
 * at a time, each byte of which says by which call it was written: words of 64 bits, the number of
 * the call in the upper half, that of the word in the lower one. Or they read it. At the end of
 * buffered writes is an fsync. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fd, threads, calls, reads;
static size_t size;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *work(void *arg)
{
	uint64_t *words;

	if (posix_memalign((void **)&words, 4096, size))
		fail("memory");
	for (int i = 0; i < calls; i++) {
		uint64_t call = (uint64_t)i * (uint64_t)threads + (uint64_t)(intptr_t)arg + 1;
		off_t offset = (off_t)((call - 1) * size);

		for (size_t k = 0; k < size / sizeof(*words); k++)
			words[k] = call << 32 | k;
		if (reads ? pread(fd, words, size, offset) != (ssize_t)size
			  : pwrite(fd, words, size, offset) != (ssize_t)size)
			fail("I/O");
	}
	free(words);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[64];
	int direct;

	if (argc != 6 || atoi(argv[2]) > 64)
		return 2;
	threads = atoi(argv[2]);
	calls = atoi(argv[3]);
	size = (size_t)atol(argv[4]);
	direct = !strcmp(argv[5], "direct");
	reads = !strcmp(argv[5], "read");
	fd = open(argv[1], (reads ? O_RDONLY : O_RDWR | O_CREAT) | (direct ? O_DIRECT : 0), 0644);
	if (fd < 0)
		fail(argv[1]);
	for (int i = 0; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, work, (void *)(intptr_t)i))
			fail("thread");
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	if (!direct && !reads && fsync(fd))
		fail("fsync");
	return close(fd) ? 1 : 0;
}
