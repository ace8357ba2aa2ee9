/* Members that differ from their peers by more than these differ among themselves, dimension by
 * dimension: the comparison without learnt thresholds.
 *
 * A Manhattan distance adds up the noise of hundreds of functions, in which one that matters is
 * lost. Here each dimension has a spread of its own in each window: how far members are from one
 * another in thirds of it, and in all of it. A member is blamed for the dimensions in which it is
 * VECTOR_SPREAD_LEAST spreads from the median of the others, and its vote is the sum of these
 * distances, in spreads. A window is compared by itself, so that later data does not change its
 * result. docs/detection.md has the rest.
 */
#ifndef DETECT_COMPARE_VECTOR_SPREAD_H
#define DETECT_COMPARE_VECTOR_SPREAD_H

#include "detect/compare/vector_group.h"

#define VECTOR_SPREAD_LEAST 4.0

/* Compare all members in the window that begins in slot `first`; `ret` has a place for each. 0 or
 * -ENOMEM. */
int vector_spread_window(const struct vector_group *g, uint32_t first, struct vector_place *ret);

/* Blame the functions of a member in which it differs in that window. 0 or -ENOMEM. */
int vector_spread_blame(
	const struct vector_group *g, uint32_t member, uint32_t first, struct vector_blame *blame);

#endif
