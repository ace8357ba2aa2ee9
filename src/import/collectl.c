/* The importer for collectl's files: raw ones (HOST-DATE-TIME.raw.gz), which contain the kernel's
 * own lines about disks and network interfaces, and files for plotting (-P), which contain finished
 * values.
 */
#include "base/array.h"
#include "base/digits.h"
#include "base/time.h"
#include "collect/collector.h"
#include "collect/parse.h"
#include "import/importer.h"
#include "import/text_source.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 16384
#define DEVICES_MAX 2048

enum { PLOT_DISK, PLOT_NET, PLOT_KINDS };

#define OUT_MAX 9

/* Columns of plot files and the columns that they become; if several become the same column, they
 * are added up. */
static const struct plot_name {
	const char *name; /* after "[DSK:sda]" */
	int kind;
	uint32_t out;
	double scale;
} plot_names[] = {
	{"Reads", PLOT_DISK, 0, 1},
	{"Writes", PLOT_DISK, 0, 1},
	{"RKBytes", PLOT_DISK, 1, 2},
	{"WKBytes", PLOT_DISK, 2, 2},
	{"Wait", PLOT_DISK, 3, 1},
	{"WaitR", PLOT_DISK, 4, 1},
	{"WaitW", PLOT_DISK, 5, 1},
	{"QueLen", PLOT_DISK, 6, 1},
	{"SvcTim", PLOT_DISK, 7, 1},
	{"Util", PLOT_DISK, 8, 1},
	{"RxPkt", PLOT_NET, 0, 1},
	{"TxPkt", PLOT_NET, 1, 1},
	{"RxKB", PLOT_NET, 2, 1024},
	{"TxKB", PLOT_NET, 3, 1024},
	{"RxErr", PLOT_NET, 4, 1},
	{"TxErr", PLOT_NET, 5, 1},
	{"RxDrp", PLOT_NET, 6, 1},
	{"TxDrp", PLOT_NET, 7, 1},
};

static const struct lp_column disk_columns[] = {
	{"tps", "1/s", LP_REAL, 0},
	{"rd_sec", "sectors/s", LP_REAL, 0},
	{"wr_sec", "sectors/s", LP_REAL, 0},
	{"await", "ms", LP_REAL, 0},
	{"r_await", "ms", LP_REAL, 0},
	{"w_await", "ms", LP_REAL, 0},
	{"avgqu-sz", "requests", LP_REAL, 0},
	{"svctm", "ms", LP_REAL, 0},
	{"%util", "%", LP_REAL, 0},
};

static const struct lp_column net_columns[] = {
	{"rxpck", "1/s", LP_REAL, 0},
	{"txpck", "1/s", LP_REAL, 0},
	{"rxbyt", "bytes/s", LP_REAL, 0},
	{"txbyt", "bytes/s", LP_REAL, 0},
	{"rxerr", "1/s", LP_REAL, 0},
	{"txerr", "1/s", LP_REAL, 0},
	{"rxdrop", "1/s", LP_REAL, 0},
	{"txdrop", "1/s", LP_REAL, 0},
};

static const struct lp_schema plot_schemas[PLOT_KINDS] = {
	{"disk", disk_columns, ARRAY_SIZE(disk_columns)},
	{"net", net_columns, ARRAY_SIZE(net_columns)},
};

/* A column of a plot file that limpet uses. */
struct plot_column {
	uint32_t device; /* index in the list of devices, plus 1; 0: not used */
	uint32_t out;
	double scale;
};

struct plot_device {
	int kind;
	char *name;
	double values[OUT_MAX];
};

struct collectl {
	char host[256];
	int64_t zone_us;	     /* of the dates in plot files, east of UTC */
	bool raw;		     /* the file has times of a raw file */
	struct plot_column *columns; /* [word] */
	size_t n_columns;
	struct plot_device *devices;
	size_t n_devices, cap_devices;
	char **words;
};

static void collectl_release(void *state)
{
	struct collectl *c = state;

	for (size_t i = 0; i < c->n_devices; i++)
		free(c->devices[i].name);
	free(c->devices);
	free(c->columns);
	free(c->words);
}

/* Lines like "# Host:       oss3  DaemonOpts: " */
static void comment_take(struct collectl *c, const char *line)
{
	const char *zone = strstr(line, " TZ: ");
	int hours, minutes;

	if (sscanf(line, "# Host: %255s", c->host) == 1) {
		for (char *p = c->host; *p; p++) {
			if (*p == '/')
				*p = '_';
		}
	}
	if (zone && (zone[5] == '+' || zone[5] == '-')) {
		const char *p = zone + 6;

		if (digits_read(&p, 2, &hours) && digits_read(&p, 2, &minutes))
			c->zone_us = (zone[5] == '-' ? -1 : 1) * (hours * 60 + minutes) * 60 *
				US_PER_SEC;
	}
}

static int need_host(const struct collectl *c, struct lp_err *err)
{
	return c->host[0] ? 0
			  : lp_err_set(err, -EBADMSG,
				    "there is no line '# Host: NAME' as collectl writes it");
}

/* ">>> 1794899012.004 <<<" */
static int mark_take(
	struct collectl *c, struct text_source *t, const char *line, struct lp_err *err)
{
	double seconds;
	char *end;
	int r = need_host(c, err);

	if (r < 0)
		return r;
	seconds = strtod(line + 3, &end);
	if (end == line + 3 || !(seconds > 0 && seconds < 1e11)) {
		text_fault(t, "'%.40s' is not a time", line);
		return 0;
	}
	c->raw = true;
	return text_sample(t, llround(seconds * 1e6), err);
}

/* "disk  254  0 vda 496013 ...", a line of /proc/diskstats. */
static int disk_take(
	struct collectl *c, struct text_source *t, const char *line, struct lp_err *err)
{
	struct disk_line disk;
	char name[PARSE_NAME_MAX + 1];
	enum parse_result r = parse_diskstats_line(&line, &disk);

	if (r == PARSE_BAD)
		text_fault(t, "this is not a line of /proc/diskstats");
	if (r != PARSE_OK)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)disk.len, disk.name);
	return text_put(t, collector_find("diskstats")->schema, c->host, name, disk.values, err);
}

/* "Net   eth0: 784979034 ...", a line of /proc/net/dev. */
static int net_take(struct collectl *c, struct text_source *t, const char *line, struct lp_err *err)
{
	struct net_line net;
	char name[PARSE_NAME_MAX + 1];
	enum parse_result r = parse_netdev_line(&line, &net);

	if (r == PARSE_BAD)
		text_fault(t, "this is not a line of /proc/net/dev");
	if (r != PARSE_OK)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)net.len, net.name);
	if (!strcmp(name, "lo"))
		return 0;
	return text_put(t, collector_find("netdev")->schema, c->host, name, net.values, err);
}

static int device_find(struct collectl *c, int kind, const char *name, size_t len, uint32_t *ret)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		if (c->devices[i].kind == kind && !strncmp(c->devices[i].name, name, len) &&
			!c->devices[i].name[len]) {
			*ret = (uint32_t)i;
			return 0;
		}
	}
	if (c->n_devices == DEVICES_MAX)
		return -E2BIG;
	if (array_reserve(&c->devices, &c->cap_devices, c->n_devices + 1, sizeof(*c->devices)) < 0)
		return -ENOMEM;
	c->devices[c->n_devices] = (struct plot_device){.kind = kind, .name = strndup(name, len)};
	if (!c->devices[c->n_devices].name)
		return -ENOMEM;
	*ret = (uint32_t)c->n_devices++;
	return 0;
}

/* "[DSK:vda]Reads" */
static int column_take(struct collectl *c, const char *word, struct plot_column *ret)
{
	static const char *const prefixes[PLOT_KINDS] = {"[DSK:", "[NET:"};
	const char *close = strchr(word, ']');

	*ret = (struct plot_column){0};
	for (size_t i = 0; close && i < ARRAY_SIZE(plot_names); i++) {
		const struct plot_name *p = &plot_names[i];
		uint32_t device;
		int r;

		if (strncmp(word, prefixes[p->kind], 5) != 0 || close == word + 5 ||
			strcmp(p->name, close + 1) != 0)
			continue;
		r = device_find(c, p->kind, word + 5, (size_t)(close - word) - 5, &device);
		if (r < 0)
			return r;
		*ret = (struct plot_column){device + 1, p->out, p->scale};
	}
	return 0;
}

/* "#Date Time [DSK:vda]Name [DSK:vda]Reads ..." */
static int header_take(struct collectl *c, char *line, struct lp_err *err)
{
	int r = need_host(c, err);

	if (r < 0)
		return r;
	if (!c->words)
		c->words = calloc(WORDS_MAX, sizeof(*c->words));
	if (!c->columns)
		c->columns = calloc(WORDS_MAX, sizeof(*c->columns));
	if (!c->words || !c->columns)
		return lp_err_sys(err, -ENOMEM, "cannot read");
	c->n_columns = text_words(line, c->words, WORDS_MAX);
	for (size_t i = 0; r == 0 && i < c->n_columns; i++)
		r = column_take(c, c->words[i], &c->columns[i]);
	return r < 0 ? lp_err_sys(err, r, "cannot read more than %d devices", DEVICES_MAX) : 0;
}

/* "20261117 07:03:39.001", or seconds since 1970 in one column. */
static bool time_take(const struct collectl *c, char *const *words, size_t *ret_first, int64_t *ret)
{
	char text[64];
	int64_t us;
	char *end;
	double seconds;

	if (strchr(words[0], '.') || strlen(words[0]) > 8) {
		seconds = strtod(words[0], &end);
		*ret = llround(seconds * 1e6);
		*ret_first = 1;
		return !*end && seconds > 0 && seconds < 1e11;
	}
	if (strlen(words[0]) != 8 || words[0][strspn(words[0], "0123456789")])
		return false;
	snprintf(text, sizeof(text), "%.4s-%.2s-%.2sT%.20sZ", words[0], words[0] + 4, words[0] + 6,
		words[1]);
	if (time_parse(text, &us, NULL) < 0)
		return false;
	*ret = us - c->zone_us;
	*ret_first = 2;
	return true;
}

/* Store the values of a line for each device. */
static int devices_put(struct collectl *c, struct text_source *t, struct lp_err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->n_devices; i++) {
		const struct plot_device *d = &c->devices[i];
		int64_t cells[OUT_MAX];

		if (d->kind == PLOT_NET && !strcmp(d->name, "lo"))
			continue;
		for (size_t k = 0; k < OUT_MAX; k++)
			cells[k] = lp_cell_from_real(d->values[k]);
		r = text_put(t, &plot_schemas[d->kind], c->host, d->name, cells, err);
	}
	return r;
}

static void value_add(double *to, double value)
{
	*to = isnan(*to) ? value : *to + value;
}

static int values_take(struct collectl *c, struct text_source *t, char *line, struct lp_err *err)
{
	size_t n = text_words(line, c->words, WORDS_MAX), first;
	int64_t us;
	int r;

	if (n != c->n_columns || n < 2 || !time_take(c, c->words, &first, &us)) {
		text_fault(t, "%zu columns where %zu are expected, or no time", n, c->n_columns);
		return 0;
	}
	for (size_t i = 0; i < c->n_devices; i++) {
		for (size_t k = 0; k < OUT_MAX; k++)
			c->devices[i].values[k] = NAN;
	}
	for (size_t i = first; i < n; i++) {
		const struct plot_column *p = &c->columns[i];
		char *end;
		double value = p->device ? strtod(c->words[i], &end) : 0;

		if (p->device && (end == c->words[i] || *end || !isfinite(value))) {
			text_fault(t, "'%.40s' is not a number", c->words[i]);
			return 0;
		}
		if (p->device)
			value_add(&c->devices[p->device - 1].values[p->out], value * p->scale);
	}
	r = text_sample(t, us, err);
	return r < 0 ? r : devices_put(c, t, err);
}

static int line_take(void *state, struct text_source *t, char *line, struct lp_err *err)
{
	struct collectl *c = state;

	if (!strncmp(line, "#Date", 5) || !strncmp(line, "#UTC", 4))
		return header_take(c, line, err);
	if (line[0] == '#') {
		comment_take(c, line);
		return 0;
	}
	if (!strncmp(line, ">>>", 3))
		return mark_take(c, t, line, err);
	if (c->raw && !strncmp(line, "disk ", 5))
		return disk_take(c, t, line + 5, err);
	if (c->raw && !strncmp(line, "Net ", 4))
		return net_take(c, t, line + 4, err);
	if (!c->raw && c->n_columns && isdigit((unsigned char)line[0]))
		return values_take(c, t, line, err);
	return 0; /* other subsystems are ignored */
}

static const struct text_format format = {
	.state_size = sizeof(struct collectl),
	.line = line_take,
	.release = collectl_release,
	.nothing = "there are no disks or network interfaces in this file of collectl; run it with "
		   "'-sDN'",
};

static int collectl_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err)
{
	(void)options;
	(void)select;
	return text_source_open(&format, path, -1, NULL, warn, ret, err);
}

static enum import_match collectl_probe(const char *path, const unsigned char *head, size_t n)
{
	(void)path;
	return n > 2 && head[0] == '#' && memmem(head, n, "\n# Collectl:", 12) ? IMPORT_YES
									       : IMPORT_NO;
}

const struct importer importer_collectl = {
	.name = "collectl",
	.summary = "raw and plot files of collectl",
	.description =
		"Reads the files that collectl writes: raw ones (collectl -sDN -f DIR), whose "
		"disks "
		"and network interfaces become the same columns that 'limpet record' records, and "
		"files for plotting (-P), whose values are taken as they are. Other subsystems are "
		"ignored.",
	.probe = collectl_probe,
	.open = collectl_open,
};
