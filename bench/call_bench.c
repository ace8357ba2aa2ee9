/* What a system call costs: nanoseconds of getppid(), and of a pread() of one byte, the least of
 * many batches, so that a busy machine disturbs little. */
#include "clock.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 5000
#define BATCHES 200

int main(void)
{
	double least_getppid = 1e9, least_pread = 1e9;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char byte;

	if (fd < 0)
		return 1;
	for (int i = 0; i < BATCHES; i++) {
		double begin = seconds(), ns;

		for (int k = 0; k < BATCH; k++)
			syscall(SYS_getppid);
		ns = (seconds() - begin) * 1e9 / BATCH;
		least_getppid = ns < least_getppid ? ns : least_getppid;
		begin = seconds();
		for (int k = 0; k < BATCH; k++) {
			if (pread(fd, &byte, 1, 0) != 1)
				return 1;
		}
		ns = (seconds() - begin) * 1e9 / BATCH;
		least_pread = ns < least_pread ? ns : least_pread;
	}
	printf("%.1f %.1f\n", least_getppid, least_pread);
	return 0;
}
