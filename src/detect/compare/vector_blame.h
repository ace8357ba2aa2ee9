/* The dimensions in which a member differs. Each has its distance from the median peer, summed over
 * the anomalous windows; the largest sums come first. */
#ifndef DETECT_COMPARE_VECTOR_BLAME_H
#define DETECT_COMPARE_VECTOR_BLAME_H

#include "model/vector.h"

/* Zero-initialise it. */
struct vector_blame {
	struct vector own, peer, distance; /* sums over the windows */
	uint32_t n_windows;
};

void vector_blame_release(struct vector_blame *b);

/* Add an anomalous window: the member's vector and that of its median peer. `weights`: as in struct
 * vector_window. 0 or -ENOMEM. */
int vector_blame_add(struct vector_blame *b, const struct vector *own, const struct vector *peer,
	const double *weights);

struct vector_culprit {
	uint32_t dimension;
	double distance;  /* over all windows */
	double own, peer; /* per window, on average */
	double share;	  /* of the distances of all dimensions, 0 to 1 */
};

/* The `max` dimensions that are blamed most; equal ones are sorted by name. Returns their number,
 * or -ENOMEM. */
int vector_blame_top(const struct vector_blame *b, const struct dimensions *names,
	struct vector_culprit *ret, uint32_t max);

#endif
