#include "trace/names.h"

#include "unit.h"
#include <stdio.h>
#include <string.h>

static void test_names(void **state)
{
	struct trace_event e = {
		.what = TRACE_EXEC, .pid = 8, .text = "/usr/bin/a-rather-long-name"};
	struct names n = {0};

	(void)state;
	assert_null(names_get(&n, 7));
	names_drop(&n, 7);
	assert_int_equal(names_set(&n, 7, "sh", 2), 0);
	assert_string_equal(names_get(&n, 7), "sh");
	/* A child has its parent's name until it executes something. */
	assert_int_equal(names_set(&n, 8, names_get(&n, 7), 2), 0);
	assert_string_equal(names_get(&n, 8), "sh");
	assert_int_equal(names_exec(&n, &e), 0); /* nothing is known of it */
	assert_string_equal(names_get(&n, 8), "sh");
	e.text_len = (uint32_t)strlen(e.text);
	assert_int_equal(names_exec(&n, &e), 0);
	assert_string_equal(names_get(&n, 8), "a-rather-long-n");
	e.text = "cat";
	e.text_len = 3;
	assert_int_equal(names_exec(&n, &e), 0);
	assert_string_equal(names_get(&n, 8), "cat");
	assert_string_equal(names_get(&n, 7), "sh");
	names_drop(&n, 7);
	assert_null(names_get(&n, 7));
	names_release(&n);
}

/* Processes come and go; the memory does not grow forever. */
static void test_many(void **state)
{
	struct names n = {0};
	char text[32];

	(void)state;
	for (int pid = 1; pid <= 20000; pid++) {
		int len = snprintf(text, sizeof(text), "p%d", pid);

		assert_int_equal(names_set(&n, pid, text, (size_t)len), 0);
		if (pid > 10)
			names_drop(&n, pid - 10);
	}
	assert_true(n.n < 20);
	assert_string_equal(names_get(&n, 20000), "p20000");
	assert_string_equal(names_get(&n, 19991), "p19991");
	assert_null(names_get(&n, 19990));
	names_release(&n);
}

/* A child has the name of its parent, which may move as names become more. */
static void test_inherited(void **state)
{
	struct names n = {0};

	(void)state;
	assert_int_equal(names_set(&n, 1, "parent", 6), 0);
	for (int pid = 2; pid <= 5000; pid++) {
		const char *parent = names_get(&n, pid - 1);

		assert_int_equal(names_set(&n, pid, parent, strlen(parent)), 0);
		assert_string_equal(names_get(&n, pid), "parent");
	}
	names_release(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
