#include "unit.h"

#include "import/remote/answer.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static void check_bad(const char *text, const char *expected)
{
	struct lp_err err = {0};

	assert_int_equal(answer_parse(text, strlen(text), NULL, NULL, &err), -EBADMSG);
	assert_string_equal(err.text, expected);
}

#define OK(data) "{\"status\":\"success\",\"data\":" data "}"

static void test_bad(void **state)
{
	(void)state;
	check_bad("<html>\n",
		"the answer is not Prometheus' (byte 1: '[' or '{' expected near '<'): "
		"'<html> '");
	check_bad("{\"status\":\"succ",
		"the answer breaks off after 15 bytes: premature end of "
		"input near '\"succ'");
	check_bad("{\"status\":\"error\",\"error\":\"no\"}",
		"the answer is not Prometheus' (no status 'success' and data): no");
	check_bad(OK("[]"),
		"the answer is not Prometheus' (no matrix): "
		"'{\"status\":\"success\",\"data\":[]}'");
	check_bad(OK("{\"resultType\":\"matrix\",\"result\":[1]}"),
		"the answer is not Prometheus' (a series without metric or values): "
		"'{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":['");
}

static int count(void *ctx, const struct answer_series *s, struct lp_err *err)
{
	int64_t ms;
	double value;

	(void)err;
	++*(int *)ctx;
	assert_string_equal(answer_label(s, "__name__"), "m");
	assert_null(answer_label(s, "nothing"));
	assert_int_equal(answer_sample(s, 0, &ms, &value), 1);
	assert_int_equal(ms, 1794898063516);
	assert_true(value == 12.5);
	assert_int_equal(answer_sample(s, 1, &ms, &value), 1);
	assert_true(isnan(value));
	assert_int_equal(answer_sample(s, 2, &ms, &value), 1);
	assert_true(isinf(value));
	for (size_t i = 3; i < 8; i++)
		assert_int_equal(answer_sample(s, i, &ms, &value), -EBADMSG);
	assert_int_equal(answer_sample(s, 8, &ms, &value), 0);
	return 0;
}

static void test_series(void **state)
{
	static const char text[] =
		OK("{\"resultType\":\"matrix\",\"result\":[{\"metric\":{\"__name__\":\"m\"},"
		   "\"values\":[[1794898063.516,\"12.5\"],[2,\"NaN\"],[3,\"+Inf\"],[4,\"x\"],"
		   "[5,\"1x\"],[6,7],[\"8\",\"9\"],[1e300,\"1\"]]}]}");
	struct lp_err err = {0};
	int n = 0;

	(void)state;
	assert_int_equal(answer_parse(text, strlen(text), count, &n, &err), 0);
	assert_int_equal(n, 1);
}

static int word(void *ctx, const char *text, struct lp_err *err)
{
	(void)err;
	strncat(ctx, text, 1);
	return 0;
}

static void test_words(void **state)
{
	static const char text[] = OK("[\"a\",\"b\"]"), bad[] = OK("[\"a\",1]");
	struct lp_err err = {0};
	char all[8] = "";

	(void)state;
	assert_int_equal(answer_parse_words(text, strlen(text), word, all, &err), 0);
	assert_string_equal(all, "ab");
	assert_int_equal(answer_parse_words(bad, strlen(bad), word, all, &err), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
