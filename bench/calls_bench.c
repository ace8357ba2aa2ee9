/* The cost of counting calls of a function: nanoseconds per call of an empty function. It prints
 * the minimum of many batches, so a busy machine disturbs little. Built like programs of `limpet
 * cc`.
 *
 * 	plain 1.2    not instrumented
 * 	counted 20.9 more than that
 * 	hooks 1.5    of that, calling two functions that do nothing
 * 	off 1.7      more than plain, switched off in the table; the switch is what is beyond hooks
 * 	clock 7.2    one reading of the processor's counter, of which a counted call needs two
 */
#include "runtime/calls_table.h"

#include "clock.h"
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define BATCH 5000
#define BATCHES 1000
#define PLAIN __attribute__((no_instrument_function))

static volatile int turns;

__attribute__((noinline)) static void counted(void)
{
	turns++;
}

PLAIN __attribute__((noinline)) static void plain(void)
{
	turns++;
}

PLAIN __attribute__((noinline)) static void nothing(const void *function, const void *site)
{
	__asm__ volatile("" ::"r"(function), "r"(site) : "memory");
}

/* The code that the compiler makes of an instrumented function. */
PLAIN __attribute__((noinline)) static void hooked(void)
{
	nothing((const void *)hooked, __builtin_return_address(0));
	turns++;
	nothing((const void *)hooked, __builtin_return_address(0));
}

PLAIN __attribute__((noinline)) static void read_clock(void)
{
#if defined(__x86_64__)
	turns += (int)__rdtsc();
#else
	turns += (int)seconds();
#endif
}

/* The table of this process, as any other process would find it. */
PLAIN static struct calls_table *own_table(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t begin = 0;
	char line[512];

	while (maps && !begin && fgets(line, sizeof(line), maps)) {
		if (strstr(line, CALLS_PREFIX) || strstr(line, "/memfd:" CALLS_MEMFD))
			begin = (uintptr_t)strtoull(line, NULL, 16);
	}
	if (maps)
		fclose(maps);
	return (struct calls_table *)begin;
}

PLAIN static int switch_off(struct calls_table *table)
{
	for (uint32_t i = 0; i < table->header.n_functions; i++) {
		if (table->functions[i].address == (uintptr_t)counted) {
			table->off[i] = 1;
			return 0;
		}
	}
	return -1;
}

PLAIN static double measure(void (*fn)(void))
{
	double least = 1e9;

	for (int i = 0; i < BATCHES; i++) {
		double begin = seconds(), ns;

		for (int k = 0; k < BATCH; k++)
			fn();
		ns = (seconds() - begin) * 1e9 / BATCH;
		least = ns < least ? ns : least;
	}
	return least;
}

int main(void)
{
	struct calls_table *table = own_table();
	double base, on, hooks, off, clock;

	if (!table)
		return 77;
	base = measure(plain);
	on = measure(counted);
	if (switch_off(table) < 0)
		return 1;
	off = measure(counted);
	hooks = measure(hooked);
	clock = measure(read_clock) - base;
	printf("plain %.1f\ncounted %.1f\nhooks %.1f\noff %.1f\nclock %.1f\n", base, on - base,
		hooks - base, off - base, clock);
	return 0;
}
