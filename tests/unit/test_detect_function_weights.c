#include "base/cleanup.h"
#include "detect/compare/function_weights.h"
#include "unit.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_get(void **state)
{
	struct function_weights w = {0};

	(void)state;
	assert_true(function_weights_get(NULL, "samples", "a") == 1);
	assert_true(function_weights_get(&w, "samples", "a") == 1);
	assert_int_equal(function_weights_add(&w, "samples", "p:i:read", 3), 0);
	assert_int_equal(function_weights_add(&w, "samples", "p:*", 0.5), 0);
	assert_int_equal(function_weights_add(&w, "samples", "p:i:*", 0.25), 0);
	assert_int_equal(function_weights_add(&w, "ftime", "p:i:read", 7), 0);
	assert_int_equal(function_weights_add(&w, "samples", "p:i:read", 1), -EEXIST);
	assert_int_equal(function_weights_sort(&w), 0);
	assert_true(function_weights_get(&w, "samples", "p:i:read") == 3);
	assert_true(function_weights_get(&w, "ftime", "p:i:read") == 7);
	assert_true(function_weights_get(&w, "samples", "p:i:write") == 0.25);
	assert_true(function_weights_get(&w, "samples", "p:j:write") == 0.5);
	assert_true(function_weights_get(&w, "samples", "q:j:write") == 1);
	assert_true(function_weights_get(&w, "fcalls", "p:i:read") == 1);
	assert_string_equal(w.items[0].metric, "ftime");
	function_weights_release(&w);
}

static void test_refused(void **state)
{
	static const double values[] = {-1, NAN, INFINITY, 2 * FUNCTION_WEIGHT_MAX};
	struct function_weights w = {0};
	char longest[FUNCTION_NAME_MAX + 2];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		assert_int_equal(function_weights_add(&w, "samples", "a", values[i]), -EINVAL);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(function_weights_add(&w, "samples", longest, 1), -EINVAL);
	assert_int_equal(function_weights_add(&w, "", "a", 1), -EINVAL);
	assert_true(function_weights_get(&w, "samples", longest) == 1);
	assert_int_equal(w.n, 0);
	function_weights_release(&w);
}

static void test_of_dimensions(void **state)
{
	struct function_weights w = {0};
	struct dimensions d = {0};
	double *got = NULL;
	uint32_t number;

	(void)state;
	assert_int_equal(dimensions_intern(&d, "a", &number), 0);
	assert_int_equal(dimensions_intern(&d, "b", &number), 0);
	assert_int_equal(function_weights_of(&w, "samples", &d, &got), 0);
	assert_null(got);
	assert_int_equal(function_weights_add(&w, "samples", "b", 4), 0);
	assert_int_equal(function_weights_of(&w, "ftime", &d, &got), 0);
	assert_null(got);
	assert_int_equal(function_weights_of(&w, "samples", &d, &got), 0);
	assert_true(got[0] == 1 && got[1] == 4);
	free(got);
	dimensions_release(&d);
	function_weights_release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_get),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_of_dimensions)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
