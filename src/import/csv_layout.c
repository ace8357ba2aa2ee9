#include "import/csv_layout.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "import/csv_value.h"
#include <ctype.h>
#include <errno.h>
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

/* Is this row data of the long form, not a header? */
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
				"--time, --component and --value)");
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
	bool wide = o->time || o->component || o->values.n;
	_cleanup_(csv_header_release) struct csv_header h = {0};
	size_t n = r->n_fields;
	int ret;

	*l = (struct csv_layout){.headless = !wide && row_is_long(r)};
	while (n && !r->fields[n - 1].len)
		n--; /* a line that ends with a separator has no column there */
	ret = l->headless ? header_of_long(&h) : csv_header_init(&h, r->fields, n);
	if (ret < 0)
		return lp_err_sys(err, ret, "cannot read the header");
	l->n_fields = l->headless ? 4 : n;
	for (unsigned i = 0; ret == 0 && i < o->units.n; i++)
		ret = layout_add_units(l, o->units.items[i], err);
	if (ret < 0)
		return ret;
	return wide ? layout_wide(l, o, path, &h, err) : layout_long(l, path, &h, err);
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
	csv_template_release(&l->component);
	*l = (struct csv_layout){0};
}
