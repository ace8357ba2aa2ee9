/* Parses whole numbers in texts of a fixed form, such as dates. */
#ifndef BASE_DIGITS_H
#define BASE_DIGITS_H

#include <stdbool.h>

/* Read a number of 1 to `most` (at most 9) digits, and move past it. */
static inline bool digits_read(const char **p, unsigned most, int *ret)
{
	int value = 0;
	unsigned n = 0;

	for (; n < most && **p >= '0' && **p <= '9'; n++)
		value = value * 10 + (*(*p)++ - '0');
	*ret = value;
	return n > 0;
}

/* Skip this character, if it is the next one. */
static inline bool digits_skip(const char **p, char c)
{
	if (**p != c)
		return false;
	++*p;
	return true;
}

#endif
