/* Is busy for a known time in functions of known shares: three parts in busy_thrice(), one in
 * busy_once().
 *
 * busy CPU_MS [kernel|jit]: prints "ready", waits for a line, uses that much CPU time, prints
 * "done", waits for the end of its input.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SLICE_NS 10000000L /* of a quarter */

static int64_t used_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Asking for the time takes hardly any of it. */
#define SPIN                                                                                       \
	for (volatile unsigned i = 0; i < 1000000; i++)                                            \
	continue

__attribute__((noinline, noclone)) void busy_once(int64_t until_ns);
__attribute__((noinline, noclone)) void busy_thrice(int64_t until_ns);

void busy_once(int64_t until_ns)
{
	do {
		SPIN;
	} while (used_ns() < until_ns);
}

void busy_thrice(int64_t until_ns)
{
	do {
		SPIN;
	} while (used_ns() < until_ns);
}

static void be_busy(int64_t until_ns)
{
	/* The time of each is what it has used, not what it was to use: where a machine is taken
	 * away for a while, that may be many slices at once, which the other one then has to make
	 * up for. */
	int64_t once_ns = 0, thrice_ns = 0;

	while (used_ns() < until_ns || llabs(thrice_ns - 3 * once_ns) > 4 * SLICE_NS) {
		int64_t before = used_ns();

		if (thrice_ns <= 3 * once_ns) {
			busy_thrice(before + SLICE_NS);
			thrice_ns += used_ns() - before;
		} else {
			busy_once(before + SLICE_NS);
			once_ns += used_ns() - before;
		}
	}
}

static void be_in_kernel(int64_t until_ns)
{
	static char buf[1 << 20];
	int fd = open("/dev/zero", O_RDONLY);

	while (used_ns() < until_ns) {
		if (read(fd, buf, sizeof(buf)) <= 0)
			exit(1);
	}
	close(fd);
}

/* A function that this program compiled, and tells of as compilers do. */
static void be_in_jit(int64_t until_ns)
{
	/* mov $10000000, %ecx; 1: sub $1, %ecx; jne 1b; ret */
	static const unsigned char code[] = {
		0xb9, 0x80, 0x96, 0x98, 0, 0x83, 0xe9, 1, 0x75, 0xfb, 0xc3};
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*compiled)(void);
	char path[64];
	FILE *f;

	if (p == MAP_FAILED)
		exit(1);
	memcpy(p, code, sizeof(code));
	if (mprotect(p, 4096, PROT_READ | PROT_EXEC) < 0)
		exit(1);
	memcpy(&compiled, &p, sizeof(compiled));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	f = fopen(path, "w");
	if (!f)
		exit(1);
	fprintf(f, "%lx %zx compiled_loop\n", (unsigned long)(uintptr_t)p, sizeof(code));
	fclose(f);
	while (used_ns() < until_ns)
		compiled();
}

static void wait_for_line(void)
{
	char line[16];

	if (!fgets(line, sizeof(line), stdin))
		exit(0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 2 ? argv[2] : "";
	int64_t until_ns;

	puts("ready");
	fflush(stdout);
	wait_for_line();
	until_ns = used_ns() + strtol(argc > 1 ? argv[1] : "100", NULL, 10) * INT64_C(1000000);
	if (!strcmp(how, "kernel"))
		be_in_kernel(until_ns);
	else if (!strcmp(how, "jit"))
		be_in_jit(until_ns);
	else
		be_busy(until_ns);
	puts("done");
	fflush(stdout);
	wait_for_line();
	return 0;
}
