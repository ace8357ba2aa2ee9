#include "report/axis.h"

#include "base/array.h"
#include "base/time.h"
#include "unit.h"
#include <float.h>
#include <math.h>

static void test_steps(void **state)
{
	(void)state;
	assert_true(axis_step(57, 5) == 20);
	assert_true(axis_step(50, 5) == 10);
	assert_true(axis_step(1, 5) == 0.2);
	assert_true(axis_step(93000, 5) == 20000);
	assert_true(axis_step(0, 5) == 1);
	assert_true(axis_step(NAN, 5) == 1);
	assert_true(axis_step(INFINITY, 5) == 1);
}

/* Whatever the range is, there are some ticks and not many. */
static void test_ticks_end(void **state)
{
	static const double ranges[] = {DBL_MAX, DBL_MAX / 1.12, DBL_MIN, DBL_TRUE_MIN,
		3 * DBL_TRUE_MIN, 1e-310, 1e300, 1e-300, 0, INFINITY};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		unsigned n = axis_ticks(ranges[i], 5);

		assert_in_range(n, 1, 6);
		assert_true(axis_step(ranges[i], 5) > 0 && isfinite(axis_step(ranges[i], 5)));
	}
	assert_int_equal(axis_ticks(57, 5), 3);
	assert_int_equal(axis_ticks(50, 5), 6);
	assert_int_equal(axis_ticks(NAN, 5), 0);
	assert_int_equal(axis_ticks(-1, 5), 0);
}

static void assert_time_step(int64_t range_s, int64_t step_s)
{
	assert_int_equal(axis_time_step(range_s * US_PER_SEC, 8), step_s * US_PER_SEC);
}

static void test_time_steps(void **state)
{
	(void)state;
	assert_time_step(0, 1);
	assert_time_step(60, 10);
	assert_time_step(600, 120);
	assert_time_step(12 * 3600, 7200);
	assert_time_step(86400, 3 * 3600);
	assert_time_step(30 * 86400, 7 * 86400);
	assert_time_step(400 * 86400, 51 * 86400);
}

static void test_numbers(void **state)
{
	char buf[AXIS_TEXT_MAX];

	(void)state;
	assert_string_equal(axis_number(0, buf), "0");
	assert_string_equal(axis_number(0.25, buf), "0.25");
	assert_string_equal(axis_number(41.26, buf), "41.3");
	assert_string_equal(axis_number(1234.4, buf), "1234");
	assert_string_equal(axis_number(20000, buf), "20k");
	assert_string_equal(axis_number(1.5e6, buf), "1.5M");
	assert_string_equal(axis_number(-3e9, buf), "-3G");
	assert_string_equal(axis_number(999600, buf), "1M");
	assert_string_equal(axis_number(1e300, buf), "1e+285P");
	assert_string_equal(axis_number(-DBL_MAX, buf), "-1.8e+293P");
	assert_string_equal(axis_number(DBL_TRUE_MIN, buf), "4.94e-324");
	assert_string_equal(axis_number(NAN, buf), "none");
}

static void test_times(void **state)
{
	const int64_t day = INT64_C(1302998400000000); /* 2011-04-17T00:00:00Z */
	char buf[AXIS_TEXT_MAX];

	(void)state;
	assert_string_equal(axis_time(day, US_PER_DAY, buf), "17 Apr");
	assert_string_equal(axis_time(day + 5400 * US_PER_SEC, 1800 * US_PER_SEC, buf), "01:30");
	assert_string_equal(axis_time(day + 15 * US_PER_SEC, 15 * US_PER_SEC, buf), "00:00:15");
	assert_string_equal(axis_time(-US_PER_SEC, US_PER_SEC, buf), "23:59:59");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_ticks_end),
		cmocka_unit_test(test_time_steps),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
