/* Moving averages, and windows over whole series, with one thread and with several. */
#include "unit.h"

#include "detect/compare/measure.h"
#include "detect/compare/votes.h"
#include "openmp.h"
#include "oracle.h"
#include <omp.h>

#define MEMBERS 12
#define SLOTS 300

static double values[MEMBERS][SLOTS];
static const double *rows[MEMBERS];
static const struct group_data group = {rows, MEMBERS, SLOTS};
static const struct lp_params params = {.smooth = 3, .win_size = 20, .win_shift = 7, .k = 3};

/* Members come and go, and one is well above the others. */
static void fill(void)
{
	for (uint32_t m = 0; m < MEMBERS; m++) {
		uint32_t from = m == 3 ? 130 : 0, to = m == 4 ? 45 : m == 5 ? 0 : SLOTS;

		for (uint32_t i = 0; i < SLOTS; i++) {
			values[m][i] = oracle_uniform() + (m == 7) * 2;
			if (i < from || i >= to || oracle_below(8) == 0)
				values[m][i] = NAN;
		}
		rows[m] = m == 9 ? NULL : values[m];
	}
}

#define SMOOTH_SLOTS 500

static void smooth_one(const double *row, uint32_t n, uint32_t width, struct smoothed *ret)
{
	struct group_data g = {&row, 1, n};

	assert_int_equal(smooth_group(&g, width, 0, ret), 0);
	assert_int_equal(ret->n_slots, n);
}

static void test_smooth_means(void **state)
{
	double row[SMOOTH_SLOTS];

	(void)state;
	for (int round = 0; round < 200; round++) {
		double missing = round % 4 * 0.3, scale = pow(10, round % 30), largest = 0;
		uint32_t width = 1 + oracle_below(40), n = 1 + oracle_below(SMOOTH_SLOTS);
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

/* An idle component is exactly idle after a burst, and a constant value stays exactly constant. */
static void test_smooth_no_drift(void **state)
{
	double row[SMOOTH_SLOTS];
	struct smoothed s;

	(void)state;
	for (uint32_t i = 0; i < SMOOTH_SLOTS; i++)
		row[i] = i < 100 ? oracle_uniform() * 1e12 : i < 200 ? 0 : i < 210 ? NAN : 0.1;
	smooth_one(row, SMOOTH_SLOTS, 15, &s);
	for (uint32_t i = 114; i < 200; i++)
		assert_true(s.rows[0][i] == 0);
	for (uint32_t i = 214; i < SMOOTH_SLOTS; i++)
		assert_true(s.rows[0][i] == 0.1);
	smoothed_release(&s);
}

/* Slots that are there for averages only are left out, and count. */
static void test_smooth_context(void **state)
{
	double row[SMOOTH_SLOTS];
	const double *pair[] = {row};

	(void)state;
	for (int round = 0; round < 200; round++) {
		uint32_t width = 1 + oracle_below(40), context = oracle_below(SMOOTH_SLOTS);
		struct group_data g = {pair, 1, SMOOTH_SLOTS, 0};
		struct smoothed all, some;

		for (uint32_t i = 0; i < SMOOTH_SLOTS; i++)
			row[i] = oracle_below(10) < (uint32_t)round % 4 ? NAN : oracle_uniform();
		assert_int_equal(smooth_group(&g, width, width, &all), 0);
		g.context = context;
		assert_int_equal(smooth_group(&g, width, width, &some), 0);
		assert_int_equal(some.n_slots, SMOOTH_SLOTS - context);
		for (uint32_t i = context; i < SMOOTH_SLOTS; i++) {
			double a = all.rows[0][i], b = some.rows[0][i - context];

			assert_true(a == b || (isnan(a) && isnan(b)));
		}
		smoothed_release(&all);
		smoothed_release(&some);
	}
}

static void test_smooth_rows(void **state)
{
	static const double a[] = {1, 3, NAN, NAN, 5};
	const double *pair[] = {a, NULL, a};
	struct group_data g = {pair, 3, 5};
	struct smoothed s;

	(void)state;
	assert_int_equal(smooth_group(&g, 2, 0, &s), 0);
	assert_null(s.rows[1]);
	for (unsigned m = 0; m < 3; m += 2) {
		assert_true(s.rows[m][0] == 1 && s.rows[m][1] == 2 && s.rows[m][2] == 3);
		assert_true(isnan(s.rows[m][3]) && s.rows[m][4] == 5);
	}
	smoothed_release(&s);
	assert_null(s.block);
	/* No width means no smoothing; one longer than the data means all of it. */
	assert_int_equal(smooth_group(&g, 0, 0, &s), 0);
	assert_true(s.rows[0][1] == 3 && isnan(s.rows[0][2]));
	smoothed_release(&s);
	assert_int_equal(smooth_group(&g, UINT32_MAX, 0, &s), 0);
	assert_true(s.rows[0][4] == 3 && s.rows[0][3] == 2);
	smoothed_release(&s);
	g = (struct group_data){pair, 0, 5};
	assert_int_equal(smooth_group(&g, 2, 0, &s), 0);
	smoothed_release(&s);
	smoothed_release(&s);
}

static void test_count(void **state)
{
	struct lp_params p = {.win_size = 60, .win_shift = 30};

	(void)state;
	assert_int_equal(window_count(&p, 0), 0);
	assert_int_equal(window_count(&p, 59), 0);
	assert_int_equal(window_count(&p, 60), 1);
	assert_int_equal(window_count(&p, 89), 1);
	assert_int_equal(window_count(&p, 90), 2);
	assert_int_equal(window_count(&p, 5760), 191);
	assert_int_equal(window_count(&p, UINT32_MAX), (UINT32_MAX - 60) / 30 + 1);
	p.win_shift = 0;
	assert_int_equal(window_count(&p, 100), 0);
	p = (struct lp_params){.win_size = 0, .win_shift = 30};
	assert_int_equal(window_count(&p, 100), 0);
}

/* The window's rows as step 3 says. */
static struct window cut(const struct smoothed *s, uint32_t index, const double **ret_rows)
{
	struct window w = {ret_rows, MEMBERS, params.win_size, 0};

	for (uint32_t m = 0; m < MEMBERS; m++) {
		const double *row = s->rows[m] ? s->rows[m] + index * params.win_shift : NULL;

		ret_rows[m] =
			2 * oracle_count(row, params.win_size) >= params.win_size ? row : NULL;
		w.n_with_data += ret_rows[m] != NULL;
	}
	return w;
}

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static void test_windows(void **state)
{
	uint32_t n_windows = window_count(&params, SLOTS);
	double *votes = calloc((size_t)MEMBERS * n_windows, sizeof(*votes));
	bool *data = calloc((size_t)MEMBERS * n_windows, sizeof(*data));
	struct measure_scratch *scratch = measure_scratch_new();
	struct smoothed s;

	(void)state;
	fill();
	assert_int_equal(smooth_group(&group, params.smooth, 0, &s), 0);
	for (const struct measure *const *m = measures; *m; m++) {
		assert_int_equal(votes_all(*m, &params, &s, NULL, 0, votes, data), 0);
		for (uint32_t i = 0; i < n_windows; i++) {
			const double *parts[MEMBERS];
			double expected[MEMBERS];
			struct window w = cut(&s, i, parts);

			assert_int_equal((*m)->votes(&w, NULL, 0, scratch, expected), 0);
			for (uint32_t k = 0; k < MEMBERS; k++) {
				assert_true(same(votes[k * n_windows + i], expected[k]));
				assert_int_equal(data[k * n_windows + i], parts[k] != NULL);
			}
		}
	}
	assert_false(data[3 * n_windows] || data[5 * n_windows] || data[9 * n_windows]);
	assert_true(data[4 * n_windows] && data[3 * n_windows + n_windows - 1]);
	assert_false(data[4 * n_windows + n_windows - 1]);
	measure_scratch_free(scratch);
	smoothed_release(&s);
	free(votes);
	free(data);
}

static void test_some_members(void **state)
{
	static const uint32_t chosen[] = {7, 2};
	uint32_t n_windows = window_count(&params, SLOTS);
	double *all = calloc((size_t)MEMBERS * n_windows, sizeof(*all));
	double *some = calloc((size_t)2 * n_windows, sizeof(*some));
	struct smoothed s;

	(void)state;
	fill();
	assert_int_equal(smooth_group(&group, params.smooth, 0, &s), 0);
	for (const struct measure *const *m = measures; *m; m++) {
		assert_int_equal(votes_all(*m, &params, &s, NULL, 0, all, NULL), 0);
		assert_int_equal(votes_all(*m, &params, &s, chosen, 2, some, NULL), 0);
		for (uint32_t i = 0; i < n_windows; i++) {
			assert_true(same(some[i], all[7 * n_windows + i]));
			assert_true(same(some[n_windows + i], all[2 * n_windows + i]));
		}
	}
	smoothed_release(&s);
	free(all);
	free(some);
}

/* The same bits with any number of threads. */
static void test_threads(void **state)
{
	uint32_t n_windows = window_count(&params, SLOTS);
	size_t n = (size_t)MEMBERS * n_windows;
	double *one = calloc(n, sizeof(*one)), *many = calloc(n, sizeof(*many));
	double thresholds[MEMBERS];
	int usual = omp_get_max_threads();
	struct smoothed s;

	(void)state;
	fill();
	for (uint32_t m = 0; m < MEMBERS; m++)
		thresholds[m] = 3;
	assert_int_equal(smooth_group(&group, params.smooth, 0, &s), 0);
	for (const struct measure *const *m = measures; *m; m++) {
		for (int threads = 2; threads < 6; threads++) {
			omp_set_num_threads(1);
			assert_int_equal(votes_all(*m, &params, &s, NULL, 0, one, NULL), 0);
			omp_set_num_threads(threads);
			assert_int_equal(votes_all(*m, &params, &s, NULL, 0, many, NULL), 0);
			assert_memory_equal(one, many, n * sizeof(*one));
			omp_set_num_threads(1);
			assert_int_equal(
				votes_exceeding(*m, &params, &s, thresholds, NULL, one), 0);
			omp_set_num_threads(threads);
			assert_int_equal(
				votes_exceeding(*m, &params, &s, thresholds, NULL, many), 0);
			assert_memory_equal(one, many, n * sizeof(*one));
		}
	}
	omp_set_num_threads(usual);
	smoothed_release(&s);
	free(one);
	free(many);
}

/* A selected member gets the same vote as if all were selected. */
static void test_asked(void **state)
{
	uint32_t n_windows = window_count(&params, SLOTS);
	size_t n = (size_t)MEMBERS * n_windows;
	double *all = calloc(n, sizeof(*all)), *some = calloc(n, sizeof(*some));
	bool *asked = calloc(n, sizeof(*asked)), *data = calloc(n, sizeof(*data));
	double thresholds[MEMBERS];
	uint32_t exceeding = 0;
	struct smoothed s;

	(void)state;
	fill();
	for (uint32_t m = 0; m < MEMBERS; m++)
		thresholds[m] = 1;
	for (size_t i = 0; i < n; i++)
		asked[i] = i % n_windows % 4 && oracle_below(3) == 0;
	assert_int_equal(smooth_group(&group, params.smooth, 0, &s), 0);
	windows_data(&params, &s, data);
	for (const struct measure *const *m = measures; *m; m++) {
		bool *found = calloc(n, sizeof(*found));

		assert_int_equal(votes_all(*m, &params, &s, NULL, 0, all, found), 0);
		assert_memory_equal(data, found, n * sizeof(*data));
		assert_int_equal(votes_exceeding(*m, &params, &s, thresholds, asked, some), 0);
		for (size_t i = 0; i < n; i++) {
			if (!asked[i] || !(all[i] > 1))
				continue;
			assert_true(all[i] == some[i]);
			exceeding++;
		}
		free(found);
	}
	assert_true(exceeding > 0);
	smoothed_release(&s);
	free(all);
	free(some);
	free(asked);
	free(data);
}

/* One window with many members, which the threads share. */
static void test_many_members(void **state)
{
	static const struct lp_params p = {.smooth = 1, .win_size = 8, .win_shift = 8};
	uint32_t n = SCRATCH_MANY + 100;
	double *block = calloc((size_t)n * 8, sizeof(*block)), *one = calloc(n, sizeof(*one));
	double *many = calloc(n, sizeof(*many)), *thresholds = calloc(n, sizeof(*thresholds));
	const double **members = calloc(n, sizeof(*members));
	struct smoothed s = {block, members, n, 8};
	int usual = omp_get_max_threads();

	(void)state;
	for (size_t i = 0; i < (size_t)n * 8; i++)
		block[i] = oracle_below(300) ? oracle_uniform() + (i / 8 % 500 == 3) * 5 : NAN;
	for (uint32_t m = 0; m < n; m++) {
		members[m] = block + (size_t)m * 8;
		thresholds[m] = 3 + oracle_uniform() * 4;
	}
	omp_set_num_threads(1);
	assert_int_equal(votes_all(measure_find("cdf"), &p, &s, NULL, 0, one, NULL), 0);
	omp_set_num_threads(3);
	assert_int_equal(votes_all(measure_find("cdf"), &p, &s, NULL, 0, many, NULL), 0);
	assert_memory_equal(one, many, n * sizeof(*one));
	assert_int_equal(votes_exceeding(measure_find("cdf"), &p, &s, thresholds, NULL, many), 0);
	for (uint32_t m = 0; m < n; m++) {
		assert_int_equal(one[m] > thresholds[m], many[m] > thresholds[m]);
		assert_true(!(one[m] > thresholds[m]) || one[m] == many[m]);
	}
	omp_set_num_threads(usual);
	free(thresholds);
	free(block);
	free(members);
	free(one);
	free(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_smooth_means),
		cmocka_unit_test(test_smooth_no_drift),
		cmocka_unit_test(test_smooth_context),
		cmocka_unit_test(test_smooth_rows),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_some_members),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_many_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
