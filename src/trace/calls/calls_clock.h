/* Converts the ticks in which a program counts time to nanoseconds. */
#ifndef TRACE_CALLS_CLOCK_H
#define TRACE_CALLS_CLOCK_H

#include "runtime/calls_table.h"

struct calls_clock {
	double ns_per_tick; /* of the counter of the processor */
	double call_ns[2];  /* [enum calls_unit] the approximate cost of counting a call */
};

/* Measure the rate, and the time to read the clocks; this takes some hundredths of a second. It is
 * done only once, because counters must not decrease when a better rate is known. */
void calls_clock_init(struct calls_clock *ret);

uint64_t calls_clock_ns(const struct calls_clock *c, const struct calls_header *h, uint64_t ticks);

#endif
