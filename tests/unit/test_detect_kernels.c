/* Every instruction set that this processor has against a plain loop. */
#include "unit.h"

#include "detect/compare/kernels.h"
#include "oracle.h"

static uint32_t differences(const uint16_t *a, const uint16_t *b, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
	return sum;
}

static void check_differences(const struct kernels *k, size_t stride, uint32_t n, uint16_t top)
{
	uint16_t *rows = aligned_alloc(64, ((n + 1) * stride * 2 + 63) / 64 * 64);
	uint32_t *ret = calloc(n + 1, sizeof(*ret));

	assert_true(rows && ret);
	for (size_t i = 0; i < (n + 1) * stride; i++)
		rows[i] = top == 1023 ? (i / stride % 2 ? 1023 : 0)
				      : (uint16_t)oracle_below((uint32_t)top + 1);
	k->differences(rows, rows + stride, stride, n, ret);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(ret[i], differences(rows, rows + (i + 1) * stride, stride));
	assert_int_equal(ret[n], 0);
	free(rows);
	free(ret);
}

static void test_differences(void **state)
{
	const struct kernels *all[KERNELS_MAX];
	unsigned n = kernels_all(all);

	(void)state;
	assert_true(n >= 1 && n <= KERNELS_MAX);
	assert_ptr_equal(kernels_best(), all[n - 1]);
	for (unsigned i = 0; i < n; i++) {
		for (size_t stride = KERNEL_UNIT; stride <= 2048; stride *= 2) {
			check_differences(all[i], stride, 17, 999);
			check_differences(all[i], stride, 3, 1023);
		}
		check_differences(all[i], 64, 0, 999);
		check_differences(all[i], 48, 100, 5);
		check_differences(all[i], KERNEL_UNIT * 33, 5, 1023);
	}
}

static void test_count_and_select(void **state)
{
	const struct kernels *all[KERNELS_MAX];
	unsigned n_kernels = kernels_all(all);
	double sorted[300];
	uint32_t v[300];

	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		uint32_t n = 1 + oracle_below(300), top = round % 3 ? 60000 : UINT32_MAX;
		uint32_t limit = (uint32_t)(oracle_uniform() * top), rank = oracle_below(n);
		size_t expected = 0;

		for (uint32_t i = 0; i < n; i++) {
			v[i] = round % 5 ? (uint32_t)(oracle_uniform() * top) : oracle_below(3);
			sorted[i] = v[i];
			expected += v[i] <= limit;
		}
		qsort(sorted, n, sizeof(*sorted), oracle_ascending);
		for (unsigned i = 0; i < n_kernels; i++) {
			uint32_t found = kernels_select(all[i], v, n, rank, top);

			assert_int_equal(all[i]->count_to(v, n, limit), expected);
			assert_true(found == sorted[rank]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_count_and_select),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
