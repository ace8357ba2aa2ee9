/* From the ticks in which a program counts time to nanoseconds. */
#ifndef TRACE_CALLS_CLOCK_H
#define TRACE_CALLS_CLOCK_H

#include "runtime/calls_table.h"

struct calls_clock {
	double ns_per_tick; /* of the processor's counter */
	double call_ns[2];  /* [enum calls_unit] what counting a call takes a program, about */
};

/* Measures the rate, and how long it takes to read the clocks, which takes some hundredths of a
 * second. It is not measured again: what was counted must not shrink because a better rate is
 * known. */
void calls_clock_init(struct calls_clock *ret);

uint64_t calls_clock_ns(const struct calls_clock *c, const struct calls_header *h, uint64_t ticks);

#endif
