#include "unit.h"

#include "detect/timeseries.h"
#include "openmp.h"
#include "oracle.h"

static double expected(
	const struct group_data *g, uint32_t width, bool less, uint32_t m, uint32_t i)
{
	double logs[32], own = NAN, median;
	uint32_t n = 0;

	for (uint32_t o = 0; o < g->n_members; o++) {
		double mean = g->rows[o] ? oracle_mean(g->rows[o], i, width) : NAN;

		if (isnan(mean))
			continue;
		logs[n] = log2(mean < 2 ? 2 : mean);
		if (o == m)
			own = logs[n];
		n++;
	}
	if (n < 2 || isnan(own) || i < width / 2)
		return NAN;
	median = oracle_quantile(logs, n, 0.5);
	return less ? median / own : own / median;
}

static void test_oracle(void **state)
{
	static double values[20][200], votes[20 * 200];

	(void)state;
	for (int round = 0; round < 60; round++) {
		const double *rows[20];
		struct group_data g = {rows, 1 + oracle_below(20), 1 + oracle_below(200)};
		uint32_t width = 1 + oracle_below(40);
		bool less = round % 2;

		for (uint32_t m = 0; m < g.n_members; m++) {
			for (uint32_t i = 0; i < g.n_slots; i++)
				values[m][i] =
					oracle_below(4) ? exp(oracle_uniform() * 9 - 2) : NAN;
			rows[m] = oracle_below(8) ? values[m] : NULL;
		}
		assert_int_equal(timeseries_votes(&g, width, less, votes), 0);
		for (uint32_t m = 0; m < g.n_members; m++) {
			for (uint32_t i = 0; i < g.n_slots; i++) {
				double e = expected(&g, width, less, m, i);
				double v = votes[m * g.n_slots + i];

				assert_int_equal(isnan(e), isnan(v));
				assert_true(isnan(e) || fabs(e - v) <= 1e-9 * e);
			}
		}
	}
}

/* Three connections at 64 segments, one at 4: a third of the logarithm. */
static void test_example(void **state)
{
	static const double usual[] = {64, 64}, small[] = {4, 4}, none[] = {0, 1};
	const double *rows[] = {usual, usual, usual, small, none};
	struct group_data g = {rows, 5, 2};
	double votes[10];

	(void)state;
	assert_int_equal(timeseries_votes(&g, 1, true, votes), 0);
	assert_true(votes[0] == 1 && votes[5] == 1);
	assert_true(votes[6] == 3 && votes[7] == 3);
	assert_true(votes[8] == 6 && votes[9] == 6);
	assert_int_equal(timeseries_votes(&g, 1, false, votes), 0);
	assert_true(votes[0] == 1 && votes[6] < 0.4 && votes[8] < 0.2);
}

static void test_width(void **state)
{
	(void)state;
	assert_int_equal(timeseries_width(1000000), 31);
	assert_int_equal(timeseries_width(15000000), 2);
	assert_int_equal(timeseries_width(3600000000), 1);
	assert_int_equal(timeseries_width(0), 1);
	assert_int_equal(timeseries_width(INT64_MAX), 1);
	assert_int_equal(timeseries_width(500000), 62);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_oracle),
		cmocka_unit_test(test_example),
		cmocka_unit_test(test_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
