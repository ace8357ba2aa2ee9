#include "report/axis.h"

#include "base/array.h"
#include "base/time.h"
#include <math.h>
#include <stdio.h>
#include <time.h>

double axis_step(double range, unsigned n)
{
	double least = range / (n ? n : 1), power;

	if (!(least > 0) || !isfinite(least))
		return 1;
	power = pow(10, floor(log10(least)));
	if (!(power > 0)) /* there is no power of ten below the smallest numbers */
		return least;
	if (least <= power)
		return power;
	return least <= 2 * power ? 2 * power : least <= 5 * power ? 5 * power : 10 * power;
}

unsigned axis_ticks(double range, unsigned n)
{
	double step = axis_step(range, n);
	unsigned ticks = 0;

	while (ticks <= n && ticks * step <= range)
		ticks++;
	return ticks;
}

int64_t axis_time_step(int64_t range_us, unsigned n)
{
	static const int64_t seconds[] = {1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600,
		2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 2 * 86400, 7 * 86400, 14 * 86400,
		28 * 86400};
	int64_t least = range_us / (n ? n : 1);

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		if (seconds[i] * US_PER_SEC >= least)
			return seconds[i] * US_PER_SEC;
	}
	return (least / US_PER_DAY + 1) * US_PER_DAY;
}

const char *axis_number(double value, char buf[AXIS_TEXT_MAX])
{
	static const char *const suffixes[] = {"", "k", "M", "G", "T", "P"};
	unsigned at = 0;

	if (!isfinite(value)) {
		snprintf(buf, AXIS_TEXT_MAX, "none");
		return buf;
	}
	/* Numbers up to 9999 are easier to read in full. */
	for (; fabs(value) >= (at ? 999.5 : 9999.5) && at + 1 < ARRAY_SIZE(suffixes); at++)
		value /= 1000;
	if (fabs(value) >= 99.5 && fabs(value) < 9999.5)
		snprintf(buf, AXIS_TEXT_MAX, "%.0f%s", value, suffixes[at]);
	else
		snprintf(buf, AXIS_TEXT_MAX, "%.3g%s", value, suffixes[at]);
	return buf;
}

const char *axis_time(int64_t wall_us, int64_t step_us, char buf[AXIS_TEXT_MAX])
{
	time_t seconds = (time_t)floor_div(wall_us, US_PER_SEC);
	struct tm tm;

	buf[0] = '\0';
	if (!gmtime_r(&seconds, &tm))
		return buf;
	if (tm.tm_hour == 0 && tm.tm_min == 0 && tm.tm_sec == 0)
		strftime(buf, AXIS_TEXT_MAX, "%-d %b", &tm);
	else
		strftime(buf, AXIS_TEXT_MAX, step_us < 60 * US_PER_SEC ? "%H:%M:%S" : "%H:%M", &tm);
	return buf;
}
