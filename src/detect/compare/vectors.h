/* The feature vectors of a peer group in one window, compared as in the behaviour paper: by the
 * Manhattan distance of each pair, and the vote (measure.h) from these distances.
 *
 * Each window is compared by itself, and once. The result does not depend on the order of the
 * members, on the numbers of the dimensions or on the number of threads.
 */
#ifndef DETECT_COMPARE_VECTORS_H
#define DETECT_COMPARE_VECTORS_H

#include "model/vector.h"

struct vector_window {
	const struct vector *const *members; /* NULL: it has no data */
	const char *const *names;	     /* of the members, no two alike */
	uint32_t n_members;
	const double *weights; /* [dimension]; NULL: all count the same */
};

#define VECTOR_NOBODY UINT32_MAX

/* The result of a member in a window. */
struct vector_place {
	double vote;   /* NaN: it has no data, or there is nothing to compare with */
	double more;   /* the part of it from dimensions in which it has more than `peer` */
	uint32_t peer; /* the median peer, which has this distance; if several have it, the first by
			* name */
	double own;    /* its total; NaN without data */
	double peers;  /* the median of the others' totals; NaN: no others */
	double apart;  /* the total difference, as an amount in the metric's unit */
};

/* Compare all pairs; `ret` has an item per member. 0 or -ENOMEM. */
int vectors_compare_window(const struct vector_window *w, struct vector_place *ret);

/* Keep only the dimensions for which `kept` is true. NULL vectors are skipped. */
void vectors_keep(struct vector *const *vectors, uint32_t n, const bool *kept);

/* Keep only the dimensions in which at least one of n vectors has `least` or more: there are many
 * rarely used functions, and they mean little. NULL vectors are skipped. 0 or -ENOMEM. */
int vectors_reduce(struct vector *const *vectors, uint32_t n, double least);

#endif
