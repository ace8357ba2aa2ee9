/* The feature vectors of a peer group in one window, compared as the behaviour paper does it: the
 * Manhattan distance of each pair, and of these the vote (measure.h).
 *
 * A window is compared by itself and once. Nothing depends on the order of the members, on the
 * numbers of the dimensions or on how many threads there are. Where vectors come from is none of
 * its business.
 */
#ifndef DETECT_COMPARE_VECTORS_H
#define DETECT_COMPARE_VECTORS_H

#include "model/vector.h"

struct vector_window {
	const struct vector *const *members; /* NULL: it has no data */
	const char *const *names;	     /* of the members, no two alike */
	uint32_t n_members;
	const double *weights; /* [dimension]; NULL: all count alike */
};

#define VECTOR_NOBODY UINT32_MAX

/* Where a member stands in a window. */
struct vector_place {
	double vote;   /* NaN: it has no data, or nobody to be compared with */
	double more;   /* the part of it from dimensions of which it has more than `peer` */
	uint32_t peer; /* the median peer: the one so far away; of several the first by name */
	double own;    /* its total; NaN without data */
	double peers;  /* the median of the others' totals; NaN: there are none */
	double apart;  /* how much of all that is different, in the metric's amount */
};

/* Compare all with all: `ret` has a place for each member. 0 or -ENOMEM. */
int vectors_compare_window(const struct vector_window *w, struct vector_place *ret);

/* Leave only the dimensions that `kept` says true of. NULL vectors are skipped. */
void vectors_keep(struct vector *const *vectors, uint32_t n, const bool *kept);

/* Leave only the dimensions of which at least one of n vectors has `least` or more: those that are
 * rarely used say little and are many. NULL vectors are skipped. 0 or -ENOMEM. */
int vectors_reduce(struct vector *const *vectors, uint32_t n, double least);

#endif
