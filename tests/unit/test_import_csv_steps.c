#include "base/array.h"
#include "import/csv_steps.h"
#include "unit.h"

#define SEC INT64_C(1000000)

/* Samples of a component, `step` seconds apart, for 200 s; `skip` of 10 are left out. */
static void add(struct csv_rows *rows, uint32_t component, int64_t step, int skip)
{
	for (int64_t s = 0; s < 200; s += step) {
		if (s / step % 10 >= skip)
			csv_rows_add(rows, s * SEC, component, 0);
	}
}

/* The same for 600 s with samples that are late, each by another time, and no two alike. */
static void add_late(struct csv_rows *rows, uint32_t component, int64_t step)
{
	int64_t at = 0;

	for (int64_t i = 0; at < 600 * SEC; i++) {
		csv_rows_add(rows, at, component, 0);
		at += step * SEC + i * 7919 % 997 * step * 100 + i;
	}
}

static int64_t interval(struct csv_rows *rows, const uint32_t *kinds, size_t n)
{
	int64_t us;

	assert_int_equal(csv_rows_sort(rows), 0);
	us = csv_steps_interval_us(rows, kinds, n, 2, SEC);
	csv_rows_release(rows);
	return us;
}

static void test_one_step(void **state)
{
	static const uint32_t kinds[] = {0, 0, 1};
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 1);
	for (uint32_t i = 0; i < 3; i++)
		add(&rows, i, 1, 0);
	assert_int_equal(interval(&rows, kinds, 3), SEC);
}

static void test_coarser_peer(void **state)
{
	static const uint32_t kinds[] = {0, 0, 0};
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 1);
	add(&rows, 0, 1, 0);
	add(&rows, 1, 1, 0);
	add(&rows, 2, 4, 0);
	assert_int_equal(interval(&rows, kinds, 3), 4 * SEC);
}

/* A kind that is sampled less often has no finer peers to be compared with. */
static void test_coarser_kind(void **state)
{
	static const uint32_t kinds[] = {0, 0, 1, 1};
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 1);
	add(&rows, 0, 1, 0);
	add(&rows, 1, 1, 0);
	add(&rows, 2, 10, 0);
	add(&rows, 3, 10, 0);
	assert_int_equal(interval(&rows, kinds, 4), SEC);
}

/* Gaps are not a step: neither a server that is away for most of the time, nor two samples, nor
 * samples at no particular time. */
static void test_gaps(void **state)
{
	static const uint32_t kinds[] = {0, 0, 0, 0};
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 1);
	add(&rows, 0, 1, 0);
	add(&rows, 1, 1, 7);
	csv_rows_add(&rows, 0, 2, 0);
	csv_rows_add(&rows, 50 * SEC, 2, 0);
	for (int64_t i = 0; i < 14; i++)
		csv_rows_add(&rows, i * i * SEC, 3, 0);
	assert_int_equal(interval(&rows, kinds, 4), SEC);
}

/* One component that is sampled every two minutes must not slow down all others. */
static void test_too_long(void **state)
{
	static const uint32_t kinds[] = {0, 0};
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 1);
	add(&rows, 0, 1, 0);
	for (int64_t i = 0; i < 20; i++)
		csv_rows_add(&rows, i * 2 * CSV_STEP_MAX_US, 1, 0);
	assert_int_equal(interval(&rows, kinds, 2), SEC);
}

/* The intervals of a component differ from each other, as those of a program that sleeps do. */
static void test_late_samples(void **state)
{
	static const uint32_t kinds[] = {0, 0, 0};
	struct csv_rows rows;

	(void)state;
	csv_rows_init(&rows, 1);
	add_late(&rows, 0, 1);
	add_late(&rows, 1, 1);
	add_late(&rows, 2, 5);
	assert_int_equal(csv_rows_sort(&rows), 0);
	assert_int_equal(csv_steps_about_us(&rows, 3), SEC);
	assert_int_equal(interval(&rows, kinds, 3), 5 * SEC);
}

/* None is usual, but the most are of about one length; digits that are not noise remain. */
static void test_about(void **state)
{
	static const int64_t spans[] = {1400, 1390, 1410, 30000, 1380, 1405, 2, 60000, 1420};
	struct csv_rows rows;
	int64_t at = 0;

	(void)state;
	csv_rows_init(&rows, 1);
	assert_int_equal(csv_steps_about_us(&rows, 1), 0);
	csv_rows_add(&rows, at, 0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(spans); i++)
		csv_rows_add(&rows, at += spans[i] * 1000, 0, 0);
	assert_int_equal(csv_rows_sort(&rows), 0);
	assert_int_equal(csv_steps_about_us(&rows, 1), 1405 * 1000);
	csv_rows_release(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_step),
		cmocka_unit_test(test_coarser_peer),
		cmocka_unit_test(test_coarser_kind),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_late_samples),
		cmocka_unit_test(test_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
