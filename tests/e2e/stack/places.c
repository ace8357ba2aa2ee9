/* Writes from several functions, and through a library: `places FILE`. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long deposit_put(const char *path, long offset, const void *data, long size, double weight);

static char data[8192];

__attribute__((noinline)) static int write_block(int fd, int n)
{
	return write(fd, data, (size_t)n) == n ? 0 : -1;
}

__attribute__((noinline)) int checkpoint(int fd);
__attribute__((noinline)) int checkpoint(int fd)
{
	int r = 0;

	for (int i = 0; i < 3; i++)
		r |= write_block(fd, 1000 + i);
	return r;
}

__attribute__((noinline)) int plot(int fd);
__attribute__((noinline)) int plot(int fd)
{
	int r = write_block(fd, 2000);
	r |= write_block(fd, 3000); /* the line */
	return r;
}

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600), r;
	long put;

	(void)argc;
	r = write_block(fd, 500);
	r |= checkpoint(fd);
	r |= plot(fd);
	put = deposit_put(argv[1], 100, data, 4096, 0.25);
	printf("%d %ld\n", r, put);
	close(fd);
	return 0;
}
