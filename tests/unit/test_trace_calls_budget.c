#include "unit.h"

#include "base/array.h"
#include "trace/calls/calls_budget.h"
#include <errno.h>
#include <string.h>

static bool is_off(const struct calls_cost *costs, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(costs[i].name, name))
			return costs[i].off;
	}
	return false;
}

static void test_dearest_first(void **state)
{
	struct calls_cost costs[] = {{.name = "seldom", .calls = 10},
		{.name = "lock", .calls = 1000}, {.name = "read", .calls = 500, .keep = true},
		{.name = "alloc", .calls = 400}, {.name = "never", .calls = 0}};
	const size_t n = ARRAY_SIZE(costs);

	(void)state;
	assert_true(calls_budget_choose(costs, n, 2000) == 1910);
	for (size_t i = 0; i < n; i++)
		assert_false(costs[i].off);
	assert_true(calls_budget_choose(costs, n, 1000) == 910);
	assert_true(is_off(costs, n, "lock"));
	assert_false(is_off(costs, n, "alloc"));
	for (size_t i = 0; i < n; i++)
		costs[i].off = false;
	/* What is to be kept is kept, also where it alone is too much. */
	assert_true(calls_budget_choose(costs, n, 0) == 500);
	assert_true(is_off(costs, n, "lock") && is_off(costs, n, "alloc"));
	assert_true(is_off(costs, n, "seldom"));
	assert_false(is_off(costs, n, "read"));
	assert_false(is_off(costs, n, "never"));
	assert_true(calls_budget_choose(NULL, 0, 0) == 0);
}

static void test_parse(void **state)
{
	static const char *const bad[] = {
		"", "%", "2", "0%", "-1%", "101%", "2 %", "x%", "2%%", "nan%"};
	double share = 0;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(calls_budget_parse("2%", &share, &err), 0);
	assert_true(share == 0.02);
	assert_int_equal(calls_budget_parse("100%", &share, &err), 0);
	assert_true(share == 1);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(calls_budget_parse(bad[i], &share, &err), -EINVAL);
	assert_true(share == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dearest_first), cmocka_unit_test(test_parse)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
