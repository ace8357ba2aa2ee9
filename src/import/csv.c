#include "base/array.h"
#include "base/cleanup.h"
#include "base/safe_text.h"
#include "base/time.h"
#include "base/zone.h"
#include "import/csv_batch.h"
#include "import/csv_events.h"
#include "import/csv_steps.h"
#include "import/csv_value.h"
#include "import/importer.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define CHUNK_VALUES ((size_t)2 << 20)	 /* sorted at a time */
#define OPENING_VALUES ((size_t)1 << 16) /* read at once to learn the interval */
#define EVENTS_EVERY_US (15 * US_PER_SEC)
#define WARNINGS_MAX 10 /* per file; further ones are only counted */

struct csv_source {
	struct lp_source base;
	struct csv_reader reader;
	struct csv_layout layout;
	struct csv_series series;
	struct csv_rows rows;
	struct csv_batcher batcher;
	struct csv_clock clock;
	struct zone *zone;
	const struct lp_select *select;
	struct lp_warn *warn;
	size_t chunk_values;
	enum csv_events events;
	int64_t events_every_us;
	uint64_t events_max;
	uint64_t n_rows;   /* good ones */
	uint64_t n_faults; /* bad rows and values */
	char first_fault[256];
	bool batching;	       /* batches of the chunk are being delivered */
	bool finished;	       /* the summary was reported */
	bool ended;	       /* nothing more to read */
	struct lp_err failure; /* why reading ended early; no code: it did not */
};

/* Count an error in the current row. Only the first few are reported. */
static void fault(struct csv_source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void fault(struct csv_source *s, const char *fmt, ...)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "line %" PRIu64 ": ", s->reader.line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, sizeof(text) - (size_t)n, fmt, ap);
	va_end(ap);
	safe_text_make(text);
	if (s->n_faults++ == 0)
		memcpy(s->first_fault, text, sizeof(text));
	if (s->n_faults <= WARNINGS_MAX)
		lp_warn_raise(s->warn, "%s: %s", s->base.path, text);
}

static void fault_of_reader(struct csv_source *s)
{
	if (s->reader.nul)
		fault(s, "byte %" PRIu64 " is NUL, so this is not text", s->reader.nul - 1);
	else
		fault(s, "%s", s->reader.fault);
}

/* The fields of a row without additional empty ones. There must be as many as in the header. */
static size_t row_length(const struct csv_source *s)
{
	const struct csv_reader *r = &s->reader;
	size_t n = r->n_fields;

	while (n > s->layout.n_fields && !r->fields[n - 1].len)
		n--;
	return n;
}

/* A row that has no time, or too many or too few fields. In files that were appended to each other
 * the header comes again. If it has other columns, nothing after it can be understood. */
static int row_refuse(struct csv_source *s, struct lp_err *err)
{
	const struct csv_field *time = &s->reader.fields[s->layout.time];
	size_t n = row_length(s);

	if (csv_layout_is_own_header(&s->layout, &s->reader))
		return 0;
	if (csv_layout_is_header(&s->layout, &s->reader))
		return lp_err_set(err, -EBADMSG,
			"another header with other columns; everything from here on is left out");
	if (n != s->layout.n_fields)
		fault(s, "%zu fields where %zu are expected", n, s->layout.n_fields);
	else
		fault(s, "'%.*s' is not a time (want 2011-05-09T00:00:05Z or seconds since 1970)",
			(int)(time->len < 64 ? time->len : 64), time->text);
	return 0;
}

static bool time_is_wanted(const struct lp_select *select, int64_t us)
{
	return !select ||
		((!select->from_us || us >= select->from_us) &&
			(!select->to_us || us < select->to_us));
}

/* If the separator is not a comma, numbers may have a decimal comma. */
static enum csv_number number_read(
	const struct csv_source *s, const struct csv_field *f, double *ret)
{
	enum csv_number is = csv_number_parse(f->text, f->len, ret);
	char copy[64];
	char *comma;

	if (is != CSV_GARBAGE || s->reader.separator == ',' || f->len >= sizeof(copy) ||
		memchr(f->text, '.', f->len))
		return is;
	memcpy(copy, f->text, f->len);
	comma = memchr(copy, ',', f->len);
	if (!comma)
		return is;
	*comma = '.';
	return csv_number_parse(copy, f->len, ret);
}

static void row_value(struct csv_source *s, const struct csv_field *f, double *ret)
{
	switch (number_read(s, f, ret)) {
	case CSV_NUMBER:
	case CSV_MISSING:
		break;
	case CSV_INFINITE: /* treated like a very large value: the code that makes tables reports
			    * it */
		*ret = INFINITY;
		break;
	case CSV_GARBAGE:
		fault(s, "'%.*s' is not a number; taken as missing",
			(int)(f->len < 64 ? f->len : 64), f->text);
		break;
	}
}

/* Store the values of a row with known time and component. */
static int row_store(struct csv_source *s, const struct csv_field *fields, int64_t us,
	uint32_t component, struct lp_err *err)
{
	const struct csv_layout *l = &s->layout;
	const struct csv_kind *k;
	uint16_t column = 0;
	double *values;

	if (!l->wide) {
		int r = csv_series_column(&s->series, component, &fields[l->metric], &column, err);

		if (r < 0)
			return r;
	}
	values = csv_rows_add(&s->rows, us, component, column);
	if (!values)
		return lp_err_sys(err, -ENOMEM, "cannot keep %zu rows", s->rows.n);
	k = &s->series.kinds[s->series.components[component].kind];
	for (size_t i = 0; i < l->n_values; i++) {
		values[i] = 0; /* an unselected column */
		if (!l->wide || k->wanted[i / 64] >> (i % 64) & 1)
			row_value(s, &fields[l->values[i].column], &values[i]);
	}
	return 0;
}

/* Use the fields of a row, or of a part of it. */
static int fields_take(
	struct csv_source *s, const struct csv_field *fields, int64_t us, struct lp_err *err)
{
	struct lp_err bad = {0};
	uint32_t component;
	int r = csv_series_component(&s->series, fields, &component, &bad);

	if (r == 0 && s->series.components[component].wanted)
		r = row_store(s, fields, us, component, &bad);
	if (r == -ENOMEM)
		*err = bad;
	else if (r < 0)
		fault(s, "%s", bad.text);
	return r;
}

/* A row with one value for each of many components. */
static int across_take(struct csv_source *s, int64_t us, struct lp_err *err)
{
	const struct csv_layout *l = &s->layout;
	int r = 0;

	for (size_t i = 0; r != -ENOMEM && i < l->n_across; i++) {
		const struct csv_field fields[3] = {
			{.text = l->across[i].name, .len = strlen(l->across[i].name)},
			{.text = l->across_metric, .len = strlen(l->across_metric)},
			s->reader.fields[l->across[i].column]};

		r = fields_take(s, fields, us, err);
	}
	return r;
}

/* Use one row. Only a lack of memory and other columns are errors; a bad value is a fault. */
static int row_take(struct csv_source *s, struct lp_err *err)
{
	const struct csv_field *time = &s->reader.fields[s->layout.time];
	int64_t us;
	int r;

	if (row_length(s) != s->layout.n_fields ||
		!csv_clock_parse(&s->clock, time->text, time->len, &us))
		return row_refuse(s, err);
	s->n_rows++;
	if (!time_is_wanted(s->select, us))
		return 0;
	r = s->layout.n_across ? across_take(s, us, err)
			       : fields_take(s, s->reader.fields, us, err);
	if (r < 0 && r != -ENOMEM)
		s->n_rows--;
	return r == -ENOMEM ? r : 0;
}

/* Read rows until there are `max_values` values. An error ends reading; it is reported after all
 * earlier data has been delivered. */
static void source_fill(struct csv_source *s, size_t max_values)
{
	while (!s->ended && s->rows.n * s->rows.width < max_values) {
		int r = csv_reader_next(&s->reader, &s->failure);

		if (r == 1 && s->reader.fault)
			fault_of_reader(s);
		else if (r == 1)
			r = row_take(s, &s->failure);
		else if (r == 0) {
			s->ended = true;
			s->failure = s->reader.damage;
		}
		if (r < 0) {
			s->ended = true;
			lp_err_prefix(
				&s->failure, "%s: line %" PRIu64, s->base.path, s->reader.line);
		}
	}
}

/* Several values of a component at the same time: usually its name lacks a part that distinguishes
 * it from others, and most of the data is not used. */
static void warn_replaced(const struct csv_source *s)
{
	const struct csv_batcher *b = &s->batcher;
	const struct lp_component *c;
	char at[TIME_TEXT_MAX], name[192];

	if (!b->n_replaced)
		return;
	c = &s->base.catalogue->components[b->replaced];
	snprintf(name, sizeof(name), "%s/%s:%s", c->observer,
		s->base.catalogue->schemas[c->schema].kind, c->name);
	safe_text_make(name);
	lp_warn_raise(s->warn,
		"%s: %" PRIu64
		" values were replaced by a later one of the same component and time "
		"(the first: %s at %s); does the name tell all components apart?",
		s->base.path, b->n_replaced, name, time_format(b->replaced_us, at));
}

/* The end of the data: 0, or the error. */
static int source_finish(struct csv_source *s, struct lp_err *err)
{
	if (!s->finished)
		warn_replaced(s);
	if (s->n_faults > WARNINGS_MAX && !s->finished)
		lp_warn_raise(s->warn, "%s: %" PRIu64 " bad rows or values in all, %d shown",
			s->base.path, s->n_faults, WARNINGS_MAX);
	s->finished = true;
	if (s->failure.code) {
		if (err)
			*err = s->failure;
		return s->failure.code;
	}
	if (s->n_faults)
		return lp_err_set(err, -EBADMSG,
			"%s: %" PRIu64 " bad row%s or value%s left out (the first at %s)",
			s->base.path, s->n_faults, s->n_faults == 1 ? "" : "s",
			s->n_faults == 1 ? " was" : "s were", s->first_fault);
	return 0;
}

static int csv_next(struct lp_source *base, struct lp_batch **ret_batch, struct lp_err *err)
{
	struct csv_source *s = (struct csv_source *)base;
	int r;

	for (;;) {
		if (s->batching) {
			r = csv_batcher_next(&s->batcher, &s->rows, &s->series, err);
			if (r == 1)
				*ret_batch = s->batcher.batch;
			if (r != 0)
				return r < 0 ? lp_err_prefix(err, "%s", base->path) : r;
			csv_rows_clear(&s->rows);
			s->batching = false;
		}
		source_fill(s, s->chunk_values);
		if (!s->rows.n)
			return source_finish(s, err);
		if (!s->ended)
			csv_rows_hold(&s->rows);
		r = csv_batcher_begin(&s->batcher, &s->rows, &s->series, err);
		if (r < 0)
			return lp_err_prefix(err, "%s", base->path);
		s->batching = true;
	}
}

static void csv_close(struct lp_source *base)
{
	struct csv_source *s = (struct csv_source *)base;

	csv_batcher_release(&s->batcher);
	csv_rows_release(&s->rows);
	csv_series_release(&s->series);
	csv_layout_release(&s->layout);
	csv_reader_close(&s->reader);
	zone_free(s->zone);
	lp_catalogue_free(base->catalogue);
	free(base->path);
	free(s);
}

static const struct lp_source_ops csv_ops = {.next = csv_next, .close = csv_close};

/* Binary files without a NUL in their first line are recognised by other control bytes. */
static bool field_is_text(const struct csv_field *f)
{
	for (size_t i = 0; i < f->len; i++) {
		if (iscntrl((unsigned char)f->text[i]) && !isspace((unsigned char)f->text[i]))
			return false;
	}
	return true;
}

/* Read the first row and find the columns in it. */
static int source_layout(struct csv_source *s, const struct csv_options *o, struct lp_err *err)
{
	const char *path = s->base.path;
	int r = csv_layout_separator(&s->reader, o, err);

	if (r == 0)
		r = csv_reader_next(&s->reader, err);
	if (r < 0)
		return lp_err_prefix(err, "%s", path);
	if (r == 0)
		return lp_err_set(err, -ENODATA, "%s is empty", path);
	if (s->reader.nul)
		return lp_err_set(err, -EBADMSG, "%s is not text: byte %" PRIu64 " is NUL", path,
			s->reader.nul - 1);
	for (size_t i = 0; i < s->reader.n_fields; i++) {
		if (!field_is_text(&s->reader.fields[i]))
			return lp_err_set(err, -EBADMSG,
				"%s is not text: there are control characters in line %" PRIu64,
				path, s->reader.line);
	}
	if (s->reader.fault)
		return lp_err_set(err, -EBADMSG, "%s: line %" PRIu64 ": %s", path, s->reader.line,
			s->reader.fault);
	r = csv_layout_init(&s->layout, o, &s->reader, path, err);
	return r < 0 ? lp_err_prefix(err, "%s: line %" PRIu64, path, s->reader.line) : 0;
}

/* Components of one kind may have different sampling intervals. */
static int64_t source_interval_us(const struct csv_source *s, int64_t usual_us)
{
	size_t n = s->series.names.n;
	_cleanup_free_ uint32_t *kinds = calloc(n + 1, sizeof(*kinds));

	if (!kinds)
		return usual_us;
	for (size_t i = 0; i < n; i++)
		kinds[i] = s->series.components[i].kind;
	return csv_steps_interval_us(&s->rows, kinds, n, s->series.kind_names.n, usual_us);
}

/* Read rows until there are `max_values` values, and find the interval between samples; false if it
 * is not clear. */
static bool source_learn(struct csv_source *s, size_t max_values)
{
	bool usual;

	source_fill(s, max_values < s->chunk_values ? max_values : s->chunk_values);
	if (csv_rows_sort(&s->rows) < 0)
		return true; /* no interval; the first batch will fail for the same reason */
	s->base.interval_us = csv_rows_interval_us(&s->rows, s->series.names.n, &usual);
	if (!usual)
		s->base.interval_us = csv_steps_about_us(&s->rows, s->series.names.n);
	s->base.interval_us = source_interval_us(s, s->base.interval_us);
	return usual;
}

/* Read the first rows, to check that there are any and to find their interval. */
static int source_begin(struct csv_source *s, struct lp_err *err)
{
	int r = csv_series_init(&s->series, s->base.catalogue, s->select, &s->layout, err);
	uint64_t line = s->reader.line;

	if (r < 0)
		return r;
	csv_rows_init(&s->rows, s->layout.n_values);
	if (s->layout.headless) {
		r = row_take(s, err);
		if (r < 0)
			return r;
	}
	if (!source_learn(s, s->events ? s->chunk_values : OPENING_VALUES) && !s->events)
		source_learn(s, s->chunk_values);
	r = csv_events_sample(&s->rows, s->events, s->events_every_us, s->events_max, err);
	if (r < 0)
		return lp_err_prefix(err, "%s", s->base.path);
	if (s->events)
		s->base.interval_us = s->events_every_us;
	if (!s->ended || s->n_rows)
		return 0;
	if (s->n_faults || s->failure.code)
		return source_finish(s, err);
	return lp_err_set(err, -ENODATA, "%s has a header at line %" PRIu64 " and no rows",
		s->base.path, line);
}

DEFINE_CLEANUP(struct lp_source *, lp_source_close);

static int csv_open(const char *path, const void *options, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret_source, struct lp_err *err)
{
	static const struct csv_options defaults;
	const struct csv_options *o = options ? options : &defaults;
	struct csv_source *s = calloc(1, sizeof(*s));
	_cleanup_(lp_source_closep) struct lp_source *source = s ? &s->base : NULL;
	int r;

	if (!s)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	s->base.ops = &csv_ops;
	s->reader.fd = -1;
	s->select = select;
	s->warn = warn;
	s->chunk_values = o->chunk_values ? o->chunk_values : CHUNK_VALUES;
	s->events_every_us = o->events_every_us ? o->events_every_us : EVENTS_EVERY_US;
	s->events_max = o->events_max;
	r = csv_events_parse(o->events, &s->events, err);
	if (r == 0 && o->zone)
		r = zone_open(o->zone, &s->zone, err);
	if (r < 0)
		return r;
	s->clock.zone = s->zone;
	if (s->events) /* a held value may have begun earlier */
		s->chunk_values = SIZE_MAX;
	s->base.path = strdup(path);
	s->base.catalogue = lp_catalogue_new();
	if (!s->base.path || !s->base.catalogue)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	r = csv_reader_open(&s->reader, path, err);
	if (r == 0)
		r = source_layout(s, o, err);
	if (r == 0)
		r = source_begin(s, err);
	if (r < 0)
		return r;
	*ret_source = TAKE_PTR(source);
	return 0;
}

/* Lines that decide whether a file is CSV. */
#define PROBE_LINES 4

static bool has_csv_extension(const char *path)
{
	static const char *const extensions[] = {".csv", ".tsv", ".csv.gz", ".csv.zst", ".csv.xz"};
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(extensions); i++) {
		size_t n = strlen(extensions[i]);

		if (len > n && !strcasecmp(path + len - n, extensions[i]))
			return true;
	}
	return false;
}

/* The separators of a line, outside of quotes. */
static size_t separators_count(const unsigned char *line, size_t n)
{
	bool quoted = false;
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		quoted ^= line[i] == '"';
		count += !quoted && (line[i] == ',' || line[i] == ';' || line[i] == '\t');
	}
	return count;
}

static bool is_text(const unsigned char *head, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (iscntrl(head[i]) && head[i] != '\t' && head[i] != '\r' && head[i] != '\n')
			return false;
	}
	return true;
}

/* Is a word one of the fields of the line? */
static bool line_names(const unsigned char *line, size_t n, const char *word)
{
	size_t len = strlen(word);

	for (size_t at = 0; at < n;) {
		size_t end = at;

		while (end < n && !strchr(",;\t\r", line[end]))
			end++;
		if (end - at == len && !memcmp(line + at, word, len))
			return true;
		at = end + 1;
	}
	return false;
}

/* The truth about experiments is in the directory of their recordings ('limpet lab run',
 * docs/scoring.md). */
static bool is_truth(const unsigned char *head, size_t n)
{
	const unsigned char *end = memchr(head, '\n', n);
	size_t len = end ? (size_t)(end - head) : n;

	return line_names(head, len, "verdict") && line_names(head, len, "component") &&
		!line_names(head, len, "value");
}

/* The suffix .csv is enough, even for compressed and binary files: opening them gives a better
 * error than "unknown format". Otherwise the first lines must have the same number of fields,
 * because any text may contain commas. */
static enum import_match csv_probe(const char *path, const unsigned char *head, size_t n)
{
	size_t fields = 0, lines = 0;

	if (is_truth(head, n))
		return IMPORT_NO;
	if (has_csv_extension(path))
		return IMPORT_MAYBE;
	if (!is_text(head, n))
		return IMPORT_NO;
	for (size_t at = 0; at < n && lines < PROBE_LINES;) {
		const unsigned char *end = memchr(head + at, '\n', n - at);
		size_t len = end ? (size_t)(end - head) - at : n - at;
		size_t count = separators_count(head + at, len);

		if (!end && lines) /* the buffer may end within a line */
			break;
		if (len > (head[at] == '\r') && head[at] != '#') {
			if (!count || (lines && count != fields))
				return IMPORT_NO;
			fields = count;
			lines++;
		}
		at += len + 1;
	}
	return lines ? IMPORT_MAYBE : IMPORT_NO;
}

static const struct option_def csv_option_defs[] = {
	{"time", 0, OPTION_STRING, offsetof(struct csv_options, time), "COL",
		"column that holds the time [time]"},
	{"component", 0, OPTION_STRING, offsetof(struct csv_options, component), "TEMPLATE",
		"how to make a component's name, observer/kind:name, from the columns of a row, "
		"for "
		"instance '{host}/disk:{disk_id}'; {dir}, {dir2} and {file} come from the path "
		"[{component}]"},
	{"value", 0, OPTION_LIST, offsetof(struct csv_options, values), "COL[=METRIC],...",
		"columns that hold values, and what to call their metrics; may be given several "
		"times"},
	{"wide", 0, OPTION_STRING, offsetof(struct csv_options, wide), "METRIC",
		"all columns but that of the time are components, and their values are of this "
		"metric; --component makes names of {column} or of labels in a header"},
	{"zone", 0, OPTION_STRING, offsetof(struct csv_options, zone), "ZONE",
		"the zone of times that name none: Europe/Berlin, +02:00 or local [UTC]"},
	{"unit", 0, OPTION_LIST, offsetof(struct csv_options, units), "METRIC=UNIT,...",
		"unit of a metric's values, for reports: ms, s, bytes, "
		"bytes/s, %, or any other word; may be given several times"},
	{"separator", 0, OPTION_STRING, offsetof(struct csv_options, separator), "C",
		"character between fields: , ; | or tab [that of the first line]"},
	{"events", 0, OPTION_STRING, offsetof(struct csv_options, events), "held|rated",
		"rows are events, not samples: each value holds until the next of its component "
		"and metric, or amounts are added up and given per second"},
	{"events-every", 0, OPTION_SPAN, offsetof(struct csv_options, events_every_us), "SPAN",
		"the time between the samples that events are made into [15s]"},
	{0},
};

const struct importer importer_csv = {
	.name = "csv",
	.summary = "comma-separated values, one sample per line",
	.description =
		"Reads text files with one sample per line. Without options the long form is "
		"expected, the columns time, component, metric and value in any order under "
		"a header with these names, or in this order without a header:\n"
		"\n"
		"    time,component,metric,value\n"
		"    2011-05-09T00:00:05Z,oss3/disk:sdb,await,12.5\n"
		"\n"
		"Any other file with a header is read by naming its columns: --time and "
		"--value take names of columns, --component a template in which {COLUMN} is "
		"replaced by the field of that column, {dir} by the name of the directory "
		"that holds the file, {dir2} by that of the directory above, and {file} by "
		"the file's name without .csv (or .tsv, .txt, .dat, .data, .log, .out):\n"
		"\n"
		"    limpet import csv --time ts --component '{dir}/disk:{disk_id}' \\\n"
		"        --value throughput,latency=await host*/2022-07-20.csv -o ARCHIVE\n"
		"\n"
		"A file with a column for each component, as Grafana exports it, is read "
		"with --wide METRIC; names come from the headers of the columns, or from "
		"labels in them:\n"
		"\n"
		"    limpet show --wide await --component '{instance}/disk:{device}' "
		"panel.csv\n"
		"\n"
		"Files compressed with gzip, xz or zstd are read as they are.\n"
		"\n"
		"A time is ISO 8601 (UTC, or of --zone, if it names no zone) or a number "
		"since 1970: seconds (up to 11 digits), milliseconds (12 or 13), "
		"microseconds (15 or 16) or nanoseconds (18 or 19); seconds and milliseconds "
		"may have a fraction. A value is a decimal number; an empty field, NA, N/A, "
		"NaN, null, none and - are missing values, and so are infinite ones, with a "
		"note. Fields may be quoted, lines that begin with # are skipped, and rows "
		"may come in any order; where a component has two rows for the same time, "
		"the later wins.\n"
		"\n"
		"Rows that cannot be used (too few or too many fields, no time, no name of "
		"the form observer/kind:name) and values that are not numbers are reported "
		"with their line and left out. Everything else is kept; the exit status "
		"shows that something was left out.",
	.options = csv_option_defs,
	.options_size = sizeof(struct csv_options),
	.probe = csv_probe,
	.open = csv_open,
};
