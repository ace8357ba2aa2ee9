#include "report/json.h"
#include <errno.h>

#include "base/cleanup.h"
#include "printed.h"
#include <string.h>

static void assert_written(const char *text, const char *json)
{
	struct printed p;
	_cleanup_free_ char *got = NULL;

	json_write_string(printed_begin(&p), text);
	got = printed_end(&p);
	assert_string_equal(got, json);
}

static void test_escapes(void **state)
{
	(void)state;
	assert_written("", "\"\"");
	assert_written("oss3/disk:sda", "\"oss3/disk:sda\"");
	assert_written("a \"b\" \\c", "\"a \\\"b\\\" \\\\c\"");
	assert_written("line\nnext\ttab", "\"line\\nnext\\ttab\"");
	assert_written("\x01", "\"\\u0001\"");
	assert_written("Gr\xc3\xb6\xc3\x9f"
		       "e",
		"\"Gr\xc3\xb6\xc3\x9f"
		"e\"");
}

/* Characters that control a terminal are written as numbers, and read back the same. */
static void test_terminal(void **state)
{
	(void)state;
	assert_written("\xc2\x9b\xe2\x80\xaex\xe2\x80\xac", "\"\\u009B\\u202Ex\\u202C\"");
}

static void test_no_utf8(void **state)
{
	json_t *text = json_text("ok");

	(void)state;
	assert_string_equal(json_string_value(text), "ok");
	json_decref(text);
	assert_written("a\xff"
		       "b\x80",
		"\"a?b?\"");
	assert_written("\xc3", "\"?\"");
}

/* All output parses back to the original. */
static void test_all_bytes(void **state)
{
	char text[2] = "";

	(void)state;
	for (int byte = 1; byte < 0x80; byte++) {
		struct printed p;
		_cleanup_free_ char *got = NULL;
		json_t *back;

		text[0] = (char)byte;
		json_write_string(printed_begin(&p), text);
		got = printed_end(&p);
		back = json_loads(got, JSON_DECODE_ANY, NULL);
		assert_non_null(back);
		assert_string_equal(json_string_value(back), text);
		json_decref(back);
	}
}

/* Objects are printed with an end of line, and given back; what could not be made is no output. */
static void test_print(void **state)
{
	struct printed p;
	_cleanup_free_ char *got = NULL;

	(void)state;
	assert_int_equal(json_print(printed_begin(&p), json_pack("{s:f}", "a\x7f", 0.1)), 0);
	got = printed_end(&p);
	assert_string_equal(got, "{\n  \"a\x7f\": 0.1\n}\n");
	assert_int_equal(json_print(stdout, NULL), -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_no_utf8),
		cmocka_unit_test(test_all_bytes),
		cmocka_unit_test(test_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
