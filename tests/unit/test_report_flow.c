#include "report/flow.h"

#include "printed.h"

static void assert_flows(size_t width, size_t indent, const char *text, const char *expected)
{
	struct printed p;
	struct flow f = {.out = printed_begin(&p), .width = width, .indent = indent};
	char *printed;

	flow_add(&f, text);
	flow_end(&f);
	printed = printed_end(&p);
	assert_string_equal(printed, expected);
	free(printed);
}

static void test_lines(void **state)
{
	(void)state;
	assert_flows(10, 0, "one two three", "one two\nthree\n");
	assert_flows(10, 0, "one two th", "one two th\n");
	assert_flows(10, 2, "  one   two three ", "  one two\n  three\n");
	assert_flows(10, 0, "", "");
	assert_flows(10, 4, "   ", "");
}

/* A number stays with its unit, a date with the time, and a time with its zone. */
static void test_unbroken_quantities(void **state)
{
	(void)state;
	assert_flows(14, 0, "ongoing for 1 min", "ongoing for\n1 min\n");
	assert_flows(14, 0, "a rate of 12.5 MB/s, now", "a rate of\n12.5 MB/s, now\n");
	assert_flows(18, 0, "since 12:34:21 (+-2 s), ended", "since 12:34:21\n(+-2 s), ended\n");
	assert_flows(24, 0, "since 2026-11-15 13:03:22 UTC.", "since\n2026-11-15 13:03:22 UTC.\n");
	assert_flows(12, 0, "at 12:34 to 12:35 UTC", "at 12:34 to\n12:35 UTC\n");
	assert_flows(11, 0, "the last 7 minutes", "the last 7\nminutes\n");
	assert_flows(11, 0, "13:03:22 A TCP peer", "13:03:22 A\nTCP peer\n");
	assert_flows(9, 0, "7.", "7.\n");
}

/* A word longer than a line is not cut, so that it can be copied. */
static void test_long_word(void **state)
{
	(void)state;
	assert_flows(10, 1, "a fs3/disk:longer-than-ten b", " a\n fs3/disk:longer-than-ten\n b\n");
}

static void test_utf8_counts_characters(void **state)
{
	(void)state;
	assert_int_equal(flow_text_width("gr\xc3\xbc\xc3\x9f"), 4);
	assert_flows(9, 0, "gr\xc3\xbc\xc3\x9f gr\xc3\xbc\xc3\x9f",
		"gr\xc3\xbc\xc3\x9f gr\xc3\xbc\xc3\x9f\n");
}

static void test_no_control_characters(void **state)
{
	struct printed p;
	char *printed;

	(void)state;
	flow_print_safe(printed_begin(&p), "a\033[1m\x7f\r\n\xc2\x9b\xc2\xa0\xc2");
	printed = printed_end(&p);
	assert_string_equal(printed, "a?[1m????\xc2\xa0?");
	free(printed);
	flow_print_line(printed_begin(&p), "%s: %d", "x\x9b\xe2\x80\xae\nx\xe2\x80\xac", 5);
	printed = printed_end(&p);
	assert_string_equal(printed, "x???x?: 5\n");
	free(printed);
	assert_flows(20, 0, "a\tb c\nd", "a?b c?d\n");
}

static void test_goes_on_in_a_line(void **state)
{
	struct printed p;
	struct flow f = {.out = printed_begin(&p), .width = 12, .indent = 2, .column = 6};
	char *printed;

	(void)state;
	flow_addf(&f, "%d and %s", 7, "more");
	flow_end(&f);
	printed = printed_end(&p);
	assert_string_equal(printed, " 7 and\n  more\n");
	free(printed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_unbroken_quantities),
		cmocka_unit_test(test_long_word),
		cmocka_unit_test(test_utf8_counts_characters),
		cmocka_unit_test(test_no_control_characters),
		cmocka_unit_test(test_goes_on_in_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
