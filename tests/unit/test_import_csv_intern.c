#include "import/csv_intern.h"
#include "unit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static void test_numbers_in_order(void **state)
{
	struct csv_intern t = {0};

	(void)state;
	for (int round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 5000; i++) {
			uint32_t number, which = round == 2 ? 4999 - i : i;
			char text[16];
			int len = sprintf(text, "disk%u", which);

			assert_int_equal(
				csv_intern_get(&t, text, (size_t)len, &number), round == 0);
			assert_int_equal(number, which);
			assert_string_equal(csv_intern_text(&t, number), text);
		}
	}
	csv_intern_release(&t);
}

static void test_empty_and_embedded_nul(void **state)
{
	struct csv_intern t = {0};
	uint32_t number;

	(void)state;
	assert_int_equal(csv_intern_get(&t, NULL, 0, &number), 1);
	assert_int_equal(csv_intern_get(&t, "a\0b", 3, &number), 1);
	assert_int_equal(csv_intern_get(&t, "a\0c", 3, &number), 1);
	assert_int_equal(csv_intern_get(&t, "a\0b", 3, &number), 0);
	assert_int_equal(number, 1);
	assert_int_equal(csv_intern_get(&t, "", 0, &number), 0);
	assert_int_equal(number, 0);
	csv_intern_release(&t);
}

static void test_limit(void **state)
{
	struct csv_intern t = {.max = 2};
	uint32_t number;

	(void)state;
	assert_int_equal(csv_intern_get(&t, "a", 1, &number), 1);
	assert_int_equal(csv_intern_get(&t, "b", 1, &number), 1);
	assert_int_equal(csv_intern_get(&t, "c", 1, &number), -E2BIG);
	assert_int_equal(csv_intern_get(&t, "a", 1, &number), 0); /* known ones go on */
	assert_int_equal(number, 0);
	csv_intern_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_in_order),
		cmocka_unit_test(test_empty_and_embedded_nul),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
