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
	}
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
		double values[64], got[64], rest[64];
		uint32_t n = 2 + oracle_below(60);

		fill(values, n, 1 + oracle_below(100));
		median_sort(values, n);
		median_of_others(values, n, got);
		for (uint32_t i = 0; i < n; i++) {
			memcpy(rest, values, i * sizeof(*rest));
			memcpy(rest + i, values + i + 1, (n - i - 1) * sizeof(*rest));
			assert_true(got[i] == plain_median(rest, n - 1));
		}
	}
}

static void test_alone(void **state)
{
	double one = 5, got = 0;

	(void)state;
	median_of_others(&one, 1, &got);
	assert_true(isnan(got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median),
		cmocka_unit_test(test_huge),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
