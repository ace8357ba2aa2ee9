#include "base/cleanup.h"
#include "printed.h"
#include "report/sparkline.h"
#include <float.h>
#include <math.h>

static void prints(double low, double high, bool utf8, const char *want)
{
	static const double values[] = {0, 1, 4, NAN, 8, 9, -5, INFINITY};
	_cleanup_free_ char *text = NULL;
	struct printed p;

	sparkline_print(printed_begin(&p), values, 8, low, high, utf8);
	text = printed_end(&p);
	assert_string_equal(text, want);
}

static void test_scale(void **state)
{
	(void)state;
	prints(0, 8, true, "▁▂▅ ██▁█");
	prints(0, 8, false, "_.+ @@_@");
	prints(0, 0, false, "_@@ @@_@"); /* no range at all */
}

static void test_far_apart(void **state)
{
	static const double values[] = {-DBL_MAX, 0, DBL_MAX, NAN, DBL_TRUE_MIN};
	_cleanup_free_ char *text = NULL;
	struct printed p;

	(void)state;
	sparkline_print(printed_begin(&p), values, 5, -DBL_MAX, DBL_MAX, false);
	text = printed_end(&p);
	assert_string_equal(text, "_+@ +");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scale), cmocka_unit_test(test_far_apart)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
