#include "model/table_pages.h"

#include "base/cleanup.h"
#include "unit.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define AGE INT64_C(4000000000)

static struct table_budget unlimited(void)
{
	return (struct table_budget){.max = UINT64_MAX};
}

static void test_far_apart(void **state)
{
	_cleanup_(pages_release) struct table_pages p = {0};
	struct table_budget budget = {.max = 4096};
	int64_t first, end;
	double values[3];

	(void)state;
	assert_false(pages_span(&p, &first, &end));
	assert_false(pages_any(&p, INT64_MIN, INT64_MAX));
	assert_int_equal(pages_put(&p, AGE, 3, &budget), 0);
	assert_int_equal(pages_put(&p, -AGE, 1, &budget), 0);
	assert_int_equal(pages_put(&p, 5, 2, &budget), 0);
	assert_int_equal(pages_bytes(&p), budget.used);
	assert_true(budget.used < 4096);
	assert_true(pages_span(&p, &first, &end));
	assert_int_equal(first, -AGE);
	assert_int_equal(end, AGE + 1);
	pages_copy(&p, 4, 3, values);
	assert_true(isnan(values[0]) && values[1] == 2 && isnan(values[2]));
	assert_true(pages_any(&p, 5, 6));
	assert_false(pages_any(&p, 6, AGE));
	assert_true(pages_any(&p, 6, AGE + 1));
	assert_false(pages_any(&p, -AGE + 1, 5));
	assert_int_equal(pages_next(&p, 6), AGE);
	assert_int_equal(pages_next(&p, 5), 5);
	assert_int_equal(pages_next(&p, AGE + 1), INT64_MAX);
	assert_int_equal(pages_count(&p, INT64_MIN, INT64_MAX), 3);
}

/* Half the memory, seven digits; slots without a value still differ from NaN. */
static void test_narrow(void **state)
{
	_cleanup_(pages_release) struct table_pages wide = {0}, narrow = {.narrow = true};
	struct table_budget budget = unlimited();
	double values[4];

	(void)state;
	for (int64_t s = 0; s < 1000; s += 2) {
		assert_int_equal(pages_put(&wide, s, (double)s / 3, &budget), 0);
		assert_int_equal(pages_put(&narrow, s, (double)s / 3, &budget), 0);
	}
	assert_true(pages_bytes(&narrow) * 3 < pages_bytes(&wide) * 2);
	assert_int_equal(pages_count(&narrow, 0, 1000), 500);
	assert_int_equal(pages_next(&narrow, 1), 2);
	pages_copy(&narrow, 700, 4, values);
	assert_true(fabs(values[0] / (700.0 / 3) - 1) < 1e-7);
	assert_true(isnan(values[1]) && !table_value_set(values[1]));
	assert_int_equal(pages_put(&narrow, 701, NAN, &budget), 0);
	assert_int_equal(pages_put(&narrow, 702, 1e300, &budget), 0);
	assert_int_equal(pages_put(&narrow, 703, -1e300, &budget), 0);
	pages_copy(&narrow, 700, 4, values);
	assert_true(isnan(values[1]) && table_value_set(values[1]));
	assert_true(isfinite(values[2]) && values[2] > 1e38);
	assert_true(isfinite(values[3]) && values[3] < -1e38);
	pages_drop(&narrow, 0, 990, &budget);
	assert_int_equal(pages_count(&narrow, 0, 1000), 5);
}

/* Where the numbers of a stretch begin and end, with NaN at both ends. */
static void test_span_in(void **state)
{
	_cleanup_(pages_release) struct table_pages p = {0};
	struct table_budget budget = unlimited();
	uint32_t first, end;

	(void)state;
	assert_int_equal(pages_put(&p, 10, NAN, &budget), 0);
	assert_int_equal(pages_put(&p, 20, 1, &budget), 0);
	assert_int_equal(pages_put(&p, 300, 2, &budget), 0);
	assert_int_equal(pages_put(&p, 310, NAN, &budget), 0);
	pages_span_in(&p, 5, 1000, &first, &end);
	assert_int_equal(first, 15);
	assert_int_equal(end, 296);
	pages_span_in(&p, 5, 200, &first, &end);
	assert_int_equal(first, 15);
	assert_int_equal(end, 16);
	pages_span_in(&p, 21, 279, &first, &end);
	assert_int_equal(first, end);
	pages_span_in(&p, 301, 1000, &first, &end);
	assert_int_equal(first, end);
}

static void test_budget(void **state)
{
	_cleanup_(pages_release) struct table_pages p = {0};
	struct table_budget budget = {.max = 1024};
	int n = 0, r = 0;

	(void)state;
	while (r == 0 && n < 100)
		r = pages_put(&p, n++ * AGE, 1, &budget);
	assert_int_equal(r, -EFBIG);
	assert_true(n > 1 && n < 4);
	assert_int_equal(budget.slot / AGE, n - 1);
	assert_true(budget.used <= budget.max);
}

/* A plain array as the oracle: whatever is put, dropped, shifted and joined at random. */
#define N 1000

static void assert_like(const struct table_pages *p, const double *plain)
{
	double values[N];
	uint64_t n = 0;

	pages_copy(p, 0, N, values);
	for (int i = 0; i < N; i++) {
		assert_true(values[i] == plain[i] || (isnan(values[i]) && isnan(plain[i])));
		n += !isnan(plain[i]);
	}
	assert_int_equal(pages_count(p, INT64_MIN, INT64_MAX), n);
}

static void plain_shift(double *plain, int from, int end, int by)
{
	double moved[N];

	for (int i = 0; i < N; i++) {
		int was = i - by;

		moved[i] = was >= from && was < end ? plain[was] : NAN;
	}
	for (int i = from; i < end; i++)
		plain[i] = NAN;
	for (int i = 0; i < N; i++)
		plain[i] = isnan(moved[i]) ? plain[i] : moved[i];
}

static void test_like_an_array(void **state)
{
	_cleanup_(pages_release) struct table_pages p = {0};
	struct table_budget budget = unlimited();
	double plain[N];

	(void)state;
	srand(1);
	for (int i = 0; i < N; i++)
		plain[i] = NAN;
	for (int turn = 0; turn < 400; turn++) {
		int from = 200 + rand() % 600, end = from + rand() % 200, by = rand() % 400 - 200;
		struct table_pages later = {0};

		for (int i = from; i < end; i += 1 + rand() % 3) {
			assert_int_equal(pages_put(turn % 2 ? &p : &later, i, turn, &budget), 0);
			plain[i] = turn;
		}
		budget.used -= pages_bytes(&later);
		assert_int_equal(pages_join(&p, &later, &budget), 0);
		from = 200 + rand() % 600;
		end = from + rand() % 200;
		if (turn % 3 == 1) {
			pages_drop(&p, from, end, &budget);
			for (int i = from; i < end; i++)
				plain[i] = NAN;
		} else if (turn % 3 == 2) {
			pages_drop(&p, 0, 200, &budget);
			pages_drop(&p, 800, N, &budget);
			for (int i = 0; i < N; i++)
				plain[i] = i < 200 || i >= 800 ? NAN : plain[i];
			end = end > 800 ? 800 : end;
			assert_int_equal(pages_shift(&p, from, end, by, &budget), 0);
			plain_shift(plain, from, end, by);
		}
		assert_like(&p, plain);
		assert_int_equal(budget.used, pages_bytes(&p));
	}
}

/* Two rows with the same values, now and then with others, which share what they can: each stays
 * like an array of its own, and what both have is counted once. */
static void test_shared(void **state)
{
	struct table_pages p = {.narrow = true}, q = {.narrow = true};
	struct table_budget budget = unlimited();
	double plain[2][N];

	(void)state;
	srand(2);
	for (int i = 0; i < N; i++)
		plain[0][i] = plain[1][i] = NAN;
	for (int turn = 0; turn < 400; turn++) {
		int from = rand() % 900, end = from + rand() % 100;

		for (int i = from; turn % 5 && i < end; i++) {
			plain[0][i] = turn;
			plain[1][i] = turn + (turn % 7 == 0 && i % 64 == 0);
			assert_int_equal(pages_put(&p, i, plain[0][i], &budget), 0);
			assert_int_equal(pages_put(&q, i, plain[1][i], &budget), 0);
		}
		if (turn % 5 == 0)
			assert_int_equal(pages_drop(turn % 2 ? &p : &q, from, end, &budget), 0);
		for (int i = from; turn % 5 == 0 && i < end; i++)
			plain[turn % 2 ? 0 : 1][i] = NAN;
		if (turn % 3 == 0)
			pages_share(&q, &p, rand() % N, &budget);
		assert_like(&p, plain[0]);
		assert_like(&q, plain[1]);
	}
	assert_true(budget.used > pages_bytes(&p) + pages_bytes(&q)); /* it shares some */
	budget.used -= pages_bytes(&q);
	pages_release(&q);
	assert_int_equal(budget.used, pages_bytes(&p));
	assert_like(&p, plain[0]);
	pages_release(&p);
}

/* Full pages of equal rows take half the memory, and the last page, which grows, is not shared. */
static void test_shared_half(void **state)
{
	_cleanup_(pages_release) struct table_pages p = {0}, q = {0};
	struct table_budget budget = unlimited();
	uint64_t before;

	(void)state;
	for (int i = 0; i < 640; i++) {
		assert_int_equal(pages_put(&p, i, i, &budget), 0);
		assert_int_equal(pages_put(&q, i, i, &budget), 0);
	}
	before = budget.used;
	pages_share(&q, &p, 639, &budget);
	for (int i = 0; i < 9; i++)
		assert_ptr_equal(q.items[i].values, p.items[i].values);
	assert_ptr_not_equal(q.items[9].values, p.items[9].values);
	assert_true(budget.used * 100 < before * 60);
	pages_share(&q, &p, 639, &budget); /* a second time changes nothing */
	assert_true(budget.used * 100 > before * 50);
	assert_int_equal(pages_put(&p, 7, 1e6, &budget), 0);
	assert_ptr_not_equal(q.items[0].values, p.items[0].values);
	assert_true(q.items[0].values[7] == 7 && p.items[0].values[7] == 1e6);
}

/* A value that could not be computed replaces one, no value does not. */
static void test_nan_is_a_value(void **state)
{
	_cleanup_(pages_release) struct table_pages p = {0};
	struct table_budget budget = unlimited();
	struct table_pages later = {0};
	double values[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pages_put(&p, i, 7, &budget), 0);
	assert_int_equal(pages_put(&later, 0, NAN, &budget), 0);
	assert_int_equal(pages_join(&p, &later, &budget), 0);
	pages_copy(&p, 0, 2, values);
	assert_true(isnan(values[0]) && values[1] == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_budget),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_span_in),
		cmocka_unit_test(test_like_an_array),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_shared_half),
		cmocka_unit_test(test_nan_is_a_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
