#include "unit.h"

#include "base/array.h"
#include "temp_dir.h"
#include "trace/calls/function_list.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_text(const char *text, size_t size, struct calls_list *ret, struct lp_err *err)
{
	char path[TEMP_PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%s/list", temp_dir_path);
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
	return function_list_read(path, ret, err);
}

static void test_last_one_counts(void **state)
{
	static const char text[] = "# a comment\n\noff *\non p:i:good*\r\noff p:i:good_but\n"
				   "on p:i:operator[](int)";
	struct calls_list list = {0};
	struct lp_err err = {0};
	bool on = true;

	(void)state;
	assert_int_equal(read_text(text, strlen(text), &list, &err), 0);
	assert_int_equal(list.n, 4);
	assert_true(calls_list_says(&list, "p:i:other", &on) && !on);
	assert_true(calls_list_says(&list, "p:i:goods", &on) && on);
	assert_true(calls_list_says(&list, "p:i:good_but", &on) && !on);
	assert_true(calls_list_says(&list, "p:i:operator[](int)", &on) && on);
	calls_list_release(&list);
	assert_false(calls_list_says(&list, "p:i:goods", &on));
}

static void test_silent(void **state)
{
	struct calls_list list = {0};
	struct lp_err err = {0};
	bool on = true;

	(void)state;
	assert_int_equal(read_text("off p:i:f\n", 10, &list, &err), 0);
	assert_false(calls_list_says(&list, "p:i:ff", &on));
	assert_false(calls_list_says(&list, "p:i:", &on));
	assert_true(on);
	calls_list_release(&list);
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"yes p:i:f\n", "off\n", "off \n", "off a b\n", "offp:i:f\n", "# nothing\n", ""};
	struct calls_list list = {0};
	struct lp_err err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(read_text(bad[i], strlen(bad[i]), &list, &err), -EBADMSG);
	assert_int_equal(read_text("off a\0b\n", 8, &list, &err), -EBADMSG);
	assert_int_equal(function_list_read("/nowhere/list", &list, &err), -ENOENT);
}

static void test_parts(void **state)
{
	(void)state;
	assert_string_equal(function_of_name("p:i:ns::f(int)"), "ns::f(int)");
	assert_string_equal(function_of_name("f"), "f");
	assert_string_equal(function_of_name("i:f"), "i:f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_last_one_counts),
		cmocka_unit_test(test_silent), cmocka_unit_test(test_bad),
		cmocka_unit_test(test_parts)};

	return cmocka_run_group_tests(tests, temp_dir_setup, temp_dir_teardown);
}
