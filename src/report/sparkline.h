/* A small plot in one line of text. */
#ifndef REPORT_SPARKLINE_H
#define REPORT_SPARKLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* One character per value, from `low` (an empty line's height) to `high`; a blank for NaN. Without
 * `utf8` in ASCII. */
void sparkline_print(FILE *out, const double *values, size_t n, double low, double high, bool utf8);

#endif
