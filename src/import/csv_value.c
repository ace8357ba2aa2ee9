#include "import/csv_value.h"

#include "base/array.h"
#include "base/time.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NUMBER_TEXT_MAX 512

static inline bool is_digit(char c)
{
	return (unsigned)(c - '0') <= 9;
}

/* A number as it is written: mantissa * 10^exponent. */
struct decimal {
	uint64_t mantissa;
	int digits; /* significant digits; the mantissa is exact up to 15 */
	int exponent;
	bool negative;
};

/* Read digits into the mantissa. Returns the place after the last one. */
static inline const char *decimal_digits(const char *p, const char *end, struct decimal *d)
{
	for (; p < end && is_digit(*p); p++) {
		if (d->digits < 18)
			d->mantissa = d->mantissa * 10 + (uint64_t)(*p - '0');
		d->digits += d->digits || *p != '0';
	}
	return p;
}

/* "e-05"; `p` is after the letter. */
static bool decimal_exponent(const char *p, const char *end, struct decimal *d)
{
	bool negative = p < end && *p == '-';
	int value = 0;

	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if (p == end)
		return false;
	for (; p < end && is_digit(*p); p++) {
		if (value < 100000)
			value = value * 10 + (*p - '0');
	}
	d->exponent += negative ? -value : value;
	return p == end;
}

static bool decimal_scan(const char *text, size_t len, struct decimal *d)
{
	const char *p = text, *end = text + len, *from;
	size_t n;

	*d = (struct decimal){.negative = len && *p == '-'};
	if (len && (*p == '-' || *p == '+'))
		p++;
	from = p;
	p = decimal_digits(p, end, d);
	n = (size_t)(p - from);
	if (p < end && *p == '.') {
		from = ++p;
		p = decimal_digits(p, end, d);
		d->exponent = -(int)(p - from);
		n += (size_t)(p - from);
	}
	if (!n)
		return false;
	if (p < end && (*p == 'e' || *p == 'E'))
		return decimal_exponent(p + 1, end, d);
	return p == end;
}

/* Numbers that the fast path cannot convert exactly. */
static enum csv_number number_slow(const char *text, size_t len, double *ret)
{
	char copy[NUMBER_TEXT_MAX];
	locale_t c;
	double value;

	if (len >= sizeof(copy))
		return CSV_GARBAGE;
	memcpy(copy, text, len);
	copy[len] = '\0';
	c = newlocale(
		LC_ALL_MASK, "C", (locale_t)0); /* the host program may have set another locale */
	if (!c)
		return CSV_GARBAGE;
	value = strtod_l(copy, NULL, c);
	freelocale(c);
	if (!isfinite(value))
		return CSV_INFINITE;
	*ret = value;
	return CSV_NUMBER;
}

static enum csv_number number_word(const char *text, size_t len)
{
	static const struct {
		const char *word;
		enum csv_number is;
	} words[] = {
		{"", CSV_MISSING},
		{"-", CSV_MISSING},
		{"na", CSV_MISSING},
		{"n/a", CSV_MISSING},
		{"nan", CSV_MISSING},
		{"-nan", CSV_MISSING}, /* printf() writes some NaNs this way */
		{"null", CSV_MISSING},
		{"none", CSV_MISSING},
		{"\\n", CSV_MISSING},  /* of databases */
		{"#n/a", CSV_MISSING}, /* of spreadsheets */
		{"inf", CSV_INFINITE},
		{"infinity", CSV_INFINITE},
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strlen(words[i].word) == len && !strncasecmp(words[i].word, text, len))
			return words[i].is;
	}
	if (len > 1 && (*text == '-' || *text == '+') &&
		number_word(text + 1, len - 1) == CSV_INFINITE)
		return CSV_INFINITE;
	return CSV_GARBAGE;
}

enum csv_number csv_number_parse(const char *text, size_t len, double *ret)
{
	static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10,
		1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
	struct decimal d;
	double value;

	*ret = (double)NAN;
	if (!decimal_scan(text, len, &d))
		return number_word(text, len);
	/* Both operands are exact doubles, so a single rounding gives the nearest double. */
	if (FLT_EVAL_METHOD != 0 || d.digits > 15 || d.exponent < -22 || d.exponent > 22)
		return number_slow(text, len, ret);
	value = (double)d.mantissa;
	value = d.exponent < 0 ? value / powers[-d.exponent] : value * powers[d.exponent];
	*ret = d.negative ? -value : value;
	return CSV_NUMBER;
}

/* The first `digits` digits of a fraction, padded with zeros. */
static int64_t fraction_digits(const char *p, const char *end, int digits)
{
	int64_t value = 0;

	for (int i = 0; i < digits; i++)
		value = value * 10 + (p < end ? *p++ - '0' : 0);
	return value;
}

/* Digits, perhaps with a fraction; their number determines the unit. */
static bool epoch_parse(const char *text, size_t len, int64_t *ret_us)
{
	const char *p = text, *end = text + len, *fraction;
	uint64_t value = 0;
	size_t n;

	while (p < end && is_digit(*p) && p - text < 19)
		value = value * 10 + (uint64_t)(*p++ - '0');
	n = (size_t)(p - text);
	fraction = p < end && *p == '.' ? p + 1 : p;
	for (const char *q = fraction; q < end; q++) {
		if (!is_digit(*q))
			return false;
	}
	if (n == 8 && fraction == end)
		return false; /* a date: left to time_parse() */
	if (n >= 1 && n <= 11)
		*ret_us = (int64_t)value * US_PER_SEC + fraction_digits(fraction, end, 6);
	else if (n == 12 || n == 13)
		*ret_us = (int64_t)value * 1000 + fraction_digits(fraction, end, 3);
	else if ((n == 15 || n == 16) && fraction == end)
		*ret_us = (int64_t)value;
	else if ((n == 18 || n == 19) && fraction == end && value <= INT64_MAX)
		*ret_us = (int64_t)value / 1000;
	else
		return false;
	return true;
}

static inline bool two_digits(const char *p, int max, int *ret)
{
	*ret = (p[0] - '0') * 10 + (p[1] - '0');
	return is_digit(p[0]) && is_digit(p[1]) && *ret <= max;
}

/* "2011-05-09T00:00:05" or with a "Z", on the same day as the previous time. */
static bool same_day_parse(const struct csv_clock *c, const char *text, size_t len, int64_t *ret_us)
{
	int h, m, s;

	if (len != 19 && (len != 20 || text[19] != 'Z'))
		return false;
	if (!c->day[0] || memcmp(text, c->day, sizeof(c->day)) ||
		(text[10] != 'T' && text[10] != ' ') || text[13] != ':' || text[16] != ':')
		return false;
	if (!two_digits(text + 11, 23, &h) || !two_digits(text + 14, 59, &m) ||
		!two_digits(text + 17, 59, &s))
		return false;
	*ret_us = c->day_us + (h * 3600 + m * 60 + s) * US_PER_SEC;
	return true;
}

/* Parse it with time_parse(), and remember its day. */
static bool clock_slow(struct csv_clock *c, const char *text, size_t len, int64_t *ret_us)
{
	char copy[CSV_TIME_MAX];

	memcpy(copy, text, len);
	copy[len] = '\0';
	if (strlen(copy) != len || time_parse(copy, ret_us, NULL) < 0)
		return false;
	if (len >= 19 && copy[4] == '-') {
		copy[10] = '\0';
		if (time_parse(copy, &c->day_us, NULL) == 0)
			memcpy(c->day, copy, sizeof(c->day));
	}
	return true;
}

/* Does a time name its zone: "...Z", "... UTC", "...+02:00", "...-0600"? */
static bool names_zone(const char *text, size_t len)
{
	const char *time = memchr(text, ':', len);

	if (text[len - 1] == 'Z' || text[len - 1] == 'z' ||
		(len > 4 && !memcmp(text + len - 4, " UTC", 4)))
		return true;
	if (!time) /* 20110509T000005+0200; a date alone has dashes of its own */
		time = memchr(text, 'T', len);
	return time &&
		(memchr(time, '+', (size_t)(text + len - time)) ||
			memchr(time, '-', (size_t)(text + len - time)));
}

bool csv_clock_parse(struct csv_clock *c, const char *text, size_t len, int64_t *ret_us)
{
	if (len == 0 || len >= CSV_TIME_MAX)
		return false;
	if (len != c->len || memcmp(text, c->text, len)) {
		int64_t us;

		bool epoch = epoch_parse(text, len, &us);

		if (!epoch && !same_day_parse(c, text, len, &us) && !clock_slow(c, text, len, &us))
			return false;
		if (!epoch && c->zone && !names_zone(text, len))
			us = zone_utc(c->zone, us);
		memcpy(c->text, text, len);
		c->len = len;
		c->us = us;
	}
	*ret_us = c->us;
	return true;
}
