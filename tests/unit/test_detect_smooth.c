#include "unit.h"

#include "detect/compare/votes.h"
#include "openmp.h"
#include "oracle.h"

#define N 500

static void smooth_one(const double *row, uint32_t n, uint32_t width, struct smoothed *ret)
{
	struct group_data g = {&row, 1, n};

	assert_int_equal(smooth_group(&g, width, ret), 0);
	assert_int_equal(ret->n_slots, n);
}

static void test_means(void **state)
{
	double row[N];

	(void)state;
	for (int round = 0; round < 200; round++) {
		double missing = round % 4 * 0.3, scale = pow(10, round % 30), largest = 0;
		uint32_t width = 1 + oracle_below(40), n = 1 + oracle_below(N);
		struct smoothed s;

		for (uint32_t i = 0; i < n; i++) {
			row[i] = oracle_uniform() < missing ? NAN : oracle_uniform() * scale;
			if (oracle_below(100) == 0)
				row[i] = oracle_below(2) ? INFINITY : -INFINITY;
			if (oracle_value(row[i]))
				largest = fmax(largest, row[i]);
		}
		smooth_one(row, n, width, &s);
		for (uint32_t i = 0; i < n; i++) {
			double mean = oracle_mean(row, i, width);

			assert_int_equal(isnan(mean), isnan(s.rows[0][i]));
			if (!isnan(mean))
				assert_true(fabs(mean - s.rows[0][i]) <= 1e-12 * mean);
		}
		smoothed_release(&s);
	}
}

/* What is idle after a burst is exactly idle, what is constant exactly constant. */
static void test_no_drift(void **state)
{
	double row[N];
	struct smoothed s;

	(void)state;
	for (uint32_t i = 0; i < N; i++)
		row[i] = i < 100 ? oracle_uniform() * 1e12 : i < 200 ? 0 : i < 210 ? NAN : 0.1;
	smooth_one(row, N, 15, &s);
	for (uint32_t i = 114; i < 200; i++)
		assert_true(s.rows[0][i] == 0);
	for (uint32_t i = 214; i < N; i++)
		assert_true(s.rows[0][i] == 0.1);
	smoothed_release(&s);
}

/* Slots that are there for averages only are left out, and count. */
static void test_context(void **state)
{
	double row[N];
	const double *rows[] = {row};

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint32_t width = 1 + oracle_below(40), context = oracle_below(N);
		struct group_data g = {rows, 1, N, 0};
		struct smoothed all, some;

		for (uint32_t i = 0; i < N; i++)
			row[i] = oracle_below(10) < (uint32_t)round % 4 ? NAN : oracle_uniform();
		assert_int_equal(smooth_group(&g, width, &all), 0);
		smoothed_drop_sparse(&all, &g, width);
		g.context = context;
		assert_int_equal(smooth_group(&g, width, &some), 0);
		smoothed_drop_sparse(&some, &g, width);
		assert_int_equal(some.n_slots, N - context);
		for (uint32_t i = context; i < N; i++) {
			double a = all.rows[0][i], b = some.rows[0][i - context];

			assert_true(a == b || (isnan(a) && isnan(b)));
		}
		smoothed_release(&all);
		smoothed_release(&some);
	}
}

static void test_rows(void **state)
{
	static const double a[] = {1, 3, NAN, NAN, 5};
	const double *rows[] = {a, NULL, a};
	struct group_data g = {rows, 3, 5};
	struct smoothed s;

	(void)state;
	assert_int_equal(smooth_group(&g, 2, &s), 0);
	assert_null(s.rows[1]);
	for (unsigned m = 0; m < 3; m += 2) {
		assert_true(s.rows[m][0] == 1 && s.rows[m][1] == 2 && s.rows[m][2] == 3);
		assert_true(isnan(s.rows[m][3]) && s.rows[m][4] == 5);
	}
	smoothed_release(&s);
	assert_null(s.block);
	/* No width means no smoothing; one longer than the data means all of it. */
	assert_int_equal(smooth_group(&g, 0, &s), 0);
	assert_true(s.rows[0][1] == 3 && isnan(s.rows[0][2]));
	smoothed_release(&s);
	assert_int_equal(smooth_group(&g, UINT32_MAX, &s), 0);
	assert_true(s.rows[0][4] == 3 && s.rows[0][3] == 2);
	smoothed_release(&s);
	g = (struct group_data){rows, 0, 5};
	assert_int_equal(smooth_group(&g, 2, &s), 0);
	smoothed_release(&s);
	smoothed_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_means),
		cmocka_unit_test(test_no_drift),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
