#include "report/clock.h"

#include "base/time.h"
#include <time.h>

#define SHORT_US (10 * 60 * US_PER_SEC)

/* The parts of a time; false: it is outside of the calendar. */
static bool parts_of(const struct clock_style *style, int64_t wall_us, struct tm *ret)
{
	time_t t = (time_t)floor_div(wall_us, US_PER_SEC);

	return (style->utc ? gmtime_r(&t, ret) : localtime_r(&t, ret)) && ret->tm_year >= -1900 &&
		ret->tm_year <= 9999 - 1900;
}

static bool is_same_day(const struct tm *a, const struct tm *b)
{
	return a->tm_year == b->tm_year && a->tm_yday == b->tm_yday;
}

static bool is_today(const struct clock_style *style, const struct tm *tm)
{
	struct tm now;

	return style->now_us && parts_of(style, style->now_us, &now) && is_same_day(tm, &now);
}

static void add_parts(struct strbuf *sb, const struct tm *tm, bool date, bool seconds)
{
	if (date)
		strbuf_printf(
			sb, "%04d-%02d-%02d ", tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday);
	strbuf_printf(sb, "%02d:%02d", tm->tm_hour, tm->tm_min);
	if (seconds)
		strbuf_printf(sb, ":%02d", tm->tm_sec);
}

void clock_add(struct strbuf *sb, const struct clock_style *style, int64_t wall_us)
{
	char text[TIME_TEXT_MAX];
	struct tm tm;

	if (parts_of(style, wall_us, &tm))
		add_parts(sb, &tm, !is_today(style, &tm), true);
	else
		strbuf_puts(sb, time_format(wall_us, text));
}

void clock_add_later(
	struct strbuf *sb, const struct clock_style *style, int64_t wall_us, int64_t than_us)
{
	struct tm tm, than;

	if (parts_of(style, wall_us, &tm) && parts_of(style, than_us, &than) &&
		is_same_day(&tm, &than))
		add_parts(sb, &tm, false, true);
	else
		clock_add(sb, style, wall_us);
}

void clock_add_range(
	struct strbuf *sb, const struct clock_style *style, int64_t from_us, int64_t to_us)
{
	bool seconds = span_between(from_us, to_us) < SHORT_US;
	char text[TIME_TEXT_MAX];
	struct tm from, to;

	if (!parts_of(style, from_us, &from) || !parts_of(style, to_us, &to)) {
		strbuf_printf(sb, "%s to ", time_format(from_us, text));
		strbuf_puts(sb, time_format(to_us, text));
		return;
	}
	add_parts(sb, &from, !is_today(style, &from) || !is_same_day(&from, &to), seconds);
	strbuf_puts(sb, " to ");
	add_parts(sb, &to, !is_same_day(&from, &to), seconds);
	strbuf_printf(sb, " %s", style->utc ? "UTC" : to.tm_zone ? to.tm_zone : "");
}
