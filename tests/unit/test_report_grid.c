#include "report/grid.h"

#include "base/cleanup.h"
#include "printed.h"
#include <math.h>

static void assert_prints(const struct grid *g, bool colour, const char *text)
{
	struct printed p;
	_cleanup_free_ char *got = NULL;

	grid_print(g, printed_begin(&p), colour);
	got = printed_end(&p);
	assert_string_equal(got, text);
}

static void test_alignment(void **state)
{
	_cleanup_(grid_release) struct grid g;

	(void)state;
	grid_init(&g, 3);
	grid_add(&g, "disk");
	grid_add(&g, "tps");
	grid_add(&g, "known as");
	grid_add(&g, "a/disk:sda");
	grid_add_number(&g, 5);
	grid_add(&g, "wwn");
	grid_add(&g, "b");
	grid_add_number(&g, 1234);
	grid_add(&g, "");
	assert_prints(&g, false,
		"disk         tps  known as\n"
		"a/disk:sda     5  wwn\n"
		"b           1234  \n");
}

static void test_missing_numbers_are_dashes(void **state)
{
	_cleanup_(grid_release) struct grid g;

	(void)state;
	grid_init(&g, 1);
	grid_add(&g, "await");
	grid_add_number(&g, NAN);
	grid_add_number(&g, 12.34);
	grid_add_number(&g, -1.5);
	grid_add_number(&g, INFINITY);
	assert_prints(&g, false, "await\n    -\n 12.3\n-1.50\n  inf\n");
}

static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"}, {3.25, "3.25"}, {0.5, "0.50"}, {12.345, "12.3"}, {1234.4, "1234"},
		{7, "7"}, {99.96, "100.0"}, {5.6e9, "5.6e+09"}, {1e-5, "1e-05"}, {0.0123, "0.0123"},
		{-250.7, "-251"}, {999999999, "999999999"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(grid_release) struct grid g;

		grid_init(&g, 1);
		grid_add_number(&g, cases[i].value);
		assert_string_equal(g.cells[0], cases[i].text);
	}
}

/* Times begin with digits and are text all the same. */
static void test_times_are_flush_left(void **state)
{
	_cleanup_(grid_release) struct grid g;

	(void)state;
	grid_init(&g, 2);
	grid_add(&g, "time");
	grid_add(&g, "x");
	grid_add(&g, "2011-05-09T00:00:05.25Z");
	grid_add(&g, "1");
	grid_add(&g, "2011-05-09T00:00:06Z");
	grid_add(&g, "22");
	assert_prints(&g, false,
		"time                      x\n"
		"2011-05-09T00:00:05.25Z   1\n"
		"2011-05-09T00:00:06Z     22\n");
}

static void test_colour_of_the_heading(void **state)
{
	_cleanup_(grid_release) struct grid g;

	(void)state;
	grid_init(&g, 2);
	grid_add(&g, "a");
	grid_add(&g, "b");
	grid_add(&g, "x");
	grid_add(&g, "y");
	assert_prints(&g, true, "\033[1ma  b\033[0m\nx  y\n");
	assert_prints(&g, false, "a  b\nx  y\n");
}

static void test_unicode_and_control_characters(void **state)
{
	_cleanup_(grid_release) struct grid g;

	(void)state;
	grid_init(&g, 2);
	grid_add(&g, "n");
	grid_add(&g, "v");
	grid_add(&g,
		"Gr\xc3\xb6\xc3\x9f"
		"e");
	grid_add(&g, "a");
	grid_add(&g, "x\033[2J\n");
	grid_add(&g, "b");
	assert_prints(&g, false,
		"n       v\n"
		"Gr\xc3\xb6\xc3\x9f"
		"e   a\n"
		"x?[2J?  b\n");
}

static void test_many_columns(void **state)
{
	_cleanup_(grid_release) struct grid g;
	struct printed p;
	_cleanup_free_ char *got = NULL;
	size_t lines = 0;

	(void)state;
	grid_init(&g, 300);
	for (int i = 0; i < 900; i++)
		grid_addf(&g, "%d", i);
	grid_print(&g, printed_begin(&p), false);
	got = printed_end(&p);
	for (const char *c = got; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment),
		cmocka_unit_test(test_missing_numbers_are_dashes),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_times_are_flush_left),
		cmocka_unit_test(test_colour_of_the_heading),
		cmocka_unit_test(test_unicode_and_control_characters),
		cmocka_unit_test(test_many_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
