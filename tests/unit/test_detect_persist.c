#include "unit.h"

#include "detect/compare/marks.h"
#include "oracle.h"

enum { NO = LP_MARK_NORMAL, UP = LP_MARK_ABOVE, DN = LP_MARK_BELOW, AB = LP_MARK_ABSENT, __ = 0 };

static void test_fires(void **state)
{
	static const uint8_t early[] = {UP, DN, AB, NO}, slow[] = {NO, UP, NO, UP, NO, UP, NO},
			     sparse[] = {UP, NO, UP, NO, NO, UP, UP, NO},
			     gaps[] = {UP, __, UP, __, UP};
	uint32_t first = 99;

	(void)state;
	assert_true(persist_fires(early, 4, 3, &first));
	assert_int_equal(first, 2);
	assert_true(persist_fires(slow, 7, 3, &first));
	assert_int_equal(first, 5);
	assert_true(persist_fires(gaps, 5, 3, NULL));
	first = 99;
	assert_false(persist_fires(sparse, 5, 3, &first));
	assert_true(persist_fires(sparse, 8, 3, &first));
	assert_int_equal(first, 6);
	first = 99;
	assert_false(persist_fires(early, 4, 4, &first));
	assert_false(persist_fires(early, 4, 0, &first));
	assert_false(persist_fires(early, 0, 1, &first));
	assert_false(persist_fires(early, 4, UINT32_MAX, &first));
	assert_int_equal(first, 99);
}

static void test_accumulate(void **state)
{
	static const uint8_t marks[] = {UP, UP, __, AB, NO, NO, NO, NO, DN, __};
	uint32_t peak;

	(void)state;
	assert_int_equal(persist_accumulate(marks, 10, 0, &peak), 1);
	assert_int_equal(peak, 3);
	assert_int_equal(persist_accumulate(marks, 5, 0, NULL), 2);
	assert_int_equal(persist_accumulate(marks, 10, 4, &peak), 1);
	assert_int_equal(peak, 1);
	assert_int_equal(persist_accumulate(marks, 10, 11, &peak), 0);
	assert_int_equal(peak, 0);
}

static bool fires_with(const double *votes, uint32_t n, uint32_t k, double threshold)
{
	uint8_t marks[64];

	for (uint32_t i = 0; i < n; i++)
		marks[i] = votes[i] > threshold ? LP_MARK_ABOVE : LP_MARK_NORMAL;
	return persist_fires(marks, n, k, NULL);
}

/* With the limit it never fires, with anything less it does. */
static void test_limit(void **state)
{
	(void)state;
	for (int i = 0; i < 5000; i++) {
		uint32_t n = oracle_below(60), k = 1 + oracle_below(5);
		double votes[64], limit;

		for (uint32_t w = 0; w < n; w++)
			votes[w] = oracle_below(6) ? floor(oracle_uniform() * 20) : NAN;
		limit = persist_limit(votes, n, k);
		assert_false(fires_with(votes, n, k, limit));
		if (limit > 0)
			assert_true(fires_with(votes, n, k, nextafter(limit, 0)));
	}
	assert_true(persist_limit((double[]){NAN, 5, NAN}, 3, 2) == 0);
	assert_true(persist_limit(NULL, 0, 3) == 0);
	assert_true(persist_limit((double[]){1, 7, 5}, 3, 2) == 5);
	assert_true(persist_limit((double[]){1, 7, 5}, 3, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fires),
		cmocka_unit_test(test_accumulate),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
