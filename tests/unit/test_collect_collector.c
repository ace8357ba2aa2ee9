#include "collect/collector.h"
#include "unit.h"
#include <string.h>

static void test_no_globs_want_everything(void **state)
{
	(void)state;
	assert_int_equal(collect_choose(NULL, 0, "sda"), COLLECT_UNNAMED);
	assert_true(collect_wanted(NULL, 0, "sda"));
}

static void test_last_match_decides(void **state)
{
	const char *globs[] = {"sd*", "!sdb", "sdb?"};

	(void)state;
	assert_int_equal(collect_choose(globs, 3, "sda"), COLLECT_NAMED);
	assert_int_equal(collect_choose(globs, 3, "sdb"), COLLECT_EXCLUDED);
	assert_int_equal(collect_choose(globs, 3, "sdb1"), COLLECT_NAMED);
	assert_int_equal(collect_choose(globs, 3, "nvme0n1"), COLLECT_EXCLUDED);
}

static void test_exclusion_first_keeps_the_others(void **state)
{
	const char *globs[] = {"!sd*", "sdz"};

	(void)state;
	assert_int_equal(collect_choose(globs, 2, "nvme0n1"), COLLECT_UNNAMED);
	assert_true(collect_wanted(globs, 2, "nvme0n1"));
	assert_int_equal(collect_choose(globs, 2, "sda"), COLLECT_EXCLUDED);
	assert_int_equal(collect_choose(globs, 2, "sdz"), COLLECT_EXACT);
}

static void test_descriptors_are_complete(void **state)
{
	(void)state;
	for (const struct collector *const *c = collectors; *c; c++) {
		assert_ptr_equal(collector_find((*c)->name), *c);
		assert_true(strlen((*c)->summary) > 0 && strlen((*c)->description) > 0);
		for (uint32_t i = 0; i < (*c)->schema->n_columns; i++) {
			const struct lp_column *col = &(*c)->schema->columns[i];

			assert_non_null(col->name);
			assert_non_null(col->unit);
			if (col->type == LP_COUNTER)
				assert_true(col->bits == 32 || col->bits == 64);
			else
				assert_int_equal(col->bits, 0);
		}
		(*c)->close(NULL);
	}
	assert_null(collector_find("nonsense"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_globs_want_everything),
		cmocka_unit_test(test_last_match_decides),
		cmocka_unit_test(test_exclusion_first_keeps_the_others),
		cmocka_unit_test(test_descriptors_are_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
