/* A library that nobody knows, whose function has arguments in all kinds of registers. */
#include <fcntl.h>
#include <unistd.h>

long deposit_put(const char *path, long offset, const void *data, long size, double weight);
long deposit_put(const char *path, long offset, const void *data, long size, double weight)
{
	int fd = open(path, O_RDWR);
	long n = pwrite(fd, data, (size_t)size, offset);

	close(fd);
	return weight == 0.25 ? n : -1;
}
