#include "report/clock.h"

#include "unit.h"
#include <stdlib.h>
#include <time.h>

#define AT INT64_C(1794746061000000) /* 2026-11-15T12:34:21Z */
#define SECOND INT64_C(1000000)

static void assert_time(const struct clock_style *style, int64_t at_us, const char *expected)
{
	struct strbuf sb = {0};

	clock_add(&sb, style, at_us);
	assert_string_equal(sb.text, expected);
	strbuf_release(&sb);
}

static void assert_range(
	const struct clock_style *style, int64_t from_us, int64_t to_us, const char *expected)
{
	struct strbuf sb = {0};

	clock_add_range(&sb, style, from_us, to_us);
	assert_string_equal(sb.text, expected);
	strbuf_release(&sb);
}

static void test_dates(void **state)
{
	const struct clock_style utc = {.utc = true},
				 today = {.utc = true, .now_us = AT + 7200 * SECOND};
	struct strbuf sb = {0};

	(void)state;
	assert_time(&utc, AT, "2026-11-15 12:34:21");
	assert_time(&today, AT, "12:34:21");
	assert_time(&today, AT - 86400 * SECOND, "2026-11-14 12:34:21");
	assert_time(&utc, INT64_MAX, "@9223372036854");
	clock_add_later(&sb, &utc, AT + 5 * SECOND, AT);
	strbuf_putc(&sb, '|');
	clock_add_later(&sb, &utc, AT + 86400 * SECOND, AT);
	assert_string_equal(sb.text, "12:34:26|2026-11-16 12:34:21");
	strbuf_release(&sb);
}

static void test_ranges(void **state)
{
	const struct clock_style utc = {.utc = true}, today = {.utc = true, .now_us = AT};

	(void)state;
	assert_range(&utc, AT, AT + 79 * SECOND, "2026-11-15 12:34:21 to 12:35:40 UTC");
	assert_range(&today, AT, AT + 3600 * SECOND, "12:34 to 13:34 UTC");
	assert_range(&today, AT, AT + 86400 * SECOND, "2026-11-15 12:34 to 2026-11-16 12:34 UTC");
	assert_range(&utc, INT64_MIN, INT64_MAX, "@-9223372036855 to @9223372036854");
}

static void test_zone(void **state)
{
	const struct clock_style local = {0};

	(void)state;
	setenv("TZ", "CET-1", 1);
	tzset();
	assert_time(&local, AT, "2026-11-15 13:34:21");
	assert_range(&local, AT, AT + 3600 * SECOND, "2026-11-15 13:34 to 14:34 CET");
}

static void assert_rewritten(const char *text, int64_t than_us, const char *expected)
{
	const struct clock_style local = {0};
	struct strbuf sb = {0};

	clock_add_text(&sb, &local, text, than_us);
	assert_string_equal(sb.text, expected);
	strbuf_release(&sb);
}

/* Sentences have times in ISO 8601; a terminal shows them as it shows all others. */
static void test_sentences(void **state)
{
	(void)state;
	setenv("TZ", "CET-1", 1);
	tzset();
	assert_rewritten("failed at 2026-11-15T12:34:26.25Z, 1 s later", AT,
		"failed at 13:34:26.25, 1 s later");
	assert_rewritten("(o0 2026-11-15T12:34:21Z to 2026-11-15T12:35:00Z)", 0,
		"(o0 2026-11-15 13:34:21 to 13:35:00)");
	assert_rewritten("x-2026-11-15T12:34:21Z.csv 2026-11-15T12:34:21ZZ 2026-11-15T99:34:21Z", 0,
		"x-2026-11-15T12:34:21Z.csv 2026-11-15T12:34:21ZZ 2026-11-15T99:34:21Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_dates),
		cmocka_unit_test(test_ranges), cmocka_unit_test(test_zone),
		cmocka_unit_test(test_sentences)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
