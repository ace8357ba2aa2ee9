/* A small plot in one line of text. */
#ifndef REPORT_SPARKLINE_H
#define REPORT_SPARKLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Print one character per value, from `low` (height 0) to `high`; a blank for NaN. `utf8` false:
 * use ASCII. */
void sparkline_print(FILE *out, const double *values, size_t n, double low, double high, bool utf8);

#endif
