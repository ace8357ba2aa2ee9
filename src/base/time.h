/* Times are int64_t microseconds since 1970-01-01 UTC ("wall_us"); text is ISO 8601. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <limpet/err.h>
#include <stdint.h>
#include <time.h>

#define US_PER_SEC INT64_C(1000000)
#define NS_PER_SEC INT64_C(1000000000)
#define US_PER_DAY (86400 * US_PER_SEC)

#define TIME_TEXT_MAX 40

/* The current time of a system clock: CLOCK_REALTIME for wall time, CLOCK_MONOTONIC for spans. */
int64_t clock_ns(clockid_t id);
/* The offset from CLOCK_MONOTONIC to time since 1970. It is right even if the measurement is
 * interrupted. */
int64_t clock_wall_offset_ns(void);
int64_t clock_us(clockid_t id);

/* The time of a clock after `span_us`, for functions that wait until a time. */
struct timespec clock_after(clockid_t id, int64_t span_us);

/* "2011-05-09T00:00:05Z"; a fraction (".25") is printed only if there is one. Times outside of the
 * years 0..9999 print as "@SECONDS". Returns `buf`. */
const char *time_format(int64_t wall_us, char buf[TIME_TEXT_MAX]);

/* "20110509T000005Z", the form of file names. Returns `buf`. */
const char *time_format_compact(int64_t wall_us, char buf[TIME_TEXT_MAX]);

/* Read an ISO 8601 time ("2011-05-09T00:00:05Z", "2011-05-09 00:00:05.25", "2011-05-09",
 * "2011/05/09", "20110509T000005Z", offsets like "+02:00"), or seconds since 1970 ("@1304899205",
 * "1304899205.5"). Text without a zone is UTC. The whole text must be used up. */
int time_parse(const char *text, int64_t *ret_wall_us, struct lp_err *err);

/* Parse a time that a person typed: all of the above, but text without a zone is in the zone of the
 * environment (TZ); also "12:34" and "12:34:56" (the last time a clock showed it), "now", "today",
 * "yesterday" (their beginning), and spans before now: "1h", "-90m", "2d ago". `now_us` is the
 * current time. */
int time_parse_typed(const char *text, int64_t now_us, int64_t *ret_wall_us, struct lp_err *err);

/* Parse a span: "100ms", "1s", "5m", "2h", "7d", "1h30m", "15" (seconds), "0.5s", at most "50000d".
 * Each unit must be smaller than the previous one. */
int span_parse(const char *text, int64_t *ret_us, struct lp_err *err);

/* "100ms", "15s", "1h30m", in a form that span_parse() accepts. */
const char *span_format(int64_t us, char buf[TIME_TEXT_MAX]);

/* The longest span that span_between() returns, about 146,000 years: two of them can be added. */
#define SPAN_MAX_US (INT64_MAX / 2)

/* The time from `first_us` to `last_us`; 0 if `last_us` is earlier. Files may contain any times: if
 * the difference overflows, it is SPAN_MAX_US. */
int64_t span_between(int64_t first_us, int64_t last_us);

/* A time in nanoseconds; times that do not fit (beyond the year 2262) become the largest or
 * smallest value. */
static inline int64_t time_ns(int64_t us)
{
	int64_t ns;

	if (__builtin_mul_overflow(us, INT64_C(1000), &ns))
		return us < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

/* Floor division for b > 0: like a / b, but also rounds down below zero. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

#endif
