#include "trace/calls/calls_clock.h"

#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#define MEASURE_NS 20000000

static uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return monotonic_ns();
#endif
}

void calls_clock_init(struct calls_clock *ret)
{
	const struct timespec pause = {.tv_nsec = MEASURE_NS};
	uint64_t ns = monotonic_ns(), ticks = ticks_now();

	nanosleep(&pause, NULL);
	ns = monotonic_ns() - ns;
	ticks = ticks_now() - ticks;
	ret->ns_per_tick = ticks > 0 ? (double)ns / (double)ticks : 1;
}

uint64_t calls_clock_ns(const struct calls_clock *c, const struct calls_header *h, uint64_t ticks)
{
	return h->clock == CALLS_CLOCK_TSC ? (uint64_t)((double)ticks * c->ns_per_tick) : ticks;
}
