#include "model/traced_call.h"
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct lp_traced_call made(int64_t at_us, const char *file)
{
	return (struct lp_traced_call){.at_us = at_us,
		.observer = (char *)"s3",
		.process = (char *)"glusterfsd",
		.pid = 812,
		.call = (char *)"pwrite64",
		.file = (char *)file,
		.result = (char *)"ENOSPC",
		.duration_s = (double)NAN};
}

static void test_list(void **state)
{
	struct lp_traced_call *list = NULL, *copy = NULL, call = made(5, "/data/x");
	uint32_t n = 0, n_copy = 0;

	(void)state;
	assert_int_equal(traced_calls_add(&list, &n, &call), 0);
	assert_int_equal(traced_calls_add(&list, &n, &call), 0);
	assert_int_equal(n, 1);
	assert_ptr_not_equal(list[0].file, call.file);
	assert_string_equal(list[0].file, "/data/x");
	call = made(6, NULL);
	assert_int_equal(traced_calls_add(&list, &n, &call), 0);
	assert_int_equal(n, 2);
	assert_null(list[1].file);
	assert_int_equal(traced_calls_add_all(&copy, &n_copy, list, n), 0);
	traced_calls_free(list, n);
	assert_int_equal(n_copy, 2);
	assert_string_equal(copy[0].call, "pwrite64");
	assert_int_equal(copy[1].at_us, 6);
	traced_calls_free(copy, n_copy);
}

static void test_full(void **state)
{
	struct lp_traced_call *list = NULL;
	uint32_t n = 0;

	(void)state;
	for (int64_t i = 0; i < 3 * TRACED_CALLS_MAX; i++) {
		struct lp_traced_call call = made(i, "x");

		assert_int_equal(traced_calls_add(&list, &n, &call), 0);
	}
	assert_int_equal(n, TRACED_CALLS_MAX);
	assert_int_equal(list[0].at_us, 0);
	traced_calls_free(list, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list), cmocka_unit_test(test_full)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
