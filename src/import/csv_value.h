/* The numbers and times in the fields of a CSV file. */
#ifndef IMPORT_CSV_VALUE_H
#define IMPORT_CSV_VALUE_H

#include "base/zone.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum csv_number {
	CSV_NUMBER,
	CSV_MISSING,  /* empty, NA, N/A, NaN, null, none or - */
	CSV_INFINITE, /* written so, or too large for a double */
	CSV_GARBAGE,
};

/* Read a decimal number exactly as strtod() would in the C locale, only faster. `*ret` is NaN for
 * all but CSV_NUMBER. */
enum csv_number csv_number_parse(const char *text, size_t len, double *ret);

#define CSV_TIME_MAX 40

/* Remembers the last time: rows repeat it, or stay on the same day. Zero-initialise it. */
struct csv_clock {
	const struct zone *zone; /* for times without a zone; NULL: UTC */
	char text[CSV_TIME_MAX];
	size_t len;
	int64_t us;
	char day[10];	/* "2011-05-09" */
	int64_t day_us; /* its midnight; only if day[0] */
};

/* Read a time: the forms of time_parse(), and whole numbers since 1970. The number of digits
 * determines the unit: up to 11 are seconds, 12 or 13 milliseconds, 15 or 16 microseconds, 18 or 19
 * nanoseconds (1973 to 2286). Seconds and milliseconds may have a fraction. */
bool csv_clock_parse(struct csv_clock *c, const char *text, size_t len, int64_t *ret_us);

#endif
