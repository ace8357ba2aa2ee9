#include "base/time.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

int64_t clock_wall_offset_ns(void)
{
	int64_t offset = 0, shortest = INT64_MAX;

	for (int i = 0; i < 8; i++) {
		int64_t before = clock_ns(CLOCK_MONOTONIC), wall = clock_ns(CLOCK_REALTIME);
		int64_t took = clock_ns(CLOCK_MONOTONIC) - before;

		if (took < shortest) {
			shortest = took;
			offset = wall - before - took / 2;
		}
	}
	return offset;
}

int64_t clock_us(clockid_t id)
{
	return clock_ns(id) / 1000;
}

struct timespec clock_after(clockid_t id, int64_t span_us)
{
	int64_t ns = clock_ns(id) + time_ns(span_us);

	return (struct timespec){.tv_sec = ns / NS_PER_SEC, .tv_nsec = ns % NS_PER_SEC};
}

/* No clock shows later times. The limit prevents overflow in all computations. */
#define WALL_SEC_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */
#define WALL_SEC_MIN INT64_C(-62167219200) /* 0000-01-01T00:00:00Z */

static bool time_split(int64_t wall_us, struct tm *ret_tm, int *ret_us)
{
	int64_t sec = floor_div(wall_us, US_PER_SEC);
	time_t t = (time_t)sec;

	/* Not wall_us - sec * US_PER_SEC, which overflows for extreme times. */
	*ret_us = (int)(wall_us % US_PER_SEC + (wall_us % US_PER_SEC < 0 ? US_PER_SEC : 0));
	return sec >= WALL_SEC_MIN && sec <= WALL_SEC_MAX && gmtime_r(&t, ret_tm);
}

const char *time_format(int64_t wall_us, char buf[TIME_TEXT_MAX])
{
	struct tm tm;
	char frac[10] = "";
	int us, end;

	if (!time_split(wall_us, &tm, &us)) {
		snprintf(buf, TIME_TEXT_MAX, "@%" PRId64, floor_div(wall_us, US_PER_SEC));
		return buf;
	}
	if (us) {
		snprintf(frac, sizeof(frac), ".%06d", us);
		for (end = 6; end > 1 && frac[end] == '0'; end--)
			frac[end] = '\0';
	}
	snprintf(buf, TIME_TEXT_MAX, "%04d-%02d-%02dT%02d:%02d:%02d%sZ",
		(tm.tm_year + 1900) % 10000, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		tm.tm_sec, frac);
	return buf;
}

const char *time_format_compact(int64_t wall_us, char buf[TIME_TEXT_MAX])
{
	struct tm tm;
	int us;

	if (!time_split(wall_us, &tm, &us))
		tm = (struct tm){.tm_year = 70, .tm_mday = 1};
	snprintf(buf, TIME_TEXT_MAX, "%04d%02d%02dT%02d%02d%02dZ", (tm.tm_year + 1900) % 10000,
		tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
	return buf;
}

#define DATE_DIGITS 8

/* Read exactly `digits` decimal digits. */
static bool scan_digits(const char **p, int digits, int *ret)
{
	int value = 0;

	for (int i = 0; i < digits; i++) {
		if (!isdigit((unsigned char)(*p)[i]))
			return false;
		value = value * 10 + ((*p)[i] - '0');
	}
	*p += digits;
	*ret = value;
	return true;
}

static bool scan_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

/* ".25" -> 250000; digits beyond the sixth are dropped. */
static bool scan_fraction(const char **p, int *ret_us)
{
	int us = 0, n = 0;

	*ret_us = 0;
	if (**p != '.' && **p != ',')
		return true;
	for ((*p)++; isdigit((unsigned char)**p); (*p)++, n++) {
		if (n < 6)
			us = us * 10 + (**p - '0');
	}
	for (int i = n; i < 6; i++)
		us *= 10;
	*ret_us = us;
	return n > 0;
}

/* "Z", "+02:00", "-0530", "+02" or nothing (UTC). */
static bool scan_zone(const char **p, int *ret_offset_s)
{
	int sign, hours, minutes = 0;

	*ret_offset_s = 0;
	if (scan_char(p, 'Z') || **p == '\0')
		return true;
	if (!strcmp(*p, " UTC")) {
		*p += strlen(*p);
		return true;
	}
	if (**p != '+' && **p != '-')
		return false;
	sign = *(*p)++ == '-' ? -1 : 1;
	if (!scan_digits(p, 2, &hours))
		return false;
	if (scan_char(p, ':') || isdigit((unsigned char)**p)) {
		if (!scan_digits(p, 2, &minutes))
			return false;
	}
	*ret_offset_s = sign * (hours * 3600 + minutes * 60);
	return hours <= 14 && minutes <= 59;
}

static int days_of_month(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month] + (month == 1 && leap);
}

static bool scan_date(const char **p, struct tm *tm)
{
	char between;

	if (!scan_digits(p, 4, &tm->tm_year))
		return false;
	between = **p == '-' || **p == '/' ? **p : '\0';
	*p += between != '\0';
	if (!scan_digits(p, 2, &tm->tm_mon) || (between && !scan_char(p, between)) ||
		!scan_digits(p, 2, &tm->tm_mday))
		return false;
	tm->tm_mon -= 1;
	if (tm->tm_mon < 0 || tm->tm_mon > 11 || tm->tm_mday < 1 ||
		tm->tm_mday > days_of_month(tm->tm_year, tm->tm_mon))
		return false;
	tm->tm_year -= 1900;
	return true;
}

/* "00:00:05", "000005" or "00:00"; the seconds may be left out. */
static bool scan_clock(const char **p, struct tm *tm)
{
	bool colons;

	if (!scan_digits(p, 2, &tm->tm_hour))
		return false;
	colons = scan_char(p, ':');
	if (!scan_digits(p, 2, &tm->tm_min))
		return false;
	if (colons ? scan_char(p, ':') : isdigit((unsigned char)**p) != 0) {
		if (!scan_digits(p, 2, &tm->tm_sec))
			return false;
	}
	return tm->tm_hour <= 23 && tm->tm_min <= 59 && tm->tm_sec <= 60;
}

/* `local`: text without a zone is in the zone of the environment; otherwise it is in UTC. */
static bool parse_iso(const char *text, bool local, int64_t *ret_wall_us)
{
	const char *p = text, *zone;
	struct tm tm = {.tm_isdst = -1};
	int us = 0, offset_s = 0;
	int64_t sec;

	if (!scan_date(&p, &tm))
		return false;
	if (*p) {
		if (!scan_char(&p, 'T') && !scan_char(&p, 't') && !scan_char(&p, ' '))
			return false;
		if (!scan_clock(&p, &tm) || !scan_fraction(&p, &us))
			return false;
		zone = p;
		if (!scan_zone(&p, &offset_s))
			return false;
		local = local && p == zone;
	}
	if (*p)
		return false;
	sec = local ? (int64_t)mktime(&tm) : (int64_t)timegm(&tm) - offset_s;
	if (sec < WALL_SEC_MIN || sec > WALL_SEC_MAX)
		return false;
	*ret_wall_us = sec * US_PER_SEC + us;
	return true;
}

/* "@1304899205.25" or "1304899205". */
static bool parse_seconds(const char *text, int64_t *ret_wall_us)
{
	const char *p = text + (text[0] == '@');
	bool negative = scan_char(&p, '-');
	int64_t sec = 0;
	int us, n = 0;

	for (; isdigit((unsigned char)*p); p++, n++) {
		if (sec > WALL_SEC_MAX)
			return false;
		sec = sec * 10 + (*p - '0');
	}
	if (!n || sec > WALL_SEC_MAX || !scan_fraction(&p, &us) || *p)
		return false;
	*ret_wall_us = (sec * US_PER_SEC + us) * (negative ? -1 : 1);
	return true;
}

int time_parse(const char *text, int64_t *ret_wall_us, struct lp_err *err)
{
	/* Eight digits are a date (20110509), as in file names, even if there is no such day; any
	 * other number is seconds since 1970. */
	if (parse_iso(text, false, ret_wall_us) ||
		(strspn(text, "0123456789") != DATE_DIGITS && parse_seconds(text, ret_wall_us)))
		return 0;
	return lp_err_set(err, -EINVAL,
		"'%.64s' is not a time (want 2011-05-09T00:00:05Z or seconds since 1970)", text);
}

static const struct {
	const char *suffix;
	int64_t us;
} span_units[] = {
	{"us", 1},
	{"ms", 1000},
	{"", US_PER_SEC},
	{"s", US_PER_SEC},
	{"m", 60 * US_PER_SEC},
	{"min", 60 * US_PER_SEC},
	{"h", 3600 * US_PER_SEC},
	{"d", US_PER_DAY},
	{"w", 7 * US_PER_DAY},
};

/* The longest accepted span: converted to nanoseconds and added to a time, it does not overflow. */
#define SPAN_TEXT_MAX_US (50000 * US_PER_DAY)

/* Parse one number and its unit, which must be smaller than `below_us`; a single number has no
 * unit. Returns the unit in microseconds; 0: this is not part of a span. */
static int64_t scan_span_part(const char **p, int64_t below_us, double *ret_us)
{
	char *end;
	double value = strtod(*p, &end);
	size_t len = strspn(end, "abcdefghijklmnopqrstuvwxyz");

	if (end == *p || !isfinite(value) || !(value >= 0 && value < 1e9))
		return 0;
	for (size_t i = 0; i < sizeof(span_units) / sizeof(span_units[0]); i++) {
		const char *suffix = span_units[i].suffix;

		if (strlen(suffix) != len || strncmp(end, suffix, len) != 0 ||
			span_units[i].us >= below_us || (!len && below_us != INT64_MAX))
			continue;
		*ret_us = value * (double)span_units[i].us;
		*p = end + len;
		return span_units[i].us;
	}
	return 0;
}

int span_parse(const char *text, int64_t *ret_us, struct lp_err *err)
{
	const char *p = text;
	int64_t unit_us = INT64_MAX;
	double us = 0;

	do {
		double part_us = 0;

		unit_us = scan_span_part(&p, unit_us, &part_us);
		us += part_us;
	} while (unit_us && isdigit((unsigned char)*p));
	if (!unit_us || *p)
		return lp_err_set(err, -EINVAL,
			"'%.64s' is not a span of time (want 100ms, 10s, 5m, 2h, 1h30m, 7d)", text);
	if (us > (double)SPAN_TEXT_MAX_US)
		return lp_err_set(err, -EINVAL, "'%.64s' is longer than 50000d", text);
	*ret_us = (int64_t)llround(us);
	return 0;
}

/* The beginning of the day that is `days` before today, in the zone of the environment. */
static int64_t day_start(int64_t now_us, int days)
{
	time_t now = (time_t)floor_div(now_us, US_PER_SEC);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return now_us;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm) * US_PER_SEC;
}

/* "12:34", "12:34:56": the last time at which a clock showed it. */
static bool parse_clock(const char *text, int64_t now_us, int64_t *ret_wall_us)
{
	time_t now = (time_t)floor_div(now_us, US_PER_SEC);
	struct tm clock = {0}, tm;
	const char *p = text;

	if (!strchr(text, ':') || !scan_clock(&p, &clock) || *p || !localtime_r(&now, &tm))
		return false;
	tm.tm_hour = clock.tm_hour;
	tm.tm_min = clock.tm_min;
	tm.tm_sec = clock.tm_sec;
	tm.tm_isdst = -1;
	if (mktime(&tm) > now) {
		tm.tm_mday--;
		tm.tm_isdst = -1;
	}
	*ret_wall_us = (int64_t)mktime(&tm) * US_PER_SEC;
	return true;
}

/* "12:34Z", "12:34 UTC", "12:34+02:00": the last time at which a clock in that zone showed it. */
static bool parse_zoned_clock(const char *text, int64_t now_us, int64_t *ret_wall_us)
{
	time_t now = (time_t)floor_div(now_us, US_PER_SEC);
	char full[TIME_TEXT_MAX];
	struct tm tm = {0};
	const char *p = text;

	if (!strchr(text, ':') || !scan_clock(&p, &tm) || !*p || !gmtime_r(&now, &tm) ||
		strlen(text) >= sizeof(full) - 16)
		return false;
	strftime(full, sizeof(full), "%Y-%m-%dT", &tm);
	strcat(full, text); /* NOLINT: it fits */
	if (!parse_iso(full, false, ret_wall_us))
		return false;
	if (*ret_wall_us > now_us)
		*ret_wall_us -= US_PER_DAY;
	else if (*ret_wall_us <= now_us - US_PER_DAY)
		*ret_wall_us += US_PER_DAY;
	return true;
}

/* "today", "yesterday", "yesterday 18:30" */
static bool parse_day(const char *text, int64_t now_us, int64_t *ret_wall_us)
{
	static const char *const days[] = {"today", "yesterday"};

	for (int back = 0; back < 2; back++) {
		size_t len = strlen(days[back]);
		struct tm clock = {0}, tm;
		const char *p = text + len;
		time_t start;

		if (strncmp(text, days[back], len) != 0)
			continue;
		*ret_wall_us = day_start(now_us, back);
		if (!*p)
			return true;
		start = (time_t)floor_div(*ret_wall_us, US_PER_SEC);
		if (*p++ != ' ' || !scan_clock(&p, &clock) || *p || !localtime_r(&start, &tm))
			return false;
		tm.tm_hour = clock.tm_hour;
		tm.tm_min = clock.tm_min;
		tm.tm_sec = clock.tm_sec;
		tm.tm_isdst = -1;
		*ret_wall_us = (int64_t)mktime(&tm) * US_PER_SEC;
		return true;
	}
	return false;
}

/* "1h", "-90m", "2d ago": a span before now. A number alone is a time, not a span. */
static bool parse_back(const char *text, int64_t now_us, int64_t *ret_wall_us)
{
	static const char ago[] = " ago";
	size_t len;
	char span[TIME_TEXT_MAX];
	int64_t us;

	text += *text == '-';
	len = strlen(text);
	if (len > strlen(ago) && !strcmp(text + len - strlen(ago), ago))
		len -= strlen(ago);
	if (!len || len >= sizeof(span) || isdigit((unsigned char)text[len - 1]))
		return false;
	memcpy(span, text, len);
	span[len] = '\0';
	if (span_parse(span, &us, NULL) < 0)
		return false;
	*ret_wall_us = now_us - us;
	return true;
}

int time_parse_typed(const char *text, int64_t now_us, int64_t *ret_wall_us, struct lp_err *err)
{
	tzset();
	if (!strcmp(text, "now"))
		*ret_wall_us = now_us;
	else if (!parse_day(text, now_us, ret_wall_us) && !parse_clock(text, now_us, ret_wall_us) &&
		!parse_zoned_clock(text, now_us, ret_wall_us) &&
		!parse_back(text, now_us, ret_wall_us) && !parse_iso(text, true, ret_wall_us) &&
		time_parse(text, ret_wall_us, NULL) < 0)
		return lp_err_set(err, -EINVAL,
			"'%.64s' is not a time (want 12:34, 1h, yesterday, 2026-11-15 06:00, "
			"2026-11-15T06:00:00Z or @SECONDS)",
			text);
	return 0;
}

int64_t span_between(int64_t first_us, int64_t last_us)
{
	int64_t us;

	if (last_us <= first_us)
		return 0;
	return __builtin_sub_overflow(last_us, first_us, &us) || us > SPAN_MAX_US ? SPAN_MAX_US
										  : us;
}

const char *span_format(int64_t us, char buf[TIME_TEXT_MAX])
{
	int64_t s = us / US_PER_SEC;

	if (us < US_PER_SEC && us % 1000 == 0 && us)
		snprintf(buf, TIME_TEXT_MAX, "%" PRId64 "ms", us / 1000);
	else if (us % US_PER_SEC)
		snprintf(buf, TIME_TEXT_MAX, "%.6gs", (double)us / 1e6);
	else if (s < 60 || (s < 3600 && s % 60))
		snprintf(buf, TIME_TEXT_MAX, "%" PRId64 "s", s);
	else if (s < 3600)
		snprintf(buf, TIME_TEXT_MAX, "%" PRId64 "m", s / 60);
	else if (s < 86400)
		snprintf(buf, TIME_TEXT_MAX, "%" PRId64 "h%02" PRId64 "m", s / 3600, s / 60 % 60);
	else
		snprintf(
			buf, TIME_TEXT_MAX, "%" PRId64 "d%02" PRId64 "h", s / 86400, s / 3600 % 24);
	return buf;
}
