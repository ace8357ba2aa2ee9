#include <limpet/err.h>

#include "unit.h"
#include <errno.h>
#include <string.h>

static void test_set(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_err_set(&err, -EINVAL, "line %d: '%s'", 3, "x"), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	assert_string_equal(err.text, "line 3: 'x'");
	assert_int_equal(lp_err_set(&err, -ENOENT, "again"), -ENOENT);
	assert_string_equal(err.text, "again");
}

static void test_sys_says_why(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_err_sys(&err, -ENOENT, "cannot open %s", "/a"), -ENOENT);
	assert_int_equal(err.code, -ENOENT);
	assert_string_equal(err.text, "cannot open /a: No such file or directory");
}

static void test_prefix(void **state)
{
	struct lp_err err = {0};

	(void)state;
	lp_err_set(&err, -EBADMSG, "byte 7: no number");
	assert_int_equal(lp_err_prefix(&err, "line %d", 2), -EBADMSG);
	assert_int_equal(lp_err_prefix(&err, "%s", "a.csv"), -EBADMSG);
	assert_string_equal(err.text, "a.csv: line 2: byte 7: no number");
	assert_int_equal(err.code, -EBADMSG);
}

static void test_prefix_of_nothing(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_err_prefix(&err, "x"), -EIO);
	assert_string_equal(err.text, "");
	assert_int_equal(lp_err_prefix(NULL, "x"), -EIO);
}

static void test_nobody_asked(void **state)
{
	(void)state;
	assert_int_equal(lp_err_set(NULL, -EINVAL, "%s", "x"), -EINVAL);
	assert_int_equal(lp_err_sys(NULL, -ENOENT, "%s", "x"), -ENOENT);
}

static void test_long_texts_are_cut(void **state)
{
	struct lp_err err = {0};
	char name[2000];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	lp_err_sys(&err, -ENOENT, "cannot open %s", name);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "cannot open nnn", 15);
	assert_int_equal(lp_err_prefix(&err, "first"), -ENOENT);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	assert_memory_equal(err.text, "first: cannot open nnn", 22);
	lp_err_prefix(&err, "%s", name);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

struct heard {
	int calls;
	char last[600];
};

static void hear(void *ctx, const char *text)
{
	struct heard *h = ctx;

	h->calls++;
	strncpy(h->last, text, sizeof(h->last) - 1);
}

static void test_warnings_reach_the_listener(void **state)
{
	struct heard heard = {0};
	struct lp_warn warn = {.warn = hear, .ctx = &heard};

	(void)state;
	lp_warn_raise(&warn, "line %d skipped", 4);
	assert_string_equal(heard.last, "line 4 skipped");
	lp_warn_raise(&warn, "line %d skipped", 5);
	assert_int_equal(heard.calls, 2);
	assert_int_equal(warn.count, 2);
}

static void test_warnings_without_listener_are_counted(void **state)
{
	struct lp_warn warn = {0};

	(void)state;
	lp_warn_raise(&warn, "one");
	lp_warn_raise(&warn, "two");
	assert_int_equal(warn.count, 2);
	lp_warn_raise(NULL, "nobody");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_sys_says_why),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_prefix_of_nothing),
		cmocka_unit_test(test_nobody_asked),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_warnings_reach_the_listener),
		cmocka_unit_test(test_warnings_without_listener_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
