/* The two inner loops of pairwise comparison, for several instruction sets.
 *
 * Each loop has one source in kernels.c, which is compiled once per instruction set; kernels_best()
 * selects one at run time. All work on integers, so all give the same results. */
#ifndef DETECT_COMPARE_KERNELS_H
#define DETECT_COMPARE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of bin numbers are aligned to this number of items, and their length is a multiple of it;
 * unused items are 0. */
#define KERNEL_UNIT 16U

struct kernels {
	const char *name;

	/* ret[i]: the sum of |own[k] - all[i * stride + k]| over k < stride, for i < n. Bin numbers
	 * are below 1024, and `stride` is below 2^22. */
	void (*differences)(
		const uint16_t *own, const uint16_t *all, size_t stride, size_t n, uint32_t *ret);

	/* The number of v[0 .. n-1] that are at most `limit`. */
	size_t (*count_to)(const uint32_t *v, size_t n, uint32_t limit);
};

/* The fastest one that this processor can run. */
const struct kernels *kernels_best(void);

/* All that this processor can run, to ret[0 .. KERNELS_MAX-1]; [0] uses no special instructions.
 * Returns their number.
 */
#define KERNELS_MAX 2
unsigned kernels_all(const struct kernels **ret);

/* The `rank`-th smallest (0: the smallest) of v[0 .. n-1], n > 0; none is above `high`. */
uint32_t kernels_select(
	const struct kernels *k, const uint32_t *v, size_t n, size_t rank, uint32_t high);

#endif
