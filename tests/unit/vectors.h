/* Vectors for tests: random ones, each with the plain array that it represents, and the definitions
 * in their plainest form. */
#ifndef VECTORS_H
#define VECTORS_H

#include "model/vector.h"
#include "unit.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The same cases on every machine. */
static uint64_t vectors_state = 88172645463325252U;

static inline double vectors_uniform(void)
{
	vectors_state ^= vectors_state << 13;
	vectors_state ^= vectors_state >> 7;
	vectors_state ^= vectors_state << 17;
	return (double)(vectors_state >> 11) / 9007199254740992.0;
}

static inline uint32_t vectors_below(uint32_t n)
{
	return (uint32_t)(vectors_uniform() * n);
}

/* Values of about the size that functions have: a few large ones, many small ones. */
static inline double vectors_value(void)
{
	return floor(exp(12 * vectors_uniform() * vectors_uniform())) +
		(vectors_below(2) ? vectors_uniform() : 0);
}

/* This many non-zeros at random places of `plain` (n values), and the vector of it. */
static inline void vectors_random(struct vector *v, double *plain, uint32_t n, uint32_t non_zeros)
{
	memset(plain, 0, n * sizeof(*plain));
	vector_clear(v);
	for (uint32_t i = 0; i < non_zeros; i++) {
		uint32_t at = vectors_below(n);
		double value = vectors_value();

		plain[at] += value;
		assert_int_equal(vector_add(v, at, value), 0);
	}
	vector_finish(v);
}

static inline void vectors_of(struct vector *v, const double *plain, uint32_t n)
{
	vector_clear(v);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(vector_add(v, i, plain[i]), 0);
	vector_finish(v);
}

/* Does the vector represent the array, and is it well-formed? */
static inline void vectors_check(const struct vector *v, const double *plain, uint32_t n)
{
	size_t found = 0;
	double largest = 0;

	for (size_t i = 0; i < v->n; i++) {
		assert_true(v->entries[i].value != 0);
		assert_true(i == 0 || v->entries[i - 1].dimension < v->entries[i].dimension);
		largest = fmax(largest, fabs(v->entries[i].value));
	}
	assert_true(v->largest == largest);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(vector_get(v, i) == plain[i]);
		found += plain[i] != 0;
	}
	assert_int_equal(v->n, found);
}

static inline double vectors_distance(const double *a, const double *b, uint32_t n)
{
	long double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += fabsl((long double)a[i] - b[i]);
	return (double)sum;
}

static inline bool vectors_close(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

static inline int vectors_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The distance that more than half of `n` distances reach. Sorts them. */
static inline double vectors_vote(double *distances, uint32_t n)
{
	if (n == 0)
		return NAN;
	qsort(distances, n, sizeof(*distances), vectors_ascending);
	return distances[n - (n / 2 + 1)];
}

#endif
