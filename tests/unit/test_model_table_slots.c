/* Slot i covers the step that ends at its time. */
#include "unit.h"

#include "model/table_view.h"

static void expect(
	const struct lp_table *t, int64_t first_us, int64_t last_us, uint32_t from, uint32_t end)
{
	uint32_t got_from = 99, got_end = 99;

	table_slots(t, first_us, last_us, &got_from, &got_end);
	assert_int_equal(got_from, from);
	assert_int_equal(got_end, end);
}

/* Ten slots, which end at 1000, 1010, .. 1090. */
static const struct lp_table table = {.start_us = 1000, .step_us = 10, .n_slots = 10};

static void test_whole_steps(void **state)
{
	(void)state;
	expect(&table, 990, 1090, 0, 10);
	expect(&table, 1000, 1090, 1, 10); /* the first one is over at 1000 */
	expect(&table, 1030, 1050, 4, 6);
	expect(&table, 1030, 1040, 4, 5);
	expect(&table, 1030, 1030, 0, 0);
	expect(&table, 1050, 1030, 0, 0);
}

static void test_parts_of_steps(void **state)
{
	(void)state;
	expect(&table, 1031, 1059, 4, 6);
	expect(&table, 1031, 1039, 0, 0); /* none ends in it */
}

static void test_outside(void **state)
{
	(void)state;
	expect(&table, 0, 999, 0, 0);
	expect(&table, 0, 1000, 0, 1);
	expect(&table, 1080, 5000, 9, 10);
	expect(&table, 1090, 5000, 0, 0);
	expect(&table, INT64_MIN, INT64_MAX, 0, 10);
}

static void test_far_away(void **state)
{
	struct lp_table early = {.start_us = INT64_MIN + 5, .step_us = 10, .n_slots = 10};
	struct lp_table none = {.start_us = 1000, .step_us = 0, .n_slots = 0};

	(void)state;
	expect(&early, INT64_MIN, INT64_MAX, 0, 10);
	expect(&early, INT64_MAX - 1, INT64_MAX, 0, 0);
	expect(&none, 0, 5000, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_steps),
		cmocka_unit_test(test_parts_of_steps),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_far_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
