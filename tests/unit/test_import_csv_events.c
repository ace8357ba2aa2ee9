#include "unit.h"

#include "base/time.h"
#include "import/csv_events.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static void add(
	struct csv_rows *rows, int64_t second, uint32_t component, uint16_t column, double value)
{
	*csv_rows_add(rows, second * US_PER_SEC, component, column) = value;
}

static void events(struct csv_rows *rows)
{
	csv_rows_init(rows, 1);
	add(rows, 42, 1, 0, 5); /* in any order */
	add(rows, 12, 0, 0, 3);
	add(rows, 18, 0, 0, 7);
	add(rows, 20, 0, 0, NAN);
	add(rows, 31, 0, 1, 9);
}

/* The value of a component and column at a time. */
static double at(const struct csv_rows *rows, int64_t second, uint32_t component, uint16_t column)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->wall_us[i] == second * US_PER_SEC && rows->component[i] == component &&
			rows->column[i] == column)
			return rows->values[i];
	}
	fail_msg("no sample at %lld", (long long)second);
	return NAN;
}

static void test_held(void **state)
{
	struct csv_rows rows;
	struct lp_err err = {0};

	(void)state;
	events(&rows);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_HELD, 10 * US_PER_SEC, 0, &err), 0);
	assert_int_equal(rows.n, 4 * 3);
	assert_float_equal(at(&rows, 20, 0, 0), 7, 0);
	assert_float_equal(at(&rows, 50, 0, 0), 7, 0); /* missing changes nothing */
	assert_true(isnan(at(&rows, 30, 0, 1)));
	assert_float_equal(at(&rows, 40, 0, 1), 9, 0);
	assert_true(isnan(at(&rows, 40, 1, 0)));
	assert_float_equal(at(&rows, 50, 1, 0), 5, 0);
	csv_rows_release(&rows);
}

static void test_rated(void **state)
{
	struct csv_rows rows;
	struct lp_err err = {0};

	(void)state;
	events(&rows);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_RATED, 10 * US_PER_SEC, 0, &err), 0);
	assert_float_equal(at(&rows, 20, 0, 0), 1.0, 1e-12);
	assert_float_equal(at(&rows, 30, 0, 0), 0, 0);
	assert_float_equal(at(&rows, 20, 1, 0), 0, 0); /* nothing happened */
	assert_float_equal(at(&rows, 50, 1, 0), 0.5, 1e-12);
	csv_rows_release(&rows);
}

/* What comes of a file is in proportion to its events. */
static void test_proportion(void **state)
{
	const int64_t far = 2 << 20; /* seconds: fine for many events, not for two */
	struct csv_rows rows;
	struct lp_err err = {0};

	(void)state;
	csv_rows_init(&rows, 1);
	add(&rows, 1, 0, 0, 1);
	add(&rows, far, 0, 0, 1);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_HELD, US_PER_SEC, 0, &err), -E2BIG);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_HELD, US_PER_SEC, 10, &err), -E2BIG);
	assert_non_null(strstr(err.text, "more than 10 values"));
	for (int64_t i = 2; i < 1 << 15; i++)
		add(&rows, i, 0, 0, 1);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_HELD, US_PER_SEC, 0, &err), 0);
	assert_int_equal(rows.n, far);
	csv_rows_release(&rows);
}

static void test_limits(void **state)
{
	enum csv_events how = CSV_EVENTS_NONE;
	struct csv_rows rows;
	struct lp_err err = {0};

	(void)state;
	csv_rows_init(&rows, 1);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_HELD, US_PER_SEC, 0, &err), 0);
	add(&rows, 0, 0, 0, 1);
	add(&rows, INT64_C(1) << 32, 0, 0, 1);
	assert_int_equal(csv_events_sample(&rows, CSV_EVENTS_HELD, US_PER_SEC, 0, &err), -E2BIG);
	assert_int_equal(rows.n, 2);
	csv_rows_release(&rows);
	assert_int_equal(csv_events_parse(NULL, &how, &err), 0);
	assert_int_equal(how, CSV_EVENTS_NONE);
	assert_int_equal(csv_events_parse("held", &how, &err), 0);
	assert_int_equal(how, CSV_EVENTS_HELD);
	assert_int_equal(csv_events_parse("rated", &how, &err), 0);
	assert_int_equal(how, CSV_EVENTS_RATED);
	assert_int_equal(csv_events_parse("counted", &how, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held),
		cmocka_unit_test(test_rated),
		cmocka_unit_test(test_proportion),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
