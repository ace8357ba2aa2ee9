#include "report/number.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Powers of ten that a long double with 64 bits represents exactly. */
#define POWER_MAX 27

static const long double powers[POWER_MAX + 1] = {1e0L, 1e1L, 1e2L, 1e3L, 1e4L, 1e5L, 1e6L, 1e7L,
	1e8L, 1e9L, 1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L, 1e20L,
	1e21L, 1e22L, 1e23L, 1e24L, 1e25L, 1e26L, 1e27L};

/* The slow method, which is correct for every number. */
static const char *format_slowly(double value, char *buf)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, NUMBER_TEXT_MAX, "%.*g", digits, value);
		if (strtod(buf, NULL) == value)
			break;
	}
	return buf;
}

/* Write the digits of n and a NUL before `end`. */
static char *digits_of(uint64_t n, char *end)
{
	*--end = '\0';
	do {
		*--end = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	return end;
}

static const char *format_integer(double value, char *buf)
{
	char text[NUMBER_TEXT_MAX], *digits;
	uint64_t n = (uint64_t)fabs(value);

	digits = digits_of(n, text + sizeof(text));
	buf[0] = '-';
	strcpy(buf + (value < 0), digits); /* NOLINT: at most 16 digits and a sign */
	return buf;
}

/* Does m / 10^decimals read back as `value`? 1: yes; 0: no; -1: too close to decide. */
static int reads_back(uint64_t m, int decimals, double value)
{
	long double half = ((long double)nextafter(value, INFINITY) - value) / 2;
	long double off = fabsl((long double)m / powers[decimals] - value) / half;

	return off < 0.99L ? 1 : off > 1.01L ? 0 : -1;
}

/* m / 10^decimals, without trailing zeros. */
static void write_fixed(uint64_t m, int decimals, char *buf)
{
	char text[NUMBER_TEXT_MAX + POWER_MAX], *digits;
	int n;

	for (; decimals && m % 10 == 0; decimals--)
		m /= 10;
	digits = digits_of(m, text + sizeof(text));
	for (n = (int)strlen(digits); n <= decimals; n++)
		*--digits = '0';
	memcpy(buf, digits, (size_t)(n - decimals));
	buf += n - decimals;
	if (decimals) {
		*buf++ = '.';
		memcpy(buf, digits + n - decimals, (size_t)decimals);
	}
	buf[decimals] = '\0';
}

/* The number of digits before the point; 0 from 0.1 on, and one less for each zero after the
 * point. */
static int magnitude(double size)
{
	int n = 0;

	for (; size >= (double)powers[n]; n++)
		;
	for (; n <= 0 && size < 1 / (double)powers[1 - n]; n--)
		;
	return n;
}

const char *number_format(double value, char buf[NUMBER_TEXT_MAX])
{
	double size = fabs(value);
	int before;

	if (size < 1e15 && value == floor(value) && (value != 0 || !signbit(value)))
		return format_integer(value, buf);
	/* Long doubles must have additional bits, and the text must not need an exponent. */
	if (LDBL_MANT_DIG < 64 || !(size >= 1e-4 && size < 1e15))
		return format_slowly(value, buf);
	before = magnitude(size);
	buf[0] = '-';
	for (int digits = 15; digits <= 17; digits++) {
		int decimals = digits - before;
		uint64_t m = (uint64_t)(size * powers[decimals] + 0.5L);
		int same = reads_back(m, decimals, size);

		if (same < 0)
			break;
		if (same) {
			write_fixed(m, decimals, buf + (value < 0));
			return buf;
		}
	}
	return format_slowly(value, buf);
}
