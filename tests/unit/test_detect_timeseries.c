#include "unit.h"

#include "detect/compare/timeseries.h"
#include "openmp.h"
#include "oracle.h"

/* Enough of the last samples that an average means something. */
static int votes_by(
	const struct group_data *g, uint32_t width, enum lp_role role, double floor, double *ret)
{
	struct timeseries_how how = {.width = width, .role = role, .floor = floor};

	return timeseries_votes(g, &how, ret);
}

static bool is_dense(const double *row, uint32_t width, uint32_t i)
{
	uint32_t n = 0;

	for (uint32_t back = 0; back < width && back <= i; back++)
		n += !isnan(row[i - back]);
	return n > 0 && n >= width / 2;
}

static double log_of(const double *row, uint32_t width, enum lp_role role, double floor, uint32_t i)
{
	double mean = row ? oracle_mean(row, i, width) : NAN;

	if (role == LP_ROLE_WINDOW)
		return isnan(mean) ? NAN : log2(mean < 2 ? 2 : mean);
	return row && is_dense(row, width, i) ? log2(mean + floor) : NAN;
}

/* The definition, for one member and one sample. */
static double expected(const struct group_data *g, uint32_t width, enum lp_role role, double floor,
	uint32_t m, uint32_t i)
{
	double logs[32], own = NAN, median;
	uint32_t n = 0;

	for (uint32_t o = 0; o < g->n_members; o++) {
		logs[n] = log_of(g->rows[o], width, role, floor, i);
		if (isnan(logs[n]))
			continue;
		if (o == m)
			own = logs[n];
		n++;
	}
	if (n < (role == LP_ROLE_WINDOW ? 2 : 3) || isnan(own) || i < width / 2)
		return NAN;
	median = oracle_quantile(logs, n, 0.5);
	return role == LP_ROLE_WINDOW ? median / own : own - median;
}

static double values[20][200], votes[20 * 200], others[20 * 200];

/* Rows of all sorts: some seldom have a value, some never. */
static void fill(struct group_data *g, const double **rows)
{
	for (uint32_t m = 0; m < g->n_members; m++) {
		uint32_t every = 1 + oracle_below(4);

		for (uint32_t i = 0; i < g->n_slots; i++)
			values[m][i] =
				oracle_below(4) < every ? exp(oracle_uniform() * 9 - 2) : NAN;
		rows[m] = oracle_below(8) ? values[m] : NULL;
	}
}

static void test_oracle(void **state)
{
	(void)state;
	for (int round = 0; round < 80; round++) {
		const double *rows[20];
		struct group_data g = {rows, 1 + oracle_below(20), 1 + oracle_below(200)};
		enum lp_role role = round % 2 ? LP_ROLE_WINDOW : LP_ROLE_SERVICE;
		uint32_t width = 1 + oracle_below(40);
		double floor = oracle_uniform();

		fill(&g, rows);
		assert_int_equal(votes_by(&g, width, role, floor, votes), 0);
		for (uint32_t m = 0; m < g.n_members; m++) {
			for (uint32_t i = 0; i < g.n_slots; i++) {
				double e = expected(&g, width, role, floor, m, i);
				double v = votes[m * g.n_slots + i];

				assert_int_equal(isnan(e), isnan(v));
				assert_true(isnan(e) || fabs(e - v) <= 1e-9 * (1 + fabs(e)));
			}
		}
	}
}

/* Who stands where does not matter. */
static void test_permutation(void **state)
{
	(void)state;
	for (int round = 0; round < 40; round++) {
		const double *rows[20] = {NULL}, *turned[20] = {NULL};
		struct group_data g = {rows, 2 + oracle_below(19), 1 + oracle_below(200)};
		struct group_data t = {turned, g.n_members, g.n_slots};
		enum lp_role role = round % 2 ? LP_ROLE_WINDOW : LP_ROLE_SERVICE;
		uint32_t by = 1 + oracle_below(g.n_members - 1);

		fill(&g, rows);
		for (uint32_t m = 0; m < g.n_members; m++)
			turned[(m + by) % g.n_members] = rows[m];
		assert_int_equal(votes_by(&g, 5, role, 1, votes), 0);
		assert_int_equal(votes_by(&t, 5, role, 1, others), 0);
		for (uint32_t m = 0; m < g.n_members; m++)
			assert_memory_equal(votes + (size_t)m * g.n_slots,
				others + (size_t)((m + by) % g.n_members) * g.n_slots,
				g.n_slots * sizeof(double));
	}
}

/* Three connections at 64 segments, one at 4: a third of the logarithm. */
static void test_windows(void **state)
{
	static const double usual[] = {64, 64}, small[] = {4, 4}, none[] = {0, 1};
	const double *rows[] = {usual, usual, usual, small, none};
	struct group_data g = {rows, 5, 2};

	(void)state;
	assert_int_equal(votes_by(&g, 1, LP_ROLE_WINDOW, 0, votes), 0);
	assert_true(votes[0] == 1 && votes[5] == 1);
	assert_true(votes[6] == 3 && votes[7] == 3);
	assert_true(votes[8] == 6 && votes[9] == 6);
}

/* Calls of 3 ms, 15 ms and next to nothing, with a floor of 1 ms: four times as long is 2. */
static void test_service(void **state)
{
	static const double usual[] = {3, 3, 3}, slow[] = {15, 15, 15}, fast[] = {0, 0, 0},
			    seldom[] = {NAN, 99, NAN};
	const double *rows[] = {usual, usual, slow, fast, seldom};
	struct group_data g = {rows, 5, 3};

	(void)state;
	assert_int_equal(votes_by(&g, 1, LP_ROLE_SERVICE, 1, votes), 0);
	assert_true(votes[0] == 0 && votes[3] == 0);
	assert_true(votes[6] == 2 && votes[9] == -2);
	assert_true(isnan(votes[12]) && votes[13] > 4 && isnan(votes[14]));
	/* Averaged over four samples, one call is too little to say anything. */
	assert_int_equal(votes_by(&g, 4, LP_ROLE_SERVICE, 1, votes), 0);
	assert_true(votes[8] == 2 && isnan(votes[14]));
	/* Of two it is impossible to say which is slow. */
	rows[0] = rows[3] = NULL;
	assert_int_equal(votes_by(&g, 1, LP_ROLE_SERVICE, 1, votes), 0);
	assert_true(isnan(votes[3]) && isnan(votes[6]) && !isnan(votes[7]));
}

static void test_applies(void **state)
{
	struct detect_options opt = {0};
	struct lp_params p = {.smooth = 5, .win_size = 64, .win_shift = 32, .k = 3};

	(void)state;
	assert_true(timeseries_applies(&opt, LP_ROLE_WINDOW));
	assert_false(timeseries_applies(&opt, LP_ROLE_LATENCY));
	assert_int_equal(
		timeseries_applies(&opt, LP_ROLE_SERVICE), SERVICE_USUAL == SERVICE_SERIES);
	opt.service = SERVICE_SERIES;
	assert_true(timeseries_applies(&opt, LP_ROLE_SERVICE));
	opt.service = SERVICE_MEASURE;
	assert_false(timeseries_applies(&opt, LP_ROLE_SERVICE));
	assert_true(timeseries_applies(&opt, LP_ROLE_WINDOW));
	p.step_us = 1000000;
	timeseries_params(&p);
	assert_int_equal(p.smooth, 31);
	assert_int_equal(p.win_size * p.win_shift * p.k, 1);
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
		cmocka_unit_test(test_permutation),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_service),
		cmocka_unit_test(test_applies),
		cmocka_unit_test(test_width),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
