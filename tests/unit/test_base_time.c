#include "base/time.h"
#include "unit.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void parse_ok(const char *text, int64_t want_us)
{
	struct lp_err err = {0};
	int64_t got = -1;

	assert_int_equal(time_parse(text, &got, &err), 0);
	assert_int_equal(got, want_us);
}

static void test_parse(void **state)
{
	(void)state;
	parse_ok("2011-05-09T00:00:05Z", INT64_C(1304899205000000));
	parse_ok("20110509T000005Z", INT64_C(1304899205000000));
	parse_ok("2011-05-09 00:00:05.25", INT64_C(1304899205250000));
	parse_ok("2011-05-09", INT64_C(1304899200000000));
	parse_ok("2011/05/09 00:00:05", INT64_C(1304899205000000));
	parse_ok("2011-05-09T02:00:05+02:00", INT64_C(1304899205000000));
	parse_ok("2011-05-08T19:00:05-0500", INT64_C(1304899205000000));
	parse_ok("2024-02-29", INT64_C(1709164800000000));
	parse_ok("2000-02-29T00:00:00Z", INT64_C(951782400000000));
	parse_ok("20241231", INT64_C(1735603200000000));
	parse_ok("123456789", INT64_C(123456789000000));
	parse_ok("@20240231", INT64_C(20240231000000));
	parse_ok("1304899205", INT64_C(1304899205000000));
	parse_ok("@1304899205.5", INT64_C(1304899205500000));
}

static void test_parse_rejects(void **state)
{
	static const char *const bad[] = {"", "yesterday", "2011-13-09", "2011-05-09T25:00:00Z",
		"2011-05-09T00:00:05Zx", "99999999999999999999", "2011-05-09T00:00:05+99:00", "@",
		"2024-02-31", "2024-02-30T00:00:00Z", "2023-02-29", "1900-02-29", "2024-04-31",
		"2024-01-32", "2024-01-00", "2024/01-01", "2024/0101", "01/31/2024", "2024-00-01",
		"20240231", "20230229T000005Z", "20249999", "9999-12-31T23:59:60Z",
		"0000-01-01T00:00:00+01:00"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct lp_err err = {0};
		int64_t got;

		assert_int_equal(time_parse(bad[i], &got, &err), -EINVAL);
		assert_non_null(strstr(err.text, "is not a time"));
	}
}

static void test_format(void **state)
{
	char buf[TIME_TEXT_MAX];

	(void)state;
	assert_string_equal(time_format(INT64_C(1304899205000000), buf), "2011-05-09T00:00:05Z");
	assert_string_equal(time_format(INT64_C(1304899205250000), buf), "2011-05-09T00:00:05.25Z");
	assert_string_equal(time_format(-1, buf), "1969-12-31T23:59:59.999999Z");
	assert_string_equal(
		time_format_compact(INT64_C(1304899205000000), buf), "20110509T000005Z");
	assert_string_equal(time_format(INT64_MAX, buf), "@9223372036854");
	assert_string_equal(time_format(INT64_MIN, buf), "@-9223372036855");
}

static void test_span(void **state)
{
	struct lp_err err = {0};
	char buf[TIME_TEXT_MAX];
	int64_t us;

	(void)state;
	assert_int_equal(span_parse("100ms", &us, &err), 0);
	assert_int_equal(us, 100000);
	assert_string_equal(span_format(us, buf), "100ms");
	assert_int_equal(span_parse("5m", &us, &err), 0);
	assert_int_equal(us, 300 * US_PER_SEC);
	assert_string_equal(span_format(us, buf), "5m");
	assert_int_equal(span_parse("2", &us, &err), 0);
	assert_int_equal(us, 2 * US_PER_SEC);
	assert_int_equal(span_parse("5 parsecs", &us, &err), -EINVAL);
	assert_int_equal(span_parse("-1s", &us, &err), -EINVAL);
	assert_int_equal(span_parse("22202222w", &us, &err), -EINVAL); /* more than fits */
	assert_int_equal(span_parse("999999999d", &us, &err), -EINVAL);
	assert_string_equal(err.text, "'999999999d' is longer than 50000d");
	assert_int_equal(span_parse("50000d", &us, &err), 0);
	assert_true(us * 1000 > 0);
}

/* Whatever span_format() prints can be typed. */
static void test_span_parts(void **state)
{
	static const struct {
		const char *text;
		int64_t s;
	} good[] = {{"2h00m", 7200}, {"1h30m", 5400}, {"1d02h", 93600}, {"1w1d", 691200},
		{"1m30s", 90}, {"1h0.5m", 3630}};
	static const char *const bad[] = {
		"1h30", "30m1h", "1h1h", "1m1min", "1h-5m", "1h 5m", "1h5", "h", "1hm", ""};
	char buf[TIME_TEXT_MAX];
	int64_t us;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(span_parse(good[i].text, &us, NULL), 0);
		assert_int_equal(us, good[i].s * US_PER_SEC);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(span_parse(bad[i], &us, NULL), -EINVAL);
	for (int64_t s = 60; s < 30 * 86400; s += 3600 + 60) {
		int64_t shown = s < 86400 ? s / 60 * 60 : s / 3600 * 3600;

		assert_int_equal(span_parse(span_format(s * US_PER_SEC, buf), &us, NULL), 0);
		assert_int_equal(us, shown * US_PER_SEC);
	}
}

static void test_span_between(void **state)
{
	(void)state;
	assert_int_equal(span_between(5, 12), 7);
	assert_int_equal(span_between(-5, 12), 17);
	assert_int_equal(span_between(12, 5), 0);
	assert_int_equal(span_between(INT64_MIN, INT64_MAX), SPAN_MAX_US);
	assert_int_equal(span_between(INT64_MAX, INT64_MIN), 0);
	assert_int_equal(span_between(0, INT64_MAX), SPAN_MAX_US);
}

static void test_clocks(void **state)
{
	struct timespec before, after, until;
	int64_t ns, us;

	(void)state;
	clock_gettime(CLOCK_MONOTONIC, &before);
	ns = clock_ns(CLOCK_MONOTONIC);
	us = clock_us(CLOCK_MONOTONIC);
	clock_gettime(CLOCK_MONOTONIC, &after);
	assert_true(ns >= before.tv_sec * NS_PER_SEC + before.tv_nsec);
	assert_true(us >= ns / 1000);
	assert_true(us <= (after.tv_sec * NS_PER_SEC + after.tv_nsec) / 1000);
	until = clock_after(CLOCK_MONOTONIC, 1999999);
	assert_in_range(until.tv_nsec, 0, NS_PER_SEC - 1);
	ns = until.tv_sec * NS_PER_SEC + until.tv_nsec - 1999999000;
	assert_true(ns >= after.tv_sec * NS_PER_SEC + after.tv_nsec);
	assert_true(ns <= clock_ns(CLOCK_MONOTONIC));
}

/* Times beyond the range of nanoseconds do not overflow. */
static void test_nanoseconds(void **state)
{
	(void)state;
	assert_int_equal(time_ns(-7), -7000);
	assert_true(time_ns(INT64_MAX) == INT64_MAX);
	assert_true(time_ns(INT64_C(253402300800000000)) == INT64_MAX);
	assert_true(time_ns(INT64_MIN) == INT64_MIN);
}

/* Times as people type them, on 2026-11-15 at 12:34:21 UTC. */
static void test_typed(void **state)
{
	static const int64_t now_us = INT64_C(1794746061) * US_PER_SEC;
	static const struct {
		const char *zone, *text, *expected;
	} cases[] = {
		{"UTC", "now", "2026-11-15T12:34:21Z"},
		{"UTC", "1h", "2026-11-15T11:34:21Z"},
		{"UTC", "-90m", "2026-11-15T11:04:21Z"},
		{"UTC", "2d ago", "2026-11-13T12:34:21Z"},
		{"UTC", "today", "2026-11-15T00:00:00Z"},
		{"UTC", "yesterday", "2026-11-14T00:00:00Z"},
		{"UTC", "12:34", "2026-11-15T12:34:00Z"},
		{"UTC", "12:35", "2026-11-14T12:35:00Z"}, /* today that is yet to come */
		{"UTC", "06:00:30", "2026-11-15T06:00:30Z"},
		{"UTC", "2026-11-15 06:00", "2026-11-15T06:00:00Z"},
		{"UTC", "@1794746000", "2026-11-15T12:33:20Z"},
		{"CET-1", "2026-11-15 06:00", "2026-11-15T05:00:00Z"},
		{"CET-1", "2026-11-15T06:00Z", "2026-11-15T06:00:00Z"},
		{"CET-1", "2026-11-15 06:00 UTC", "2026-11-15T06:00:00Z"},
		{"CET-1", "2026-11-15 06:00+05:00", "2026-11-15T01:00:00Z"},
		{"CET-1", "today", "2026-11-14T23:00:00Z"},
		{"CET-1", "13:00", "2026-11-15T12:00:00Z"},
		{"CET-1", "2026-11-15", "2026-11-14T23:00:00Z"},
		{"CET-1", "today 13:00", "2026-11-15T12:00:00Z"},
		{"CET-1", "yesterday 18:30", "2026-11-14T17:30:00Z"},
		{"CET-1", "12:00Z", "2026-11-15T12:00:00Z"},
		{"CET-1", "12:40 UTC", "2026-11-14T12:40:00Z"},
		{"UTC", "13:00:05+01:00", "2026-11-15T12:00:05Z"},
		{"UTC", "23:00-10:00", "2026-11-15T09:00:00Z"},
		{"UTC", "02:00+12:00", "2026-11-14T14:00:00Z"},
	};
	static const char *const wrong[] = {"", "soon", "25:00", "12:60", "1x", "-", "ago",
		"2026-13-01", "1h2", "12:34pm", "yesterday 25:00", "yesterday12:00", "todays",
		"12:34 CEST", "12Z"};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char buf[TIME_TEXT_MAX];
		int64_t us = 0;

		setenv("TZ", cases[i].zone, 1);
		assert_int_equal(time_parse_typed(cases[i].text, now_us, &us, NULL), 0);
		assert_string_equal(time_format(us, buf), cases[i].expected);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct lp_err err = {0};
		int64_t us = 0;

		assert_int_equal(time_parse_typed(wrong[i], now_us, &us, &err), -EINVAL);
		assert_non_null(strstr(err.text, "is not a time"));
	}
	unsetenv("TZ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_rejects),
		cmocka_unit_test(test_typed),
		cmocka_unit_test(test_format),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_span_parts),
		cmocka_unit_test(test_span_between),
		cmocka_unit_test(test_clocks),
		cmocka_unit_test(test_nanoseconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
