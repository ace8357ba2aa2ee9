#include "report/number.h"

#include "unit.h"
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_text(double value, const char *text)
{
	char buf[NUMBER_TEXT_MAX];

	assert_string_equal(number_format(value, buf), text);
}

static void test_plain_numbers(void **state)
{
	(void)state;
	assert_text(0, "0");
	assert_text(1, "1");
	assert_text(-17, "-17");
	assert_text(1000000, "1000000");
	assert_text(999999999999999, "999999999999999");
	assert_text(0.1, "0.1");
	assert_text(-0.25, "-0.25");
	assert_text(0.05, "0.05");
	assert_text(3.14159, "3.14159");
	assert_text(123456.789, "123456.789");
	assert_text(0.0001, "0.0001");
	assert_text(100.5, "100.5");
	assert_text(1.0 / 3, "0.3333333333333333");
	assert_text(2.0 / 3, "0.6666666666666666");
	assert_text(0.1 + 0.2, "0.30000000000000004");
	assert_text(9007199254740993.0, "9007199254740992");
}

static void test_far_numbers(void **state)
{
	(void)state;
	assert_text(1e300, "1e+300");
	assert_text(5e-324, "4.94065645841247e-324");
	assert_text(DBL_MAX, "1.7976931348623157e+308");
	assert_text(0.00001, "1e-05");
	assert_text(1e15, "1e+15");
	assert_text(INFINITY, "inf");
	assert_text(-INFINITY, "-inf");
	assert_text(NAN, "nan");
	assert_text(-0.0, "-0");
}

/* The digits that carry information. */
static size_t digits_in(const char *text)
{
	size_t n = 0;
	bool leading = true;

	for (; *text && *text != 'e'; text++) {
		if (*text < '0' || *text > '9' || (leading && *text == '0'))
			continue;
		leading = false;
		n++;
	}
	return n;
}

static void check(double value)
{
	char buf[NUMBER_TEXT_MAX], shorter[400];

	number_format(value, buf);
	assert_true(strlen(buf) < NUMBER_TEXT_MAX);
	assert_true(strtod(buf, NULL) == value);
	/* No shorter one would do. */
	if (digits_in(buf) > 15) {
		snprintf(shorter, sizeof(shorter), "%.*g", (int)digits_in(buf) - 1, value);
		assert_true(strtod(shorter, NULL) != value);
	}
}

static void test_all_read_back(void **state)
{
	uint64_t x = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		double value, ratio;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(&value, &x, sizeof(value)); /* any bits */
		if (isfinite(value))
			check(value);
		ratio = (double)(x >> 40) / (double)(1 + (x & 0xffff)); /* what metrics are like */
		check(ratio);
		check(-ratio / 1000);
		check((double)(x >> 50) / 100);
	}
}

/* Neighbours of round numbers, where rounding goes wrong first. */
static void test_edges(void **state)
{
	(void)state;
	for (int exponent = -6; exponent < 18; exponent++) {
		double below = pow(10, exponent), above = below;

		for (int i = 0; i < 50; i++) {
			check(below);
			check(above);
			below = nextafter(below, 0);
			above = nextafter(above, INFINITY);
		}
	}
	for (int exponent = -20; exponent < 60; exponent++) {
		check(ldexp(1, exponent));
		check(nextafter(ldexp(1, exponent), 0));
		check(nextafter(ldexp(1, exponent), INFINITY));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_numbers),
		cmocka_unit_test(test_far_numbers),
		cmocka_unit_test(test_all_read_back),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
