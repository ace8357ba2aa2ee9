/* The comparison of vectors without learnt thresholds: in each dimension it finds members that
 * differ from their peers by more than the peers differ among themselves.
 *
 * A Manhattan distance adds up the noise of hundreds of functions, which hides a single one that
 * matters. Here each dimension has its own spread in each window: the distances between members in
 * each third of the window, and in the whole window. A member is blamed for the dimensions in which
 * it is VECTOR_SPREAD_LEAST spreads from the median of the others, and its vote is the sum of these
 * distances, in spreads. A window is compared by itself, so that later data does not change its
 * result. docs/detection.md has the details.
 */
#ifndef DETECT_COMPARE_VECTOR_SPREAD_H
#define DETECT_COMPARE_VECTOR_SPREAD_H

#include "detect/compare/vector_group.h"

#define VECTOR_SPREAD_LEAST 4.0

/* Compare all members in the window that begins in slot `first`; `ret` has an item per member. 0 or
 * -ENOMEM. */
int vector_spread_window(const struct vector_group *g, uint32_t first, struct vector_place *ret);

/* Blame the functions of a member in which it differs in that window. 0 or -ENOMEM. */
int vector_spread_blame(
	const struct vector_group *g, uint32_t member, uint32_t first, struct vector_blame *blame);

#endif
