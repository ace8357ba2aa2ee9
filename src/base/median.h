/* Medians of a few numbers; of an even number of them the mean of the middle two. For very many
 * see order.h. */
#ifndef BASE_MEDIAN_H
#define BASE_MEDIAN_H

#include <stdint.h>

/* Of n numbers without NaN, which are shuffled; NaN if n is 0. */
double median_of(double *values, uint32_t n);

/* What the median of all but one of n numbers is made from, whichever that is. */
struct median_split {
	double below, middle, above; /* in order, around the middle one, or the upper of two */
	uint32_t n;
};

/* Split n numbers without NaN, which are shuffled. */
struct median_split median_split(double *values, uint32_t n);

/* The median of all of them; NaN if n is 0. */
double median_of_all(const struct median_split *split);

/* The median of all but one that is `own`; NaN if there is no other. */
double median_of_others(const struct median_split *split, double own);

/* Sort upwards; there must be no NaN. */
void median_sort(double *values, uint32_t n);

#endif
