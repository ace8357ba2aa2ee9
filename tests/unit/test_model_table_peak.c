/* Peaks: the largest value of the last so many samples. */
#include "unit.h"

#include "model/table_peak.h"
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The definition, word by word. */
static double plain(const double *v, uint32_t at, uint32_t width)
{
	double max = NAN;

	for (uint32_t i = at + 1 > width ? at + 1 - width : 0; i <= at; i++)
		max = isnan(max) || v[i] > max ? v[i] : max;
	return max;
}

static void expect_plain(const double *from, uint32_t n, uint32_t width)
{
	double *got = calloc(n + 1, sizeof(*got));

	assert_non_null(got);
	memcpy(got, from, n * sizeof(*got));
	assert_int_equal(peak_apply(got, n, width), 0);
	for (uint32_t i = 0; i < n; i++) {
		double want = plain(from, i, width);

		assert_true(isnan(want) ? isnan(got[i]) : got[i] == want);
	}
	free(got);
}

static void test_largest_of_the_last(void **state)
{
	double v[] = {1, 5, 2, 2, 1, NAN, NAN, NAN, 3, 0};

	(void)state;
	expect_plain(v, 10, 3);
	assert_int_equal(peak_apply(v, 10, 3), 0);
	assert_true(v[3] == 5 && v[4] == 2 && v[6] == 1);
	assert_true(isnan(v[7])); /* three in a row are missing */
	assert_true(v[8] == 3 && v[9] == 3);
}

static void test_random(void **state)
{
	double v[300];

	(void)state;
	srand(5);
	for (unsigned round = 0; round < 200; round++) {
		uint32_t n = (uint32_t)rand() % 300;

		for (uint32_t i = 0; i < n; i++)
			v[i] = rand() % 4 ? rand() % 50 : NAN;
		expect_plain(v, n, 1 + (uint32_t)rand() % 20);
	}
}

static void test_only_on_fine_grids(void **state)
{
	(void)state;
	assert_int_equal(peak_span_us("await-peak"), 15000000);
	assert_int_equal(peak_span_us("await"), 0);
	assert_true(peak_fits("await-peak", 1000000));
	assert_true(peak_fits("await-peak", 3000000));
	assert_false(peak_fits("await-peak", 15000000));
	assert_true(peak_fits("await", 15000000));
}

static void test_table(void **state)
{
	double values[] = {1, 2, 9, 1, 1, 1, 4, 4, 4, 4, 4, 5};
	struct lp_table t = {.metric = (char *)"await",
		.step_us = 3000000,
		.n_slots = 6,
		.n_components = 2,
		.values = values};

	(void)state;
	assert_int_equal(peak_table(&t), 0);
	assert_true(values[3] == 1); /* this metric has none */
	t.metric = (char *)"await-peak";
	assert_int_equal(peak_table(&t), 0);
	assert_true(values[5] == 9 && values[6] == 4 && values[11] == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest_of_the_last),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_only_on_fine_grids),
		cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
