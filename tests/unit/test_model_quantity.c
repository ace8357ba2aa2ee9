#include "model/quantity.h"

#include "base/array.h"
#include "unit.h"
#include <math.h>
#include <stdint.h>

static void test_values(void **state)
{
	static const struct {
		double value;
		const char *unit, *text;
	} cases[] = {
		{12499052, "bytes/s", "12.5 MB/s"},
		{93883, "bytes/s", "93.9 kB/s"},
		{999.9, "bytes", "1.00 kB"},
		{512, "bytes", "512 B"},
		{49068, "sectors/s", "25.1 MB/s"},
		{34, "sectors", "17.4 kB"},
		{64e6, "kB", "64.0 GB"},
		{49.04, "ms", "49.0 ms"},
		{109.6, "ms", "110 ms"},
		{6.333, "ms", "6.33 ms"},
		{0.834, "ms", "834 us"},
		{2500, "ms", "2.50 s"},
		{2250, "s", "37.5 min"},
		{86400 * 3, "s", "3.00 days"},
		{2.64, "1/s", "2.64/s"},
		{0.0707, "1/s", "0.071/s"},
		{134, "1/s", "134/s"},
		{100, "%", "100%"},
		{2.17, "segments", "2.17 segments"},
		{1234567, NULL, "1234567"},
		{1.5e9, "", "1.5e+09"},
		{0, "bytes/s", "0"},
		{0, NULL, "0"},
		{-3, "ms", "-3.00 ms"},
		{NAN, "ms", "no data"},
		{INFINITY, "ms", "inf"},
		{7, "furlongs", "7.00 furlongs"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[QUANTITY_TEXT_MAX];

		assert_string_equal(
			quantity_format(cases[i].value, cases[i].unit, buf), cases[i].text);
	}
}

/* A unit comes from a file, and may be as long as it likes. */
static void test_long_unit(void **state)
{
	struct strbuf sb = {0};

	(void)state;
	quantity_add(&sb, 1.5,
		"a very long unit that somebody put into the heading of a column of a CSV file");
	assert_string_equal(sb.text, "1.50 a very long unit that s");
	strbuf_release(&sb);
}

static void test_ratios(void **state)
{
	char buf[QUANTITY_TEXT_MAX];

	(void)state;
	assert_string_equal(quantity_format_ratio(9.44, buf), "9.4x");
	assert_string_equal(quantity_format_ratio(0.217, buf), "0.22x");
	assert_string_equal(quantity_format_ratio(1, buf), "1.0x");
	assert_string_equal(quantity_format_ratio(162.3, buf), "162x");
	assert_string_equal(quantity_format_ratio(998.7, buf), "999x");
	assert_string_equal(quantity_format_ratio(39767, buf), "over 1000x");
	assert_string_equal(quantity_format_ratio(INFINITY, buf), "-");
	assert_string_equal(quantity_format_ratio(NAN, buf), "-");
}

static void test_spans(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} cases[] = {{0.2, "200 ms"}, {2, "2 s"}, {59.4, "59 s"}, {79, "1m19s"}, {60, "1 min"},
		{137, "2m17s"}, {2250, "38 min"}, {3600, "1 h"}, {29220, "8h07m"}, {86400, "24 h"},
		{86400 * 3.5, "3.5 days"}, {86400.0 * 40, "40 days"}, {0, "0"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char buf[QUANTITY_TEXT_MAX];

		assert_string_equal(quantity_format_span((int64_t)(cases[i].seconds * 1e6), buf),
			cases[i].text);
	}
}

static void test_ticks(void **state)
{
	char buf[QUANTITY_TEXT_MAX];

	(void)state;
	assert_string_equal(quantity_format_tick(40, "ms", buf), "40 ms");
	assert_string_equal(quantity_format_tick(2500, "ms", buf), "2.5 s");
	assert_string_equal(quantity_format_tick(0, "ms", buf), "0");
	assert_string_equal(quantity_format_tick(2e6 / 512, "sectors/s", buf), "2 MB/s");
	assert_string_equal(quantity_format_tick(400, "1/s", buf), "400/s");
	assert_string_equal(quantity_format_tick(1e30, "x.y", buf), "1e+30 x.y");
	assert_true(quantity_unit_size(2500, "ms") == 1000);
	assert_true(quantity_unit_size(9765.625, "sectors/s") == 1e6 / 512);
	assert_true(quantity_unit_size(12, "%") == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_values),
		cmocka_unit_test(test_long_unit), cmocka_unit_test(test_ratios),
		cmocka_unit_test(test_spans), cmocka_unit_test(test_ticks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
