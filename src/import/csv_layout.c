#include "import/csv_layout.h"

#include "import/remote/mapping.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "import/csv_value.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limpet/catalogue.h>
#include <stdlib.h>
#include <string.h>

#define CSV_UNIT_MAX 24

int csv_layout_separator(struct csv_reader *r, const struct csv_options *o, struct lp_err *err)
{
	const char *s = o->separator;

	if (!s)
		return csv_reader_detect(r, err);
	if (!strcmp(s, "tab") || !strcmp(s, "\\t"))
		s = "\t";
	if (strlen(s) != 1 || (!ispunct((unsigned char)*s) && *s != '\t') || strchr("\"#.+-{}", *s))
		return lp_err_set(err, -EINVAL,
			"--separator: '%.16s' cannot separate fields (want one of , ; | or tab)",
			s);
	r->separator = *s;
	return 0;
}

static int layout_add_value(
	struct csv_layout *l, size_t column, const char *metric, struct lp_err *err)
{
	for (size_t i = 0; metric && i < l->n_values; i++) {
		if (!strcmp(l->values[i].metric, metric))
			return lp_err_set(err, -EINVAL, "metric '%.64s' is given twice", metric);
	}
	if (l->n_values >= LP_COLUMNS_MAX)
		return lp_err_set(err, -E2BIG, "more than %d columns", LP_COLUMNS_MAX);
	if (array_reserve(&l->values, &l->cap_values, l->n_values + 1, sizeof(*l->values)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot add a column");
	l->values[l->n_values++] = (struct csv_value_column){
		.column = column, .metric = metric ? strdup(metric) : NULL};
	if (metric && !l->values[l->n_values - 1].metric)
		return lp_err_sys(err, -ENOMEM, "cannot add a column");
	return 0;
}

/* "throughput,latency=await" */
static int layout_add_values(
	struct csv_layout *l, const char *list, const struct csv_header *h, struct lp_err *err)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *item;

	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot read '%.64s'", list);
	while ((item = strsep(&rest, ","))) {
		char *metric = strchr(item, '=');
		int r;

		if (metric)
			*metric++ = '\0';
		if (!*item || (metric && !*metric))
			return lp_err_set(
				err, -EINVAL, "'%.128s' is not a list COL[=metric],...", list);
		r = csv_header_find(h, item, err);
		if (r >= 0)
			r = layout_add_value(l, (size_t)r, metric ? metric : item, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static int layout_add_unit(
	struct csv_layout *l, const char *metric, const char *unit, struct lp_err *err)
{
	struct csv_unit added;

	if (array_reserve(&l->units, &l->cap_units, l->n_units + 1, sizeof(*l->units)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot add a unit");
	added = (struct csv_unit){.metric = strdup(metric), .unit = strdup(unit)};
	if (!added.metric || !added.unit) {
		free(added.metric);
		free(added.unit);
		return lp_err_sys(err, -ENOMEM, "cannot add a unit");
	}
	l->units[l->n_units++] = added;
	return 0;
}

/* "await=ms,throughput=bytes/s" */
static int layout_add_units(struct csv_layout *l, const char *list, struct lp_err *err)
{
	_cleanup_free_ char *copy = strdup(list);
	char *rest = copy, *item;
	int r = 0;

	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot read '%.64s'", list);
	while (r == 0 && (item = strsep(&rest, ","))) {
		char *unit = strchr(item, '=');

		if (!unit || unit == item || !unit[1])
			return lp_err_set(err, -EINVAL,
				"--unit: '%.128s' is not a list METRIC=UNIT,...", list);
		if (strlen(unit + 1) > CSV_UNIT_MAX)
			return lp_err_set(err, -EINVAL, "--unit: '%.64s' is longer than %d bytes",
				unit + 1, CSV_UNIT_MAX);
		*unit = '\0';
		r = layout_add_unit(l, item, unit + 1, err);
	}
	return r;
}

static int layout_wide(struct csv_layout *l, const struct csv_options *o, const char *path,
	const struct csv_header *h, struct lp_err *err)
{
	int r;

	l->wide = true;
	if (!o->values.n)
		return lp_err_set(err, -EINVAL,
			"--value is missing: name the columns to read, e.g. --value %.64s",
			h->n ? h->names[h->n - 1] : "COL");
	r = csv_header_find(h, o->time ? o->time : "time", err);
	if (r < 0)
		return lp_err_prefix(err, "--time");
	l->time = (size_t)r;
	r = csv_template_compile(
		&l->component, o->component ? o->component : "{component}", path, h, err);
	if (r < 0)
		return lp_err_prefix(err, "--component");
	for (unsigned i = 0; i < o->values.n; i++) {
		r = layout_add_values(l, o->values.items[i], h, err);
		if (r < 0)
			return lp_err_prefix(err, "--value");
	}
	return 0;
}

/* The header of a column as a series: `await {instance="oss3:9100", device="sda"}`, as Grafana
 * writes it. */
struct column_header {
	const char *text;
	char value[256]; /* of the last requested label */
};

/* {column} is the whole header; other names are its labels. */
static const char *header_label(const void *series, const char *label)
{
	struct column_header *h = (struct column_header *)series;
	size_t len = strlen(label), n = 0;
	const char *p = strchr(h->text, '{');

	if (!strcmp(label, "column"))
		return h->text;
	while (p && (p = strstr(p + 1, label))) {
		const char *value = p + len + (p[len] == '=' && p[len + 1] == '"' ? 2 : 1);
		bool quoted = p[len] == '=' && p[len + 1] == '"';

		if (p[len] != '=' || !strchr("{, ", p[-1]))
			continue;
		while (*value && (quoted ? *value != '"' : !strchr(",}", *value)) &&
			n + 1 < sizeof(h->value))
			h->value[n++] = *value++;
		h->value[n] = '\0';
		return h->value;
	}
	return NULL;
}

static int across_add(struct csv_layout *l, const struct csv_options *o, const char *header,
	size_t column, struct strmap *seen, struct lp_err *err)
{
	const struct column_header h = {.text = header};
	_cleanup_(strbuf_release) struct strbuf name = {0};
	uint32_t before;

	if (!mapping_expand(o->component ? o->component : "{column}", header_label, &h, &name))
		return lp_err_set(err, -EINVAL,
			"--component '%.64s': column '%.64s' has no such label, or no name",
			o->component, header);
	if (array_reserve(&l->across, &l->cap_across, l->n_across + 1, sizeof(*l->across)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read the header");
	if (!name.failed && strmap_get(seen, name.text, &before))
		return lp_err_set(err, -EINVAL,
			"columns %" PRIu32 " and %zu are both component '%.64s': use --component "
			"to give them different "
			"names",
			before + 1, column + 1, name.text);
	if (name.failed || strmap_put(seen, name.text, (uint32_t)column) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read the header");
	l->across[l->n_across] = (struct csv_across){column, strbuf_take(&name)};
	return l->across[l->n_across++].name ? 0
					     : lp_err_sys(err, -ENOMEM, "cannot read the header");
}

/* Without --component the headers are names. Is one of them? */
static int across_check(const struct csv_layout *l, const struct csv_options *o, struct lp_err *err)
{
	for (size_t i = 0; i < l->n_across; i++) {
		if (o->component || strchr(l->across[i].name, '/'))
			return 0;
	}
	if (!l->n_across)
		return lp_err_set(err, -EINVAL, "--wide: there is no column besides the time");
	return lp_err_set(err, -EINVAL,
		"--wide: column '%.64s' is not of the form observer/kind:name; make names with "
		"--component, for instance '{column}/disk:sda'",
		l->across[0].name);
}

/* Every column except the time is a component. */
static int layout_across(struct csv_layout *l, const struct csv_options *o,
	const struct csv_header *h, struct lp_err *err)
{
	struct csv_header three = {.names = (char *[]){"component", "metric", "value"}, .n = 3};
	_cleanup_(strmap_release) struct strmap seen = {0};
	int time = o->time ? csv_header_find(h, o->time, err) : 0;
	int r = time < 0 ? lp_err_prefix(err, "--time") : 0;

	l->time = time < 0 ? 0 : (size_t)time;
	l->metric = 1;
	l->across_metric = strdup(o->wide);
	for (size_t i = 0; r == 0 && i < h->n; i++) {
		if (i != l->time && h->names[i][0])
			r = across_add(l, o, h->names[i], i, &seen, err);
	}
	if (r == 0)
		r = across_check(l, o, err);
	if (r == 0)
		r = csv_template_compile(&l->component, "{component}", "", &three, err);
	if (r == 0)
		r = layout_add_value(l, 2, NULL, err);
	return r == 0 && !l->across_metric ? lp_err_sys(err, -ENOMEM, "cannot read") : r;
}

/* Is this row data in the long form, and not a header? */
static bool row_is_long(const struct csv_reader *r)
{
	struct csv_clock clock = {0};
	double value;
	int64_t us;

	return r->n_fields == 4 &&
		csv_clock_parse(&clock, r->fields[0].text, r->fields[0].len, &us) &&
		csv_number_parse(r->fields[3].text, r->fields[3].len, &value) <= CSV_INFINITE;
}

static int layout_long(
	struct csv_layout *l, const char *path, const struct csv_header *h, struct lp_err *err)
{
	int time = csv_header_find(h, "time", err);
	int metric = time < 0 ? time : csv_header_find(h, "metric", err);
	int value = metric < 0 ? metric : csv_header_find(h, "value", err);
	int r = value;

	if (r >= 0)
		r = csv_template_compile(&l->component, "{component}", path, h, err);
	if (r < 0) {
		size_t used = err ? strlen(err->text) : 0;

		if (err)
			snprintf(err->text + used, sizeof(err->text) - used,
				" (want time,component,metric,value, or name the columns with "
				"--time, --component and --value, or use --wide METRIC if each "
				"column is a component)");
		return r;
	}
	l->time = (size_t)time;
	l->metric = (size_t)metric;
	return layout_add_value(l, (size_t)value, NULL, err);
}

/* Names for the columns of a file without a header. */
static int header_of_long(struct csv_header *h)
{
	static char names[4][10] = {"time", "component", "metric", "value"};
	struct csv_field fields[4];

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		fields[i] = (struct csv_field){.text = names[i], .len = strlen(names[i])};
	return csv_header_init(h, fields, ARRAY_SIZE(fields));
}

int csv_layout_init(struct csv_layout *l, const struct csv_options *o, const struct csv_reader *r,
	const char *path, struct lp_err *err)
{
	bool wide = o->time || o->component || o->values.n || o->wide;
	struct csv_header *h = &l->header;
	size_t n = r->n_fields;
	int ret;

	*l = (struct csv_layout){.headless = !wide && row_is_long(r)};
	while (n && !r->fields[n - 1].len)
		n--; /* a line that ends with a separator has no column there */
	ret = l->headless ? header_of_long(h) : csv_header_init(h, r->fields, n);
	if (ret < 0)
		return lp_err_sys(err, ret, "cannot read the header");
	l->n_fields = l->headless ? 4 : n;
	for (unsigned i = 0; ret == 0 && i < o->units.n; i++)
		ret = layout_add_units(l, o->units.items[i], err);
	if (ret < 0)
		return ret;
	if (o->wide && o->values.n)
		return lp_err_set(err, -EINVAL, "--wide and --value exclude each other");
	if (o->wide)
		return layout_across(l, o, h, err);
	return wide ? layout_wide(l, o, path, h, err) : layout_long(l, path, h, err);
}

/* A byte order mark is part of the first field if files were appended to each other. */
static struct csv_field without_mark(const struct csv_field *f)
{
	bool marked = f->len >= 3 && !memcmp(f->text, "\xef\xbb\xbf", 3);

	return marked ? (struct csv_field){.text = f->text + 3, .len = f->len - 3} : *f;
}

static bool field_is(const struct csv_field *f, const char *name)
{
	return f->len == strlen(name) && !memcmp(f->text, name, f->len);
}

bool csv_layout_is_header(const struct csv_layout *l, const struct csv_reader *r)
{
	for (size_t i = 0; i < r->n_fields; i++) {
		struct csv_field f = without_mark(&r->fields[i]);

		if (field_is(&f, l->header.names[l->time]))
			return true;
	}
	return false;
}

bool csv_layout_is_own_header(const struct csv_layout *l, const struct csv_reader *r)
{
	size_t n = r->n_fields;

	while (n > l->header.n && !r->fields[n - 1].len)
		n--;
	for (size_t i = 0; i < n && n == l->header.n; i++) {
		struct csv_field f = without_mark(&r->fields[i]);

		if (!field_is(&f, l->header.names[i]))
			return false;
	}
	return n == l->header.n;
}

const char *csv_layout_unit(const struct csv_layout *l, const char *metric)
{
	for (size_t i = 0; i < l->n_units; i++) {
		if (!strcmp(l->units[i].metric, metric))
			return l->units[i].unit;
	}
	return "";
}

void csv_layout_release(struct csv_layout *l)
{
	for (size_t i = 0; i < l->n_units; i++) {
		free(l->units[i].metric);
		free(l->units[i].unit);
	}
	free(l->units);
	for (size_t i = 0; i < l->n_values; i++)
		free(l->values[i].metric);
	free(l->values);
	for (size_t i = 0; i < l->n_across; i++)
		free(l->across[i].name);
	free(l->across);
	free(l->across_metric);
	csv_template_release(&l->component);
	csv_header_release(&l->header);
	*l = (struct csv_layout){0};
}
