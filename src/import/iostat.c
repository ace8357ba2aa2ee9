/* The importer for the output of iostat -xt, as text or JSON.
 *
 * Columns are found by their names, which changed over the versions of sysstat. Times have the
 * format of the locale in which iostat ran, and no zone.
 */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/digits.h"
#include "base/temp.h"
#include "base/time.h"
#include "import/importer.h"
#include "import/text_source.h"
#include "import/unpack.h"
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 64

/* The resulting columns, named like limpet's metrics. */
enum { TPS, RD_SEC, WR_SEC, DC_SEC, AWAIT, R_AWAIT, W_AWAIT, F_AWAIT, QUEUE, SVCTM, UTIL, N_OUT };

static const struct lp_column columns[N_OUT] = {
	[TPS] = {"tps", "1/s", LP_REAL, 0},
	[RD_SEC] = {"rd_sec", "sectors/s", LP_REAL, 0},
	[WR_SEC] = {"wr_sec", "sectors/s", LP_REAL, 0},
	[DC_SEC] = {"dc_sec", "sectors/s", LP_REAL, 0},
	[AWAIT] = {"await", "ms", LP_REAL, 0},
	[R_AWAIT] = {"r_await", "ms", LP_REAL, 0},
	[W_AWAIT] = {"w_await", "ms", LP_REAL, 0},
	[F_AWAIT] = {"f_await", "ms", LP_REAL, 0},
	[QUEUE] = {"avgqu-sz", "requests", LP_REAL, 0},
	[SVCTM] = {"svctm", "ms", LP_REAL, 0},
	[UTIL] = {"%util", "%", LP_REAL, 0},
};

static const struct lp_schema schema = {"disk", columns, ARRAY_SIZE(columns)};

/* The columns that iostat prints. */
enum {
	IN_R,
	IN_W,
	IN_D,
	IN_R_SEC,
	IN_W_SEC,
	IN_D_SEC,
	IN_AWAIT,
	IN_R_AWAIT,
	IN_W_AWAIT,
	IN_D_AWAIT,
	IN_F_AWAIT,
	IN_QUEUE,
	IN_SVCTM,
	IN_UTIL,
	N_IN,
};

static const struct {
	const char *name;
	int in;
	double scale;
} names[] = {
	{"r/s", IN_R, 1},
	{"w/s", IN_W, 1},
	{"d/s", IN_D, 1},
	{"rkB/s", IN_R_SEC, 2},
	{"wkB/s", IN_W_SEC, 2},
	{"dkB/s", IN_D_SEC, 2},
	{"rMB/s", IN_R_SEC, 2048},
	{"wMB/s", IN_W_SEC, 2048},
	{"dMB/s", IN_D_SEC, 2048},
	{"rsec/s", IN_R_SEC, 1},
	{"wsec/s", IN_W_SEC, 1},
	{"await", IN_AWAIT, 1},
	{"r_await", IN_R_AWAIT, 1},
	{"w_await", IN_W_AWAIT, 1},
	{"d_await", IN_D_AWAIT, 1},
	{"f_await", IN_F_AWAIT, 1},
	{"avgqu-sz", IN_QUEUE, 1},
	{"aqu-sz", IN_QUEUE, 1},
	{"svctm", IN_SVCTM, 1},
	{"%util", IN_UTIL, 1},
	{"util", IN_UTIL, 1},
};

struct iostat {
	char host[256];
	int in[WORDS_MAX]; /* [word in a device's line] 1 + the index of its column */
	size_t n_words;	   /* words in such a line; 0: no such line is expected */
	bool first_passed; /* the first report, which covers the time since boot, was read */
	bool has_time;	   /* this report has a time */
	int64_t time_us;
};

/* "Linux 6.1.0 (host)  11/17/26  _x86_64_  (2 CPU)" */
static bool head_take(struct iostat *s, const char *line)
{
	const char *open = strchr(line, '('), *close = open ? strchr(open, ')') : NULL;

	if (strncmp(line, "Linux ", 6) != 0 || !close || close - open > 255)
		return false;
	snprintf(s->host, sizeof(s->host), "%.*s", (int)(close - open) - 1, open + 1);
	for (char *p = s->host; *p; p++) {
		if (*p == '/')
			*p = '_';
	}
	s->first_passed = false;
	s->has_time = false;
	s->n_words = 0;
	return s->host[0] != '\0';
}

/* Three numbers with the same separator: a date in some locale. */
static bool date_read(const char *text, struct tm *tm)
{
	int a, b, c;
	char x;

	if (!digits_read(&text, 4, &a) || !*text || !strchr("./-", *text))
		return false;
	x = *text;
	if (!digits_skip(&text, x) || !digits_read(&text, 2, &b) || !digits_skip(&text, x) ||
		!digits_read(&text, 4, &c) || *text)
		return false;
	if (a > 31) { /* 2026-11-17 */
		tm->tm_year = a;
		tm->tm_mon = b;
		tm->tm_mday = c;
	} else if (x == '.' || x == '-' || a > 12) { /* 17.11.2026 */
		tm->tm_mday = a;
		tm->tm_mon = b;
		tm->tm_year = c;
	} else { /* 11/17/26, as in the C locale */
		tm->tm_mon = a;
		tm->tm_mday = b;
		tm->tm_year = c;
	}
	if (tm->tm_year < 100)
		tm->tm_year += 2000;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	return tm->tm_mon >= 0 && tm->tm_mon < 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31 &&
		tm->tm_year > 60 && tm->tm_year < 300;
}

static bool clock_read(const char *text, const char *half, struct tm *tm)
{
	if (!digits_read(&text, 2, &tm->tm_hour) || !digits_skip(&text, ':') ||
		!digits_read(&text, 2, &tm->tm_min) || !digits_skip(&text, ':') ||
		!digits_read(&text, 2, &tm->tm_sec) || *text)
		return false;
	if (half && !strcasecmp(half, "PM") && tm->tm_hour < 12)
		tm->tm_hour += 12;
	else if (half && !strcasecmp(half, "AM") && tm->tm_hour == 12)
		tm->tm_hour = 0;
	return tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 61;
}

/* The time at which a local clock shows this. When summer time ends it shows an hour twice: then
 * the first time after the report before. */
static time_t local_time(const struct tm *tm, int64_t before_us)
{
	struct tm usual = *tm;

	for (int dst = 1; dst >= 0; dst--) {
		struct tm one = *tm;
		time_t t;

		one.tm_isdst = dst;
		t = mktime(&one);
		if (one.tm_isdst == dst && (int64_t)t * US_PER_SEC > before_us)
			return t;
	}
	usual.tm_isdst = -1;
	return mktime(&usual);
}

/* The time of a report: ISO 8601, or a date and a time of day in the zone of the environment.
 * `*time_us` is that of the report before. */
static bool time_take(const char *text, int64_t *time_us)
{
	_cleanup_free_ char *copy = strdup(text);
	struct tm tm = {0};
	char *words[4];
	size_t n = copy ? text_words(copy, words, 4) : 0;
	time_t t;

	if (n == 1 && strchr(words[0], 'T'))
		return time_parse(words[0], time_us, NULL) == 0;
	if (n != 2 && n != 3)
		return false;
	if (!date_read(words[0], &tm) || !clock_read(words[1], n == 3 ? words[2] : NULL, &tm))
		return false;
	t = local_time(&tm, *time_us);
	if (t != (time_t)-1)
		*time_us = (int64_t)t * US_PER_SEC;
	return t != (time_t)-1;
}

/* "Device   r/s   rkB/s ..." */
static void header_take(struct iostat *s, struct text_source *t, char *line)
{
	char *words[WORDS_MAX];
	size_t known = 0;

	s->n_words = text_words(line, words, WORDS_MAX);
	for (size_t i = 0; i < s->n_words; i++) {
		s->in[i] = 0;
		for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
			if (!strcmp(words[i], names[k].name))
				s->in[i] = (int)k + 1;
		}
		known += s->in[i] > 0;
	}
	if (known < 4) {
		text_fault(t, "these are not the columns of iostat -x");
		s->n_words = 0;
	}
}

static double sum3(double a, double b, double c)
{
	return (isnan(a) ? 0 : a) + (isnan(b) ? 0 : b) + (isnan(c) ? 0 : c);
}

/* For newer versions: the mean over reads, writes and discards. */
static double await_of(const double *in)
{
	double n = sum3(in[IN_R], in[IN_W], in[IN_D]);

	if (!isnan(in[IN_AWAIT]))
		return in[IN_AWAIT];
	if (isnan(in[IN_R_AWAIT]))
		return NAN;
	return n > 0 ? sum3(in[IN_R] * in[IN_R_AWAIT], in[IN_W] * in[IN_W_AWAIT],
			       in[IN_D] * in[IN_D_AWAIT]) /
			n
		     : 0;
}

static int device_put(struct iostat *s, struct text_source *t, const char *name, const double *in,
	struct lp_err *err)
{
	const double out[N_OUT] = {
		[TPS] = sum3(in[IN_R], in[IN_W], in[IN_D]),
		[RD_SEC] = in[IN_R_SEC],
		[WR_SEC] = in[IN_W_SEC],
		[DC_SEC] = in[IN_D_SEC],
		[AWAIT] = await_of(in),
		[R_AWAIT] = in[IN_R_AWAIT],
		[W_AWAIT] = in[IN_W_AWAIT],
		[F_AWAIT] = in[IN_F_AWAIT],
		[QUEUE] = in[IN_QUEUE],
		[SVCTM] = in[IN_SVCTM],
		[UTIL] = in[IN_UTIL],
	};
	int64_t cells[N_OUT];

	for (size_t i = 0; i < N_OUT; i++)
		cells[i] = lp_cell_from_real(out[i]);
	return text_put(t, &schema, s->host, name, cells, err);
}

/* A device's line under the header. Some locales have a decimal comma. */
static int device_take(struct iostat *s, struct text_source *t, char *line, struct lp_err *err)
{
	char *words[WORDS_MAX];
	size_t n = text_words(line, words, WORDS_MAX);
	double in[N_IN];

	for (size_t i = 0; i < N_IN; i++)
		in[i] = NAN;
	if (n != s->n_words) {
		text_fault(t, "%zu columns where %zu are expected", n, s->n_words);
		return 0;
	}
	for (size_t i = 1; i < n; i++) {
		char *comma = strchr(words[i], ','), *end;
		double value;

		if (!s->in[i])
			continue;
		if (comma)
			*comma = '.';
		value = strtod(words[i], &end);
		if (end == words[i] || *end || !isfinite(value)) {
			text_fault(t, "'%.40s' is not a number", words[i]);
			return 0;
		}
		in[names[s->in[i] - 1].in] = value * names[s->in[i] - 1].scale;
	}
	return device_put(s, t, words[0], in, err);
}

static int line_take(void *state, struct text_source *t, char *line, struct lp_err *err)
{
	struct iostat *s = state;

	if (!line[strspn(line, " \t")]) {
		s->n_words = 0;
		return 0;
	}
	if (head_take(s, line) || !strncmp(line, "avg-cpu:", 8) || line[0] == ' ')
		return 0;
	if (!strncmp(line, "Device", 6)) {
		if (!s->host[0])
			return lp_err_set(err, -EBADMSG,
				"this is not iostat's output: it does not begin with a line 'Linux "
				"VERSION "
				"(HOST) DATE'");
		if (!s->has_time)
			return lp_err_set(err, -EBADMSG,
				"there are no times in this output of iostat: run it with -t");
		header_take(s, t, line);
		s->has_time = false;
		if (!s->first_passed) {
			s->first_passed = true;
			s->n_words = 0;
			return 0;
		}
		return text_sample(t, s->time_us, err);
	}
	if (time_take(line, &s->time_us)) {
		s->has_time = true;
		return 0;
	}
	/* The lines after the header of the first report are skipped. */
	return s->n_words ? device_take(s, t, line, err) : 0;
}

static const struct text_format format = {
	.state_size = sizeof(struct iostat),
	.line = line_take,
	.nothing = "there is no report of iostat -xt, other than perhaps the first, which "
		   "covers the time since the machine started",
};

/* Can the text be a word of a line? */
static bool is_word(const char *text)
{
	return text && *text && !text[strcspn(text, " \t\r\n")];
}

/* Write a report as iostat's text. The columns of the first disk apply to all disks. */
static void json_report(FILE *out, const json_t *report)
{
	const char *time = json_string_value(json_object_get(report, "timestamp")), *key;
	json_t *disks = json_object_get(report, "disk"), *first = json_array_get(disks, 0);
	json_t *value;

	fprintf(out, "\n%s\nDevice", time && !strpbrk(time, "\r\n") ? time : "");
	json_object_foreach(first, key, value)
	{
		if (json_is_number(value) && is_word(key))
			fprintf(out, " %s", key);
	}
	fputc('\n', out);
	for (size_t i = 0; i < json_array_size(disks); i++) {
		json_t *disk = json_array_get(disks, i);
		const char *name = json_string_value(json_object_get(disk, "disk_device"));

		fputs(is_word(name) ? name : "?", out);
		json_object_foreach(first, key, value)
		{
			if (json_is_number(value) && is_word(key))
				fprintf(out, " %.17g",
					json_number_value(json_object_get(disk, key)));
		}
		fputc('\n', out);
	}
}

/* Convert a document of iostat -o JSON to text. */
static int json_translate(const json_t *root, const char *path, int fd, struct lp_err *err)
{
	const json_t *hosts = json_object_get(json_object_get(root, "sysstat"), "hosts");
	_cleanup_fclose_ FILE *out = fdopen(dup(fd), "we");

	if (!json_is_array(hosts))
		return lp_err_set(err, -EBADMSG, "%s is JSON, but not iostat's", path);
	if (!out)
		return lp_err_sys(err, -errno, "cannot read %s", path);
	for (size_t i = 0; i < json_array_size(hosts); i++) {
		const json_t *host = json_array_get(hosts, i);
		const json_t *reports = json_object_get(host, "statistics");
		const char *name = json_string_value(json_object_get(host, "nodename"));

		fprintf(out, "Linux - (%s)\n", name && !strpbrk(name, "()\r\n") ? name : "");
		for (size_t k = 0; k < json_array_size(reports); k++)
			json_report(out, json_array_get(reports, k));
	}
	if (fflush(out) != 0)
		return lp_err_sys(err, -errno, "cannot write a temporary file for %s", path);
	return lseek(fd, 0, SEEK_SET) < 0 ? lp_err_sys(err, -errno, "cannot read %s", path) : 0;
}

/* A file descriptor for the text of a JSON document. */
static int json_open(const char *path, int in, struct lp_err *err)
{
	_cleanup_close_ int out = -1;
	json_error_t fault;
	json_t *root = json_loadfd(in, 0, &fault);
	int r;

	if (!root)
		return lp_err_set(
			err, -EBADMSG, "%s:%d: this is not JSON: %s", path, fault.line, fault.text);
	out = temp_file_make(err);
	r = out < 0 ? out : json_translate(root, path, out, err);
	json_decref(root);
	return r < 0 ? r : TAKE_FD(out);
}

static int iostat_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	struct lp_err damage = {0};
	_cleanup_close_ int in = unpack_open(path, &damage, err);
	char first = ' ';

	(void)options;
	(void)select;
	if (in < 0)
		return in;
	for (off_t at = 0; isspace((unsigned char)first); at++) {
		if (pread(in, &first, 1, at) != 1)
			break;
	}
	if (first == '{') {
		int text = damage.code ? damage.code : json_open(path, in, err);

		if (damage.code && err)
			*err = damage;
		if (text < 0)
			return text;
		close(in);
		in = text;
	}
	return text_source_open(&format, path, TAKE_FD(in), &damage, warn, ret, err);
}

static enum import_match iostat_probe(const char *path, const unsigned char *head, size_t n)
{
	(void)path;
	if (n > 6 && !memcmp(head, "Linux ", 6) &&
		(memmem(head, n, "avg-cpu:", 8) || memmem(head, n, "\nDevice", 7)))
		return IMPORT_YES;
	if (n && (head[0] == '{' || isspace(head[0])) && memmem(head, n, "\"sysstat\"", 9) &&
		memmem(head, n, "\"statistics\"", 12))
		return IMPORT_YES;
	return IMPORT_NO;
}

const struct importer importer_iostat = {
	.name = "iostat",
	.summary = "output of iostat -xt, as text or JSON",
	.description = "Reads the output of 'iostat -xt SECONDS' (sysstat 10 to 12), as text or "
		       "with '-o JSON'. The first report, which covers the time since the machine "
		       "started, is skipped.\n"
		       "\n"
		       "The times have no zone unless iostat ran with S_TIME_FORMAT=ISO: they are "
		       "read as local time (TZ). A date like 11/10/26 has the month first, as in "
		       "the C locale; 10.11.26 has the day first.",
	.probe = iostat_probe,
	.open = iostat_open,
};
