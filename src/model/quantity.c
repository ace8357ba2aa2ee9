#include "model/quantity.h"

#include "base/array.h"
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SECTOR_BYTES 512

/* Steps of a scale: a value of at least `from` is divided by it. */
struct step {
	double from;
	const char *unit;
};

static const struct step bytes[] = {
	{1e15, " PB"}, {1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}, {0, " B"}};
static const struct step times[] = {{86400 * 2, " days"}, {3600, " h"}, {60, " min"}, {1, " s"},
	{1e-3, " ms"}, {1e-6, " us"}, {0, " ns"}};

/* The unit of the catalogue as a multiple of the scale's unit, per `per`. */
struct scale {
	const char *unit;
	const struct step *steps;
	size_t n_steps;
	double factor;
	const char *per;
};

#define SCALE(unit, steps, factor, per)                                                            \
	{                                                                                          \
		unit, steps, ARRAY_SIZE(steps), factor, per                                        \
	}

static const struct scale scales[] = {
	SCALE("bytes", bytes, 1, ""),
	SCALE("bytes/s", bytes, 1, "/s"),
	SCALE("B", bytes, 1, ""),
	SCALE("B/s", bytes, 1, "/s"),
	SCALE("kB", bytes, 1000, ""),
	SCALE("kB/s", bytes, 1000, "/s"),
	SCALE("MB", bytes, 1e6, ""),
	SCALE("MB/s", bytes, 1e6, "/s"),
	SCALE("sectors", bytes, SECTOR_BYTES, ""),
	SCALE("sectors/s", bytes, SECTOR_BYTES, "/s"),
	SCALE("ns", times, 1e-9, ""),
	SCALE("us", times, 1e-6, ""),
	SCALE("ms", times, 1e-3, ""),
	SCALE("s", times, 1, ""),
};

static const struct scale *scale_find(const char *unit)
{
	for (size_t i = 0; unit && i < ARRAY_SIZE(scales); i++) {
		if (!strcmp(scales[i].unit, unit))
			return &scales[i];
	}
	return NULL;
}

/* Three significant digits, without an exponent if people would not write one. */
static void digits_write(double value, const char *unit, const char *per, char *buf)
{
	double size = fabs(value);

	if (value == 0)
		snprintf(buf, QUANTITY_TEXT_MAX, "0%.24s%s", unit, per);
	else if (size >= 1e7 || size < 1e-4)
		snprintf(buf, QUANTITY_TEXT_MAX, "%.3g%.24s%s", value, unit, per);
	else
		snprintf(buf, QUANTITY_TEXT_MAX, "%.*f%.24s%s",
			size >= 99.95		 ? 0
				: size >= 9.995	 ? 1
				: size >= 0.9995 ? 2
						 : 3,
			value, unit, per);
}

/* The step for a value. A value that would be rounded up to the unit of the next step uses that
 * step. */
static const struct step *step_find(double value, const struct scale *s)
{
	size_t i = 0;

	while (i + 1 < s->n_steps && fabs(value) * s->factor < s->steps[i].from * 0.9995)
		i++;
	return &s->steps[i];
}

/* The divisor for a value, in the unit of the scale, at this step. */
static double step_size(const struct step *step, const struct scale *s)
{
	if (step->from == 86400 * 2)
		return 86400;
	return step->from > 0 ? step->from : s->steps == times ? 1e-9 : 1;
}

static void scaled_write(double value, const struct scale *s, char *buf)
{
	const struct step *step = step_find(value, s);

	digits_write(value * s->factor / step_size(step, s), step->unit, s->per, buf);
}

double quantity_bytes(const char *unit)
{
	const struct scale *s = scale_find(unit);

	return s && s->steps == bytes ? s->factor : NAN;
}

double quantity_unit_size(double value, const char *unit)
{
	const struct scale *s = scale_find(unit);

	return s ? step_size(step_find(value, s), s) / s->factor : 1;
}

const char *quantity_format(double value, const char *unit, char buf[QUANTITY_TEXT_MAX])
{
	const struct scale *s = scale_find(unit);
	char own[32];

	if (isnan(value)) {
		strcpy(buf, "no data"); /* NOLINT: it fits */
	} else if (isinf(value)) {
		strcpy(buf, value > 0 ? "inf" : "-inf"); /* NOLINT: it fits */
	} else if (s && value != 0) {
		scaled_write(value, s, buf);
	} else if (value == 0) {
		strcpy(buf, "0"); /* NOLINT: it fits. Zero needs no unit. */
	} else if (unit && !strncmp(unit, "1/", 2)) {
		snprintf(own, sizeof(own), "%.24s", unit + 1);
		digits_write(value, own, "", buf);
	} else if (unit && !strcmp(unit, "%")) {
		digits_write(value, "%", "", buf);
	} else {
		snprintf(own, sizeof(own), "%s%.24s", unit && *unit ? " " : "", unit ? unit : "");
		digits_write(value, own, "", buf);
	}
	return buf;
}

const char *quantity_format_tick(double value, const char *unit, char buf[QUANTITY_TEXT_MAX])
{
	char *point, *end, *behind;

	quantity_format(value, unit, buf);
	point = buf + strspn(buf, "-0123456789");
	if (*point != '.')
		return buf;
	behind = point + 1 + strspn(point + 1, "0123456789");
	for (end = behind; end > point && (end[-1] == '0' || end[-1] == '.'); end--)
		;
	if (*behind != 'e')
		memmove(end, behind, strlen(behind) + 1);
	return buf;
}

void quantity_add(struct strbuf *sb, double value, const char *unit)
{
	char buf[QUANTITY_TEXT_MAX];

	strbuf_puts(sb, quantity_format(value, unit, buf));
}

const char *quantity_format_ratio(double ratio, char buf[QUANTITY_TEXT_MAX])
{
	if (!isfinite(ratio))
		strcpy(buf, "-");	   /* NOLINT: it fits */
	else if (ratio >= 999.5)	   /* larger ratios do not matter */
		strcpy(buf, "over 1000x"); /* NOLINT: it fits */
	else
		snprintf(buf, QUANTITY_TEXT_MAX,
			ratio >= 99.5		? "%.0fx"
				: ratio < 0.995 ? "%.2fx"
						: "%.1fx",
			ratio);
	return buf;
}

void quantity_add_ratio(struct strbuf *sb, double ratio)
{
	char buf[QUANTITY_TEXT_MAX];

	strbuf_puts(sb, quantity_format_ratio(ratio, buf));
}

/* "1m19s", "2h30m", "5 days": two units at most, the second omitted if it is 0. */
static void pair_write(int64_t n, int64_t per, const char *large, const char *small, char *buf)
{
	if (n % per)
		snprintf(buf, QUANTITY_TEXT_MAX, "%" PRId64 "%c%02" PRId64 "%c", n / per, large[1],
			n % per, small[1]);
	else
		snprintf(buf, QUANTITY_TEXT_MAX, "%" PRId64 "%s", n / per, large);
}

const char *quantity_format_span(int64_t us, char buf[QUANTITY_TEXT_MAX])
{
	int64_t s = us / 1000000 + (us % 1000000 >= 500000), min = (s + 30) / 60,
		h = (min + 30) / 60;

	if (us < 1000000)
		return quantity_format((double)us, "us", buf);
	if (s < 60)
		snprintf(buf, QUANTITY_TEXT_MAX, "%" PRId64 " s", s);
	else if (s < 10 * 60)
		pair_write(s, 60, " min", " s", buf);
	else if (min < 60)
		snprintf(buf, QUANTITY_TEXT_MAX, "%" PRId64 " min", min);
	else if (h < 48)
		pair_write(min, 60, " h", " min", buf);
	else if (h < 10 * 24)
		snprintf(buf, QUANTITY_TEXT_MAX, "%.1f days", (double)h / 24);
	else
		snprintf(buf, QUANTITY_TEXT_MAX, "%" PRId64 " days", h / 24);
	return buf;
}
