#include "unit.h"

#include "base/median.h"
#include "oracle.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double plain_median(const double *values, uint32_t n)
{
	double sorted[64], median;

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), oracle_ascending);
	median = n % 2 ? sorted[n / 2] : sorted[n / 2 - 1] / 2 + sorted[n / 2] / 2;
	return median;
}

static void fill(double *values, uint32_t n, uint32_t different)
{
	for (uint32_t i = 0; i < n; i++)
		values[i] = oracle_below(different) - 3.0;
}

static void test_median(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 2000; round++) {
		double values[64];
		uint32_t n = 1 + oracle_below(63);
		double want;

		fill(values, n, 1 + oracle_below(100));
		want = plain_median(values, n);
		assert_true(median_of(values, n) == want);
		median_sort(values, n);
		assert_true(median_of_sorted(values, n) == want);
	}
	assert_true(isnan(median_of_sorted(NULL, 0)));
	assert_true(isnan(median_of(NULL, 0)));
}

static void test_huge(void **state)
{
	double values[] = {1.7e308, 1.6e308};

	(void)state;
	assert_true(fabs(median_of(values, 2) / 1.65e308 - 1) < 1e-12);
}

static void test_others(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 500; round++) {
		double values[64], shuffled[64], rest[64];
		uint32_t n = 2 + oracle_below(60);
		struct median_split split;

		fill(values, n, 1 + oracle_below(100));
		memcpy(shuffled, values, n * sizeof(*values));
		split = median_split(shuffled, n);
		assert_true(median_of_all(&split) == plain_median(values, n));
		for (uint32_t i = 0; i < n; i++) {
			memcpy(rest, values, i * sizeof(*rest));
			memcpy(rest + i, values + i + 1, (n - i - 1) * sizeof(*rest));
			assert_true(
				median_of_others(&split, values[i]) == plain_median(rest, n - 1));
		}
	}
}

static void test_alone(void **state)
{
	double one = 5;
	struct median_split split = median_split(&one, 1);

	(void)state;
	assert_true(median_of_all(&split) == 5);
	assert_true(isnan(median_of_others(&split, 5)));
	split = median_split(NULL, 0);
	assert_true(isnan(median_of_all(&split)));
}

static void test_quantiles(void **state)
{
	const double values[] = {1, 2, 4, 8, 16};

	(void)state;
	assert_true(isnan(quantile_of_sorted(values, 0, 0.5)));
	assert_true(quantile_of_sorted(values, 1, 0.9) == 1);
	assert_true(quantile_of_sorted(values, 5, 0) == 1);
	assert_true(quantile_of_sorted(values, 5, 0.5) == 4);
	assert_true(quantile_of_sorted(values, 5, 0.625) == 6);
	assert_true(quantile_of_sorted(values, 5, 1) == 16);
	assert_true(quantile_of_sorted(values, 4, 0.5) == median_of_sorted(values, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
