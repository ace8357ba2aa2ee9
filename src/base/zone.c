#include "base/zone.h"

#include "base/cleanup.h"
#include "base/digits.h"
#include "base/file.h"
#include "base/time.h"
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX 1000000
#define DIRECTORY "/usr/share/zoneinfo/"

/* The day of a year on which the clock changes: the week-th weekday of a month (5: the last). */
struct change {
	int month, week, weekday;
	int32_t second; /* of that day, by the clock before the change */
};

struct zone {
	int64_t *at;	 /* [change] seconds since 1970 */
	int32_t *offset; /* [change] east of UTC, from this change on */
	size_t n;
	int32_t first; /* offset before all changes */
	/* After the last change, if the clock changes every year: */
	bool yearly;
	int32_t standard, summer;
	struct change begin, end; /* of summer time */
};

void zone_free(struct zone *z)
{
	if (!z)
		return;
	free(z->at);
	free(z->offset);
	free(z);
}
DEFINE_CLEANUP(struct zone *, zone_free);

static uint32_t big32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static int64_t big64(const unsigned char *p)
{
	return (int64_t)((uint64_t)big32(p) << 32 | big32(p + 4));
}

/* "-1", "3:30", "5:30:00": hours, with minutes and seconds. */
static bool hours_read(const char **p, int32_t *ret)
{
	int sign = **p == '-' ? -1 : 1, parts[3] = {0}, n = 0;

	*p += **p == '-' || **p == '+';
	while (n < 3 && isdigit((unsigned char)**p)) {
		while (isdigit((unsigned char)**p) && parts[n] < 1000)
			parts[n] = parts[n] * 10 + (*(*p)++ - '0');
		n++;
		if (**p != ':')
			break;
		++*p;
	}
	if (!n || parts[0] > 167 || parts[1] > 59 || parts[2] > 59)
		return false;
	*ret = sign * (parts[0] * 3600 + parts[1] * 60 + parts[2]);
	return true;
}

/* "CET" or "<+03>" */
static bool name_skip(const char **p)
{
	const char *from = *p;

	if (**p == '<') {
		*p = strchr(*p, '>');
		if (!*p)
			return false;
		++*p;
		return true;
	}
	while (isalpha((unsigned char)**p))
		++*p;
	return *p > from;
}

/* ",M3.5.0/2" */
static bool change_read(const char **p, struct change *ret)
{
	*ret = (struct change){.second = 7200};
	if (!digits_skip(p, ',') || !digits_skip(p, 'M') || !digits_read(p, 2, &ret->month) ||
		!digits_skip(p, '.') || !digits_read(p, 1, &ret->week) || !digits_skip(p, '.') ||
		!digits_read(p, 1, &ret->weekday))
		return false;
	if (**p == '/') {
		++*p;
		if (!hours_read(p, &ret->second))
			return false;
	}
	return ret->month >= 1 && ret->month <= 12 && ret->week >= 1 && ret->week <= 5 &&
		ret->weekday <= 6;
}

/* "CET-1CEST,M3.5.0,M10.5.0/3": the rule after the last change. */
static void rule_read(struct zone *z, const char *text)
{
	const char *p = text;
	int32_t west;

	if (!name_skip(&p) || !hours_read(&p, &west))
		return;
	z->standard = -west;
	z->summer = z->standard + 3600;
	if (!name_skip(&p))
		return;
	if (*p != ',') {
		if (!hours_read(&p, &west))
			return;
		z->summer = -west;
	}
	z->yearly = change_read(&p, &z->begin) && change_read(&p, &z->end) && !*p;
}

/* Sizes in a header of the file. */
struct counts {
	size_t n_ut, n_std, n_leap, n_times, n_types, n_chars;
};

static bool head_read(const unsigned char *p, size_t size, struct counts *ret)
{
	if (size < 44 || memcmp(p, "TZif", 4) != 0)
		return false;
	*ret = (struct counts){big32(p + 20), big32(p + 24), big32(p + 28), big32(p + 32),
		big32(p + 36), big32(p + 40)};
	return ret->n_types && ret->n_types <= 256 && ret->n_times < 100000 &&
		ret->n_chars < 100000 && ret->n_leap < 100000 && ret->n_ut <= 256 &&
		ret->n_std <= 256;
}

static size_t body_bytes(const struct counts *c, size_t time_bytes)
{
	return c->n_times * (time_bytes + 1) + c->n_types * 6 + c->n_chars +
		c->n_leap * (time_bytes + 4) + c->n_std + c->n_ut;
}

static int body_read(struct zone *z, const unsigned char *p, const struct counts *c)
{
	const unsigned char *kinds = p + c->n_times * 8, *types = kinds + c->n_times;

	z->at = calloc(c->n_times + 1, sizeof(*z->at));
	z->offset = calloc(c->n_times + 1, sizeof(*z->offset));
	if (!z->at || !z->offset)
		return -ENOMEM;
	z->first = (int32_t)big32(types);
	for (size_t i = 0; i < c->n_times; i++) {
		if (kinds[i] >= c->n_types)
			return -EBADMSG;
		z->at[i] = big64(p + 8 * i);
		z->offset[i] = (int32_t)big32(types + 6 * (size_t)kinds[i]);
		if (i && z->at[i] <= z->at[i - 1])
			return -EBADMSG;
	}
	z->n = c->n_times;
	z->standard = z->summer = z->n ? z->offset[z->n - 1] : z->first;
	return 0;
}

int zone_parse(const void *data, size_t size, struct zone **ret)
{
	_cleanup_(zone_freep) struct zone *z = calloc(1, sizeof(*z));
	const unsigned char *p = data;
	struct counts c;
	size_t skip;
	int r;

	if (!z)
		return -ENOMEM;
	if (!head_read(p, size, &c) || p[4] < '2')
		return -EBADMSG;
	skip = 44 + body_bytes(&c, 4);
	if (skip > size || !head_read(p + skip, size - skip, &c))
		return -EBADMSG;
	p += skip + 44;
	size -= skip + 44;
	if (body_bytes(&c, 8) > size)
		return -EBADMSG;
	r = body_read(z, p, &c);
	if (r < 0)
		return r;
	p += body_bytes(&c, 8);
	size -= body_bytes(&c, 8);
	if (size > 2 && size < 200 && p[0] == '\n' && memchr(p + 1, '\n', size - 1)) {
		char rule[200] = "";

		memcpy(rule, p + 1, size - 1);
		rule[strcspn(rule, "\n")] = '\0';
		rule_read(z, rule);
	}
	*ret = TAKE_PTR(z);
	return 0;
}

/* "+02:00", "-0330", "UTC" */
static bool fixed_read(const char *name, struct zone *z)
{
	int hours, minutes = 0;
	const char *p = name + 1;

	if (!strcmp(name, "UTC") || !strcmp(name, "Z"))
		return true;
	if ((name[0] != '+' && name[0] != '-') || !digits_read(&p, 2, &hours))
		return false;
	digits_skip(&p, ':');
	if ((*p && !digits_read(&p, 2, &minutes)) || *p || hours > 26 || minutes > 59)
		return false;
	z->first = z->standard = z->summer =
		(name[0] == '-' ? -1 : 1) * (hours * 60 + minutes) * 60;
	return true;
}

int zone_open(const char *name, struct zone **ret, struct lp_err *err)
{
	_cleanup_(zone_freep) struct zone *z = calloc(1, sizeof(*z));
	_cleanup_free_ char *data = NULL, *path = NULL;
	const char *tz = getenv("TZ");
	size_t size;
	int r;

	if (!z)
		return lp_err_sys(err, -ENOMEM, "cannot use a time zone");
	if (!strcmp(name, "local"))
		name = tz && *tz ? tz + (*tz == ':') : "/etc/localtime";
	if (fixed_read(name, z)) {
		*ret = TAKE_PTR(z);
		return 0;
	}
	if (strstr(name, "..") || !*name)
		return lp_err_set(err, -EINVAL, "there is no time zone '%.64s'", name);
	if (asprintf(&path, "%s%s", name[0] == '/' ? "" : DIRECTORY, name) < 0) {
		path = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot use a time zone");
	}
	if (file_slurp(path, FILE_BYTES_MAX, &data, &size, NULL) < 0)
		return lp_err_set(err, -EINVAL,
			"there is no time zone '%.64s' (want Europe/Berlin, +02:00, UTC or local; "
			"names are those in " DIRECTORY ")",
			name);
	r = zone_parse(data, size, ret);
	return r < 0 ? lp_err_sys(err, r, "cannot read the time zone %s", path) : 0;
}

/* Days since 1970 of a date. */
static int64_t days_of(int64_t year, int month, int day)
{
	int64_t y = year - (month <= 2), era = floor_div(y, 400), of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t year_of(int64_t second)
{
	int64_t year = 1970 + floor_div(second, 31556952);

	while (days_of(year, 1, 1) * 86400 > second)
		year--;
	while (days_of(year + 1, 1, 1) * 86400 <= second)
		year++;
	return year;
}

/* The time of a change in a year, by the clock before it. */
static int64_t change_at(const struct change *c, int64_t year)
{
	int64_t first = days_of(year, c->month, 1);
	int64_t next = c->month == 12 ? days_of(year + 1, 1, 1) : days_of(year, c->month + 1, 1);
	int64_t weekday = (first + 4) % 7, day;

	if (weekday < 0)
		weekday += 7;
	day = first + (c->weekday - weekday + 7) % 7 + 7 * (c->week - 1);
	if (day >= next)
		day -= 7;
	return day * 86400 + c->second;
}

/* The offset at a UTC time, by the rule. */
static int32_t offset_yearly(const struct zone *z, int64_t second)
{
	int64_t year = year_of(second + z->standard);
	int64_t begin = change_at(&z->begin, year) - z->standard;
	int64_t end = change_at(&z->end, year) - z->summer;
	bool summer =
		begin < end ? second >= begin && second < end : second >= begin || second < end;

	return summer ? z->summer : z->standard;
}

static int32_t offset_at(const struct zone *z, int64_t second)
{
	size_t low = 0, high = z->n;

	if (!z->n || second < z->at[0])
		return z->n ? z->first : z->yearly ? offset_yearly(z, second) : z->standard;
	if (second >= z->at[z->n - 1])
		return z->yearly ? offset_yearly(z, second) : z->offset[z->n - 1];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (z->at[middle] <= second)
			low = middle;
		else
			high = middle;
	}
	return z->offset[low];
}

int64_t zone_utc(const struct zone *z, int64_t local_us)
{
	int64_t second = floor_div(local_us, US_PER_SEC), part = local_us - second * US_PER_SEC;
	int64_t guess;

	if (second > INT64_C(1) << 40 || second < -(INT64_C(1) << 40))
		return local_us;
	guess = second - offset_at(z, second);
	guess = second - offset_at(z, guess);
	return guess * US_PER_SEC + part;
}
