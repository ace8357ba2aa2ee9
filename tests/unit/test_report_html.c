#include "report/html.h"

#include "printed.h"
#include <string.h>

static void assert_written(const char *text, const char *expected)
{
	struct printed p;
	char *printed;

	html_write(printed_begin(&p), text);
	printed = printed_end(&p);
	assert_string_equal(printed, expected);
	free(printed);
}

#define NONE "\xef\xbf\xbd"

static void test_markup(void **state)
{
	(void)state;
	assert_written("fs1/disk:sda", "fs1/disk:sda");
	assert_written("<img src=x onerror='a(\"&\")'>",
		"&lt;img src=x onerror=&#39;a(&quot;&amp;&quot;)&#39;&gt;");
	assert_written("", "");
}

static void test_characters(void **state)
{
	(void)state;
	assert_written("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9a",
		"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x9a");
	assert_written("a\tb\nc\x7f\xc2\x85", "a" NONE "b" NONE "c" NONE NONE);
	assert_written("\xe2\x80\xaex\xe2\x80\xac", NONE "x" NONE); /* direction */
}

/* Overlong forms, surrogates, too large, cut off, stray bytes. */
static void test_no_utf8(void **state)
{
	(void)state;
	assert_written("\xc0\xbc", NONE NONE);
	assert_written("\xe0\x80\xbc", NONE NONE NONE);
	assert_written("\xed\xa0\x80", NONE NONE NONE);
	assert_written("\xf4\x90\x80\x80", NONE NONE NONE NONE);
	assert_written("\xf0\x8f\x80\x80", NONE NONE NONE NONE);
	assert_written("\xe2\x82", NONE NONE);
	assert_written("\xff<\xc3", NONE "&lt;" NONE);
}

static void test_name(void **state)
{
	struct printed p;
	char *printed;

	(void)state;
	html_write_name(printed_begin(&p), "a<b");
	printed = printed_end(&p);
	assert_string_equal(printed, "<bdi class=\"name\">a&lt;b</bdi>");
	free(printed);
}

static void test_sentence(void **state)
{
	struct printed p;
	char *printed;

	(void)state;
	html_write_sentence(
		printed_begin(&p), "a<b at 2026-11-15T12:34:21.5Z, x2026-11-15T12:34:21Z");
	printed = printed_end(&p);
	assert_string_equal(
		printed, "a&lt;b at <time>2026-11-15T12:34:21.5Z</time>, x2026-11-15T12:34:21Z");
	free(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_markup),
		cmocka_unit_test(test_characters),
		cmocka_unit_test(test_no_utf8),
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
