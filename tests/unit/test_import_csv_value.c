#include "import/csv_value.h"
#include "unit.h"
#include <inttypes.h>
#include <limpet/batch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void same_as_strtod(const char *text)
{
	double want = strtod(text, NULL), got = 0;

	assert_int_equal(csv_number_parse(text, strlen(text), &got), CSV_NUMBER);
	if (lp_cell_from_real(got) != lp_cell_from_real(want)) /* bit for bit, -0 too */
		fail_msg("%s: got %.17g, want %.17g", text, got, want);
}

static void test_number_equals_strtod(void **state)
{
	static const char *const texts[] = {"0", "-0", "+1", "1.", ".5", "23749224.87", "88.44",
		"1e3", "1E-05", "123456789012345", "1234567890123456", "0.1234567890123456789",
		"9007199254740993", "1e22", "1e23", "1.7976931348623157e308", "4.9e-324", "1e-400",
		"2.2250738585072011e-308", "0.000000000000000000000000000001",
		"00000000000000001.5", "123456789012345e22", "0.30000000000000004", "0e999"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		same_as_strtod(texts[i]);
}

static void test_number_equals_strtod_at_random(void **state)
{
	uint64_t x = 88172645463325252;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		char text[64];

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		snprintf(text, sizeof(text), "%s%" PRIu64 ".%0*" PRIu64, x & 1 ? "-" : "",
			(x >> 32) % (x & 2 ? 1000 : 1000000000), (int)(x >> 8 & 7) + 1,
			(x >> 16) % 10);
		same_as_strtod(text);
		snprintf(text, sizeof(text), "%.*g", (int)(x >> 40 & 15) + 2, (double)x * 1e-7);
		same_as_strtod(text);
	}
}

static void number_is(const char *text, enum csv_number want)
{
	double got = 0;

	assert_int_equal(csv_number_parse(text, strlen(text), &got), want);
	assert_true(isnan(got));
}

static void test_not_numbers(void **state)
{
	static const char *const missing[] = {
		"", "NA", "na", "N/A", "NaN", "-nan", "null", "NULL", "None", "-"};
	static const char *const infinite[] = {"inf", "-inf", "+Infinity", "1e309", "-1e999999999"};
	static const char *const garbage[] = {"x", "1x", "1,5", "0x10", "1e", "1e+", "--1", ".",
		"+", "1 2", "nan(1)", "e5", "1.2.3", "1e5.5"};
	char digits[600];

	(void)state;
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		number_is(missing[i], CSV_MISSING);
	for (size_t i = 0; i < sizeof(infinite) / sizeof(infinite[0]); i++)
		number_is(infinite[i], CSV_INFINITE);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++)
		number_is(garbage[i], CSV_GARBAGE);
	memset(digits, '1', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	number_is(digits, CSV_GARBAGE);
}

static void time_is(struct csv_clock *c, const char *text, int64_t want)
{
	int64_t got = -1;

	if (!csv_clock_parse(c, text, strlen(text), &got) || got != want)
		fail_msg("%s: got %" PRId64 ", want %" PRId64, text, got, want);
}

static void test_times(void **state)
{
	struct csv_clock c = {0};

	(void)state;
	for (int i = 0; i < 2; i++) { /* the second time with a day remembered */
		time_is(&c, "2011-05-09T00:00:05Z", INT64_C(1304899205000000));
		time_is(&c, "2011-05-09T00:00:05Z", INT64_C(1304899205000000));
		time_is(&c, "2011-05-09T00:00:06Z", INT64_C(1304899206000000));
		time_is(&c, "2011-05-09 23:59:59", INT64_C(1304985599000000));
		time_is(&c, "2011-05-09T00:00:05.25Z", INT64_C(1304899205250000));
		time_is(&c, "2011-05-09T02:00:05+02:00", INT64_C(1304899205000000));
		time_is(&c, "2011-05-10T00:00:00Z", INT64_C(1304985600000000));
		time_is(&c, "20110509", INT64_C(1304899200000000));
	}
	time_is(&c, "0", 0);
	time_is(&c, "-1.5", -1500000);
	time_is(&c, "1304899205", INT64_C(1304899205000000));
	time_is(&c, "1304899205.25", INT64_C(1304899205250000));
	time_is(&c, "1304899205.123456789", INT64_C(1304899205123456));
	time_is(&c, "1304899205250", INT64_C(1304899205250000));
	time_is(&c, "1304899205250.5", INT64_C(1304899205250500));
	time_is(&c, "1304899205250123", INT64_C(1304899205250123));
	time_is(&c, "1304899205250123999", INT64_C(1304899205250123));
}

static void test_not_times(void **state)
{
	static const char *const bad[] = {"", "x", "2011-05-09T24:00:00Z", "2011-05-09T00:60:00Z",
		"13048992052501", "13048992052501234", "9999999999999999999",
		"99999999999999999999999", "1304899205250123.5", "1.5.5", "2011-05-09T00:00:05X",
		"2011-05-09T00:00:05Z and then a lot of other text"};
	struct csv_clock c = {0};

	(void)state;
	time_is(&c, "2011-05-09T00:00:05Z", INT64_C(1304899205000000));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t us = 7;

		if (csv_clock_parse(&c, bad[i], strlen(bad[i]), &us))
			fail_msg("'%s' was taken for %" PRId64, bad[i], us);
		assert_int_equal(us, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_number_equals_strtod),
		cmocka_unit_test(test_number_equals_strtod_at_random),
		cmocka_unit_test(test_not_numbers),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_not_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
