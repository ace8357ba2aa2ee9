/* Calls for files whose numbers, sizes and offsets are known: `pattern FILE`. It prints what it
 * saw, which must not depend on whether it is watched. */
#include <errno.h>
#include <fcntl.h>
#include <limpet/region.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char data[65536];
	struct iovec two[2] = {{data, 100}, {data, 200}};
	lp_region mark;
	int fd, n;
	FILE *f;

	(void)argc;
	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	mark = lp_region_begin("writing");
	for (int i = 0; i < 10; i++)
		printf("write %zd\n", write(fd, data, 4096));
	printf("pwrite %zd\n", pwrite(fd, data, 1000, 100000));
	printf("writev %zd\n", writev(fd, two, 2));
	lp_region_end(mark);
	printf("lseek %ld\n", (long)lseek(fd, 0, SEEK_CUR));
	printf("pread %zd\n", pread(fd, data, 65536, 90000));
	errno = 0;
	n = (int)pread(fd, data, 10, -1);
	printf("pread %d %s\n", n, strerror(errno));
	printf("fsync %d\n", fsync(fd));
	printf("close %d\n", close(fd));
	errno = 0;
	n = (int)write(fd, data, 1);
	printf("closed %d %s\n", n, strerror(errno));
	errno = 0;
	n = open("/nowhere/at/all", O_RDONLY);
	printf("open %d %s\n", n, strerror(errno));
	fd = open(argv[1], O_WRONLY | O_APPEND);
	printf("append %zd\n", write(fd, data, 5));
	close(fd);
	f = fopen(argv[1], "r");
	printf("fread %zu\n", fread(data, 1, 3000, f));
	fclose(f);
	errno = EXDEV; /* nothing that is not asked for */
	n = open(argv[1], O_RDONLY);
	printf("errno %s\n", strerror(errno));
	dup2(n, 1 + n);
	close(n);
	close(1 + n);
	return 0;
}
