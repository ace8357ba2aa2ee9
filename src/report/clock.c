#include "report/clock.h"

#include "base/time.h"
#include <ctype.h>
#include <string.h>
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

void clock_add_zone(struct strbuf *sb, const struct clock_style *style, int64_t wall_us)
{
	struct tm tm;

	if (style->utc || !parts_of(style, wall_us, &tm) || !tm.tm_zone)
		strbuf_puts(sb, "UTC");
	else
		strbuf_puts(sb, tm.tm_zone);
}

size_t clock_iso_length(const char *text)
{
	static const char form[] = "0000-00-00T00:00:00";
	size_t n = 0;

	for (; form[n]; n++) {
		if (form[n] == '0' ? !isdigit((unsigned char)text[n]) : text[n] != form[n])
			return 0;
	}
	if (text[n] == '.')
		n += 1 + strspn(text + n + 1, "0123456789");
	return text[n] == 'Z' && strchr(" ,;:).", text[n + 1]) ? n + 1 : 0;
}

void clock_add_text(
	struct strbuf *sb, const struct clock_style *style, const char *text, int64_t than_us)
{
	bool between = true; /* words */

	while (*text) {
		size_t n = between ? clock_iso_length(text) : 0;
		char iso[TIME_TEXT_MAX] = "";
		int64_t at_us;

		if (n && n < sizeof(iso))
			memcpy(iso, text, n);
		if (!*iso || time_parse(iso, &at_us, NULL) < 0) {
			between = strchr(" (", *text);
			strbuf_putc(sb, *text++);
			continue;
		}
		clock_add_later(sb, style, at_us, than_us);
		strbuf_printf(sb, "%.*s", (int)strcspn(iso + strlen("0000-00-00T00:00:00"), "Z"),
			iso + strlen("0000-00-00T00:00:00"));
		than_us = at_us;
		text += n;
	}
}
