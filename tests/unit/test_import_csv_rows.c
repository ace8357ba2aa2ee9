#include "import/csv_rows.h"
#include "unit.h"

static void test_sorted_stays(void **state)
{
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 2);
	for (int i = 0; i < 1000; i++) {
		double *values = csv_rows_add(&rows, i / 3, (uint32_t)(i % 3), 0);

		values[0] = i;
		values[1] = -i;
	}
	assert_true(rows.sorted);
	assert_int_equal(csv_rows_sort(&rows), 0);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(rows.order[i], i);
		assert_true(rows.values[2 * i] == i && rows.values[2 * i + 1] == -(double)i);
	}
	csv_rows_release(&rows);
}

/* Order by time, and among equal times as they came; far-apart and negative times too. */
static void test_sort_is_stable(void **state)
{
	struct csv_rows rows;
	uint64_t x = 1;

	(void)state;
	csv_rows_init(&rows, 1);
	for (int i = 0; i < 20000; i++) {
		x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		*csv_rows_add(&rows, ((int64_t)(x >> 33) % 500 - 250) * INT64_C(100000000000000), 0,
			0) = i;
	}
	assert_false(rows.sorted);
	assert_int_equal(csv_rows_sort(&rows), 0);
	for (size_t i = 1; i < rows.n; i++) {
		uint32_t a = rows.order[i - 1], b = rows.order[i];

		assert_true(rows.wall_us[a] < rows.wall_us[b] ||
			(rows.wall_us[a] == rows.wall_us[b] && a < b));
	}
	csv_rows_clear(&rows);
	csv_rows_add(&rows, 5, 0, 0);
	assert_true(rows.sorted);
	assert_int_equal(csv_rows_sort(&rows), 0);
	assert_int_equal(rows.order[0], 0);
	csv_rows_release(&rows);
}

static void test_hold(void **state)
{
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 2);
	for (uint32_t i = 0; i < 7; i++) {
		double *values = csv_rows_add(&rows, i < 4 ? i : 4, i, (uint16_t)i);

		values[0] = i;
		values[1] = 10 * i;
	}
	csv_rows_hold(&rows);
	assert_int_equal(rows.n, 4);
	csv_rows_clear(&rows);
	assert_int_equal(rows.n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(rows.wall_us[i], 4);
		assert_int_equal(rows.component[i], 4 + i);
		assert_int_equal(rows.column[i], 4 + i);
		assert_true(rows.values[2 * i] == 4 + i && rows.values[2 * i + 1] == 40 + 10 * i);
	}
	csv_rows_hold(&rows); /* all rows are of one time: they must go out now */
	assert_int_equal(rows.n, 3);
	csv_rows_clear(&rows);
	assert_int_equal(rows.n, 0);
	csv_rows_hold(&rows);
	csv_rows_release(&rows);
}

static void test_interval(void **state)
{
	struct csv_rows rows;
	bool usual;

	(void)state;
	csv_rows_init(&rows, 1);
	assert_int_equal(csv_rows_interval_us(&rows, 0, &usual), 0);
	assert_true(usual);
	for (uint32_t component = 0; component < 3; component++) {
		for (int i = 0; i < 10; i++) {
			/* each sample twice, one gap, components offset against each other */
			csv_rows_add(&rows, i * 15 + (i > 5) * 30 + component, component, 0);
			csv_rows_add(&rows, i * 15 + (i > 5) * 30 + component, component, 1);
		}
	}
	assert_int_equal(csv_rows_sort(&rows), 0);
	assert_int_equal(csv_rows_interval_us(&rows, 3, &usual), 15);
	assert_true(usual);
	csv_rows_clear(&rows);
	for (int i = 0; i < 10; i++)
		csv_rows_add(&rows, i * i, 0, 0);
	assert_int_equal(csv_rows_sort(&rows), 0);
	csv_rows_interval_us(&rows, 1, &usual);
	assert_false(usual);
	csv_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted_stays),
		cmocka_unit_test(test_sort_is_stable),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
