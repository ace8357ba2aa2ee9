/* Bins of equal width, common to all members of a window. */
#ifndef DETECT_COMPARE_BINS_H
#define DETECT_COMPARE_BINS_H

#include "detect/compare/measure.h"
#include <stddef.h>

#define BINS_MAX 1000

struct bins {
	double low, size;
	uint32_t n; /* 0: all values are the same, or so close that no bin is narrow enough */
};

/* All usable values of all members in the window, one after the other. -ENOMEM, or 0. */
struct window_values {
	const double *values;
	size_t n;
	double low, high; /* of n > 0 */
};
int window_values_fill(
	const struct window *w, struct measure_scratch *scratch, struct window_values *ret);

/* `n` bins over the range of the values. */
struct bins bins_equal(const struct window_values *all, uint32_t n);

/* Sturges' number of bins for so many samples: ceil(log2(n)) + 1. */
uint32_t bins_sturges(uint32_t n_samples);

/* Freedman and Diaconis' width, 2 * IQR * n_samples^(-1/3), where `robust` with the median absolute
 * deviation in place of IQR; where that makes more than BINS_MAX bins or none, BINS_MAX of them. */
int bins_freedman(const struct window_values *all, uint32_t n_samples, bool robust,
	struct measure_scratch *scratch, struct bins *ret);

/* The bin of a usable value; where b->n is 0, or the value is not usable, some number. */
static inline uint32_t bins_of(const struct bins *b, double v)
{
	double bin = (v - b->low) / b->size, top = (double)b->n - 1;

	bin = bin < top ? bin : top;
	return (uint32_t)(int32_t)(bin > 0 ? bin : 0);
}

#endif
