/* Medians of a few numbers; of an even number of them the mean of the middle two. For very many
 * see order.h. */
#ifndef BASE_MEDIAN_H
#define BASE_MEDIAN_H

#include <stdint.h>

/* Of n numbers without NaN, which are shuffled; NaN if n is 0. */
double median_of(double *values, uint32_t n);

/* For each of n sorted numbers the median of all the others, NaN if n is 1. */
void median_of_others(const double *sorted, uint32_t n, double *ret);

/* Sort upwards; there must be no NaN. */
void median_sort(double *values, uint32_t n);

#endif
