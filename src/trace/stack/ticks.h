/* The processor's counter as a clock: its readings as CLOCK_MONOTONIC.
 *
 * Programs read the counter, which is faster than clock_gettime(). This process reads both from
 * time to time, and converts readings by the two pairs around them, so that the result follows
 * CLOCK_MONOTONIC when that is slewed.
 */
#ifndef TRACE_STACK_TICKS_H
#define TRACE_STACK_TICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tick_pair {
	uint64_t ticks;
	int64_t ns;
};

/* Zero-initialise it. */
struct tick_clock {
	struct tick_pair *pairs; /* increasing */
	size_t n, cap;
};

void tick_clock_release(struct tick_clock *c);

/* Does the kernel of this machine keep time by the counter, so that it has the same rate and the
 * same value on all processors? `root`: where /sys is, "" for this machine. */
bool ticks_are_time(const char *root);

/* Read both clocks now. 0 or -ENOMEM. */
int tick_clock_note(struct tick_clock *c);

/* The same with given values. A pair that does not increase is left out. A pair within 10 ms of the
 * one before is kept only until the next one, and if there are many, every second one is removed.
 */
int tick_clock_add(struct tick_clock *c, struct tick_pair pair);

/* A reading as CLOCK_MONOTONIC; the nearest pairs serve before the first and after the last. Any
 * number is converted; -1: the result is out of range, or there are fewer than two pairs. */
int64_t tick_clock_ns(const struct tick_clock *c, uint64_t ticks);

#endif
