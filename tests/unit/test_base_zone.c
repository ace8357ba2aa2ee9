#include "unit.h"

#include "base/time.h"
#include "base/zone.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *zone, const char *local, const char *utc)
{
	struct zone *z = NULL;
	struct lp_err err = {0};
	int64_t us;
	char text[TIME_TEXT_MAX];

	assert_int_equal(zone_open(zone, &z, &err), 0);
	assert_int_equal(time_parse(local, &us, &err), 0);
	assert_string_equal(time_format(zone_utc(z, us), text), utc);
	zone_free(z);
}

static void test_zones(void **state)
{
	(void)state;
	check("UTC", "2026-07-01T12:00:00", "2026-07-01T12:00:00Z");
	check("+02:00", "2026-07-01T12:00:00.5", "2026-07-01T10:00:00.5Z");
	check("-0330", "2026-07-01T12:00:00", "2026-07-01T15:30:00Z");
	check("Europe/Berlin", "2026-07-01T12:00:00", "2026-07-01T10:00:00Z");
	check("Europe/Berlin", "2026-01-01T12:00:00", "2026-01-01T11:00:00Z");
	check("Europe/Berlin", "2026-03-29T01:59:59", "2026-03-29T00:59:59Z");
	check("Europe/Berlin", "2026-03-29T03:00:00", "2026-03-29T01:00:00Z");
	check("America/Chicago", "2011-05-09T13:00:05", "2011-05-09T18:00:05Z");
	/* Beyond what files list, by the rule at their end. */
	check("Europe/Berlin", "2060-07-01T12:00:00", "2060-07-01T10:00:00Z");
	check("Europe/Berlin", "2060-12-01T12:00:00", "2060-12-01T11:00:00Z");
	check("Australia/Sydney", "2060-01-15T12:00:00", "2060-01-15T01:00:00Z");
	check("Australia/Sydney", "2060-07-15T12:00:00", "2060-07-15T02:00:00Z");
	check("Asia/Kolkata", "2026-07-01T12:00:00", "2026-07-01T06:30:00Z");
	setenv("TZ", "Asia/Tokyo", 1);
	check("local", "2026-07-01T12:00:00", "2026-07-01T03:00:00Z");
}

/* As the C library has it, every five hours of some years. */
static void test_library(void **state)
{
	static const char *const names[] = {
		"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct zone *z = NULL;
		struct lp_err err = {0};

		setenv("TZ", names[i], 1);
		tzset();
		assert_int_equal(zone_open(names[i], &z, &err), 0);
		for (time_t t = 946684800; t < 4102444800; t += 18000) {
			struct tm tm;
			int64_t local;

			localtime_r(&t, &tm);
			local = (t + tm.tm_gmtoff) * US_PER_SEC;
			/* Hours that come twice may be either. */
			if (zone_utc(z, local) != t * US_PER_SEC) {
				time_t other = zone_utc(z, local) / US_PER_SEC;

				localtime_r(&other, &tm);
				assert_true((other + tm.tm_gmtoff) * US_PER_SEC == local);
			}
		}
		zone_free(z);
	}
}

static void test_bad(void **state)
{
	struct zone *z = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(zone_open("Mars/Olympus", &z, &err), -EINVAL);
	assert_non_null(strstr(err.text, "there is no time zone 'Mars/Olympus'"));
	assert_int_equal(zone_open("../../../etc/passwd", &z, &err), -EINVAL);
	assert_int_equal(zone_open("", &z, &err), -EINVAL);
	assert_int_equal(zone_open("/etc/passwd", &z, &err), -EBADMSG);
	assert_null(z);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_library),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
