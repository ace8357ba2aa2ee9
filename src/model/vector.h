/* Feature vectors: one value per dimension (a function) of a component in a span of time.
 *
 * A vector is sparse. It contains only the dimensions with values other than 0, sorted, so that two
 * vectors are added or compared in one pass. Dimensions are numbers; a dictionary, shared by all
 * vectors that are compared, has their names.
 *
 * Values are plain sums of counts (samples, calls, time), as in the paper: they are not divided by
 * the length of the window or by the total, so all vectors that are compared must cover the same
 * time. vector_scale() compensates for missing intervals.
 *
 * Distances and totals are summed in integers, so that they do not depend on the order of the
 * dimensions, which depends on the order in which their names appeared.
 */
#ifndef MODEL_VECTOR_H
#define MODEL_VECTOR_H

#include "base/hash.h"
#include <stddef.h>

/* The names of dimensions. Zero-initialise it. Numbers stay valid: names are never removed. */
struct dimensions {
	char **names;
	uint32_t n;
	size_t cap;
	struct strmap index;
};

void dimensions_release(struct dimensions *d);
/* The number of a name, which is added if it is new. 0 or -ENOMEM. */
int dimensions_intern(struct dimensions *d, const char *name, uint32_t *ret);
/* Find a dimension; false: there is none with this name. */
bool dimensions_find(const struct dimensions *d, const char *name, uint32_t *ret);

struct vector_entry {
	uint32_t dimension;
	uint32_t order; /* order of addition; used until vector_finish() */
	double value;
};

/* Zero-initialise it. */
struct vector {
	struct vector_entry *entries; /* sorted by dimension, none of them 0, when finished */
	size_t n, cap;
	double largest; /* no absolute value is larger */
};

/* Larger values are treated as missing, like NaN and infinite ones. */
#define VECTOR_VALUE_MAX 1e300

void vector_release(struct vector *v);
/* Forget the values, keep the memory. */
void vector_clear(struct vector *v);

/* Add to a dimension, in any order; missing values are ignored. Call vector_finish() before you use
 * the vector. 0 or -ENOMEM. */
int vector_add(struct vector *v, uint32_t dimension, double value);
void vector_finish(struct vector *v);

/* Everything below is for finished vectors. */

/* `*v` becomes the sum of both, to combine intervals to a window. 0, or -ENOMEM without a
 * change. */
int vector_merge(struct vector *v, const struct vector *other);
void vector_scale(struct vector *v, double factor);
/* The value of a dimension; 0 if the vector does not have it. */
double vector_get(const struct vector *v, uint32_t dimension);
/* The sum of its values. */
double vector_total(const struct vector *v);

/* The values of a dimension in two vectors. */
struct vector_pair {
	uint32_t dimension;
	double a, b;
};

/* Walks over the dimensions that at least one of two vectors has, in order. Start with zeros in
 * `at`; false after the last. */
struct vector_walk {
	size_t a, b;
};
bool vector_next(const struct vector *a, const struct vector *b, struct vector_walk *at,
	struct vector_pair *ret);

/* The Manhattan distance: the sum of |a(i) - b(i)|. `ret_more` (may be NULL) is the part from
 * dimensions in which `a` is larger. */
double vector_distance(const struct vector *a, const struct vector *b, double *ret_more);
/* The same with each difference multiplied by weights[dimension], which are not negative. NULL:
 * 1. */
double vector_distance_weighted(
	const struct vector *a, const struct vector *b, const double *weights, double *ret_more);

#endif
