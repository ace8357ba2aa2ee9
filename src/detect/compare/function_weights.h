/* The weight of each function when vectors are compared: functions that vary among healthy servers
 * count less than those that do not. An operator may set weights as well. The default weight is 1.
 */
#ifndef DETECT_COMPARE_FUNCTION_WEIGHTS_H
#define DETECT_COMPARE_FUNCTION_WEIGHTS_H

#include "base/hash.h"
#include "model/vector.h"

#define FUNCTION_WEIGHT_MAX 1e6
#define FUNCTION_NAME_MAX 1000

struct function_weight {
	char *metric;	/* "samples" */
	char *function; /* "glusterfsd:posix.so:posix_readv", or a glob with '*' or '?' */
	double value;
};

/* Zero-initialise it. */
struct function_weights {
	struct function_weight *items;
	size_t n, cap;
	struct strmap own; /* "metric\nfunction" -> index in items */
	bool has_globs;
};

void function_weights_release(struct function_weights *w);

/* Add a weight. 0; -EEXIST: the function has one; -EINVAL: not a weight (0 to FUNCTION_WEIGHT_MAX),
 * or no name; -ENOMEM. */
int function_weights_add(
	struct function_weights *w, const char *metric, const char *function, double value);

/* Sort by metric and function. Weights may be added again afterwards. 0 or -ENOMEM. */
int function_weights_sort(struct function_weights *w);

/* The weight of the function, else that of the longest matching glob, else 1. `w` may be NULL. */
double function_weights_get(
	const struct function_weights *w, const char *metric, const char *function);

/* The weights of all dimensions in a metric, which the caller frees; NULL if all are 1. 0 or
 * -ENOMEM. */
int function_weights_of(const struct function_weights *w, const char *metric,
	const struct dimensions *d, double **ret);

#endif
