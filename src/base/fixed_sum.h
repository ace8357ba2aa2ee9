/* Sums of doubles that do not depend on the order of addition.
 *
 * Terms are converted to integers with 90 bits, relative to the largest one, and integers are added
 * without rounding. Lower bits of a term are always lost. There is room for 2^35 terms.
 */
#ifndef BASE_FIXED_SUM_H
#define BASE_FIXED_SUM_H

#include <math.h>
#include <stddef.h>

#define FIXED_SUM_BITS 90

__extension__ typedef __int128 fixed_int;

/* Made by fixed_sum_for(). */
struct fixed_sum {
	fixed_int sum;
	int shift;
	double scale; /* 2^shift */
};

/* A sum of finite terms. No absolute value may be larger than `largest`. */
static inline struct fixed_sum fixed_sum_for(double largest)
{
	int shift = largest > 0 ? FIXED_SUM_BITS - 1 - ilogb(largest) : 0;

	/* No measured value is below 1e-270, so fewer bits are enough there. */
	shift = shift > 1000 ? 1000 : shift;
	return (struct fixed_sum){0, shift, ldexp(1, shift)};
}

static inline void fixed_sum_add(struct fixed_sum *s, double term)
{
	s->sum += (fixed_int)(term * s->scale);
}

static inline double fixed_sum_value(const struct fixed_sum *s)
{
	return ldexp((double)s->sum, -s->shift);
}

/* The sum of n finite numbers. */
static inline double fixed_sum_of(const double *values, size_t n)
{
	struct fixed_sum s;
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs(values[i]));
	s = fixed_sum_for(largest);
	for (size_t i = 0; i < n; i++)
		fixed_sum_add(&s, values[i]);
	return fixed_sum_value(&s);
}

#endif
