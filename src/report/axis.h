/* Ticks of axes: round numbers and round times. */
#ifndef REPORT_AXIS_H
#define REPORT_AXIS_H

#include <stdint.h>

#define AXIS_TEXT_MAX 24

/* The smallest step of 1, 2, 5, 10, 20, 50, ... (or fractions) of which at most `n` fit into
 * `range`. */
double axis_step(double range, unsigned n);

/* The number of ticks from 0 to `range`, including 0: at most n + 1 for any range. */
unsigned axis_ticks(double range, unsigned n);

/* Like axis_step() for times: seconds, minutes, hours, days. */
int64_t axis_time_step(int64_t range_us, unsigned n);

/* "0", "25", "0.5", "20k", "1.5M": a tick, or a value with three significant digits. Returns `buf`.
 */
const char *axis_number(double value, char buf[AXIS_TEXT_MAX]);

/* "05:30", "05:30:15", or "17 Apr" for midnight, as precise as the step requires. Returns `buf`. */
const char *axis_time(int64_t wall_us, int64_t step_us, char buf[AXIS_TEXT_MAX]);

#endif
