#include "detect/compare/kernels.h"

#define INLINE static inline __attribute__((always_inline))

typedef int16_t vector_i16 __attribute__((vector_size(32), may_alias));
typedef uint32_t vector_u32 __attribute__((vector_size(32), may_alias));

#define LANES (sizeof(vector_i16) / sizeof(int16_t))
/* A lane has room for the sum of this many differences below 1024. */
#define ROUNDS ((size_t)32)

_Static_assert(LANES == KERNEL_UNIT, "a row is made of whole vectors");

/* Sixteen sums side by side, then together: the compiler maps the vectors to the available
 * instructions. */
INLINE uint32_t differences_row(const vector_i16 *a, const vector_i16 *b, size_t n_vectors)
{
	uint32_t sum = 0;

	for (size_t from = 0; from < n_vectors; from += ROUNDS) {
		size_t to = from + ROUNDS < n_vectors ? from + ROUNDS : n_vectors;
		vector_i16 lanes = {0};
		vector_u32 pairs;

		for (size_t i = from; i < to; i++) {
			vector_i16 d = a[i] - b[i], sign = d >> 15;

			lanes += (d ^ sign) - sign;
		}
		pairs = ((vector_u32)lanes & 0xffff) + ((vector_u32)lanes >> 16);
		pairs += __builtin_shufflevector(pairs, pairs, 4, 5, 6, 7, 0, 1, 2, 3);
		pairs += __builtin_shufflevector(pairs, pairs, 2, 3, 0, 1, 6, 7, 4, 5);
		sum += pairs[0] + pairs[1];
	}
	return sum;
}

INLINE void differences_body(
	const uint16_t *own, const uint16_t *all, size_t stride, size_t n, uint32_t *ret)
{
	const vector_i16 *a = __builtin_assume_aligned(own, sizeof(*a));
	const vector_i16 *b = __builtin_assume_aligned(all, sizeof(*b));

	stride /= LANES;
	if (stride == 4) { /* the usual one, unrolled */
		for (size_t i = 0; i < n; i++)
			ret[i] = differences_row(a, b + i * 4, 4);
		return;
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = differences_row(a, b + i * stride, stride);
}

INLINE size_t count_to_body(const uint32_t *v, size_t n, uint32_t limit)
{
	size_t found = 0;

	for (size_t from = 0; from < n; from += UINT32_MAX) {
		size_t to = n - from < UINT32_MAX ? n : from + UINT32_MAX;
		uint32_t part = 0;

#pragma omp simd reduction(+ : part)
		for (size_t i = from; i < to; i++)
			part += v[i] <= limit;
		found += part;
	}
	return found;
}

static void differences_plain(
	const uint16_t *own, const uint16_t *all, size_t stride, size_t n, uint32_t *ret)
{
	differences_body(own, all, stride, n, ret);
}

static size_t count_to_plain(const uint32_t *v, size_t n, uint32_t limit)
{
	return count_to_body(v, n, limit);
}

static const struct kernels plain = {"plain", differences_plain, count_to_plain};

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static void differences_avx2(
	const uint16_t *own, const uint16_t *all, size_t stride, size_t n, uint32_t *ret)
{
	differences_body(own, all, stride, n, ret);
}

AVX2 static size_t count_to_avx2(const uint32_t *v, size_t n, uint32_t limit)
{
	return count_to_body(v, n, limit);
}

static const struct kernels avx2 = {"avx2", differences_avx2, count_to_avx2};

unsigned kernels_all(const struct kernels **ret)
{
	ret[0] = &plain;
	ret[1] = &avx2;
	return __builtin_cpu_supports("avx2") ? 2 : 1;
}
#else
unsigned kernels_all(const struct kernels **ret)
{
	ret[0] = &plain;
	return 1;
}
#endif

const struct kernels *kernels_best(void)
{
	const struct kernels *all[KERNELS_MAX] = {NULL};

	return all[kernels_all(all) - 1];
}

/* By bisection: a dozen counts take less time than one partition. */
uint32_t kernels_select(
	const struct kernels *k, const uint32_t *v, size_t n, size_t rank, uint32_t high)
{
	uint32_t low = 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (k->count_to(v, n, middle) > rank)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
