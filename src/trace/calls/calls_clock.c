#include "trace/calls/calls_clock.h"

#include "base/time.h"
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define MEASURE_NS 20000000
/* The cost of counting a call in addition to two readings of the clock (bench/calls_bench.c). */
#define OWN_NS 7
#define READINGS 256
#define BATCHES 20

static uint64_t monotonic_ns(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

static uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return monotonic_ns();
#endif
}

/* One reading, in ns: the minimum of some batches, because other processes use the processor,
 * too. */
static double reading_ns(uint64_t (*read)(void))
{
	double least = 1000;

	for (int b = 0; b < BATCHES; b++) {
		uint64_t begin = monotonic_ns(), sum = 0;
		double ns;

		for (int i = 0; i < READINGS; i++)
			sum += read();
		__asm__ volatile("" ::"r"(sum));
		ns = (double)(monotonic_ns() - begin) / READINGS;
		least = ns < least ? ns : least;
	}
	return least;
}

void calls_clock_init(struct calls_clock *ret)
{
	const struct timespec pause = {.tv_nsec = MEASURE_NS};
	uint64_t ns = monotonic_ns(), ticks = ticks_now();

	nanosleep(&pause, NULL);
	ns = monotonic_ns() - ns;
	ticks = ticks_now() - ticks;
	ret->ns_per_tick = ticks > 0 ? (double)ns / (double)ticks : 1;
	ret->call_ns[CALLS_CLOCK_NS] = 2 * reading_ns(monotonic_ns) + OWN_NS;
	ret->call_ns[CALLS_CLOCK_TSC] = 2 * reading_ns(ticks_now) + OWN_NS;
}

uint64_t calls_clock_ns(const struct calls_clock *c, const struct calls_header *h, uint64_t ticks)
{
	return h->clock == CALLS_CLOCK_TSC ? (uint64_t)((double)ticks * c->ns_per_tick) : ticks;
}
