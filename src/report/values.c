#include "report/values.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/safe_text.h"
#include "base/time.h"
#include "report/grid.h"
#include "report/json.h"
#include "report/number.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Text grids are formatted in pieces of this many cells, so that long output starts immediately and
 * needs little memory. */
#define TEXT_PIECE 20000

#define NO_PLACE UINT32_MAX

/* The place of a component: a table and a row. */
struct place {
	uint32_t table, row;
	uint32_t next; /* the place of the component in a later table, or NO_PLACE */
};

/* All components of all tables in order of first appearance, and the places of each. */
struct join {
	const char **names;
	uint32_t n;
	uint32_t *first, *last; /* [component] its first and its last place */
	struct place *places;
};

static void join_release(struct join *j)
{
	free(j->names);
	free(j->first);
	free(j->last);
	free(j->places);
}

static int join_add(struct join *j, struct strmap *map, const char *name, uint32_t place)
{
	uint32_t at;

	if (strmap_get(map, name, &at)) {
		j->places[j->last[at]].next = place;
	} else {
		at = j->n++;
		j->names[at] = name;
		j->first[at] = place;
		if (strmap_put(map, name, at) < 0)
			return -ENOMEM;
	}
	j->last[at] = place;
	return 0;
}

static int join_make(struct lp_table *const *tables, uint32_t n, struct join *ret)
{
	_cleanup_(strmap_release) struct strmap map = {0};
	size_t total = 0;
	uint32_t place = 0;

	for (uint32_t t = 0; t < n; t++)
		total += tables[t]->n_components;
	*ret = (struct join){.names = calloc(total + 1, sizeof(*ret->names)),
		.first = calloc(total + 1, sizeof(*ret->first)),
		.last = calloc(total + 1, sizeof(*ret->last)),
		.places = calloc(total + 1, sizeof(*ret->places))};
	if (!ret->names || !ret->first || !ret->last || !ret->places || total >= NO_PLACE)
		return -ENOMEM;
	for (uint32_t t = 0; t < n; t++) {
		for (uint32_t i = 0; i < tables[t]->n_components; i++, place++) {
			ret->places[place] = (struct place){t, i, NO_PLACE};
			if (join_add(ret, &map, tables[t]->components[i]->text, place) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

/* Infinity marks unknown values (VECTOR_OFF). */
static double place_value(struct lp_table *const *tables, const struct place *p, uint32_t slot)
{
	const struct lp_table *t = tables[p->table];
	double value = t->values[(size_t)p->row * t->n_slots + slot];

	return isinf(value) ? NAN : value;
}

static void text_heading(struct grid *g, struct lp_table *const *tables, uint32_t n)
{
	grid_init(g, n + 2);
	grid_add(g, "time");
	grid_add(g, "component");
	for (uint32_t t = 0; t < n; t++)
		grid_add(g, tables[t]->metric);
}

/* Add one line, unless the component has no value in this slot. `line` has room for n values. */
static void text_line(struct grid *g, const struct join *j, struct lp_table *const *tables,
	uint32_t n, uint32_t comp, uint32_t slot, double *line)
{
	char time[TIME_TEXT_MAX];
	bool any = false;

	for (uint32_t t = 0; t < n; t++)
		line[t] = NAN;
	for (uint32_t p = j->first[comp]; p != NO_PLACE; p = j->places[p].next) {
		line[j->places[p].table] = place_value(tables, &j->places[p], slot);
		any |= !isnan(line[j->places[p].table]);
	}
	if (!any)
		return;
	grid_add(g, time_format(lp_table_time(tables[0], slot), time));
	grid_add(g, j->names[comp]);
	for (uint32_t t = 0; t < n; t++)
		grid_add_number(g, line[t]);
}

int values_print_text(
	FILE *out, struct lp_table *const *tables, uint32_t n, bool colour, struct lp_err *err)
{
	_cleanup_(join_release) struct join j = {0};
	_cleanup_(grid_release) struct grid g = {0};
	_cleanup_free_ double *line = calloc((size_t)n + 1, sizeof(*line));

	if (!n)
		return 0;
	if (!line || join_make(tables, n, &j) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot print");
	text_heading(&g, tables, n);
	for (uint32_t slot = 0; slot < tables[0]->n_slots; slot++) {
		for (uint32_t c = 0; c < j.n; c++) {
			text_line(&g, &j, tables, n, c, slot, line);
			if (g.n_cells < TEXT_PIECE || g.failed)
				continue;
			grid_print(&g, out, colour);
			grid_release(&g);
			text_heading(&g, tables, n);
		}
	}
	if (g.n_cells > g.n_columns)
		grid_print(&g, out, colour);
	return g.failed ? lp_err_sys(err, -ENOMEM, "cannot print") : 0;
}

/* Spreadsheets evaluate text that begins with one of these as a formula. */
#define FORMULA "=+-@"

char *values_csv_field(const char *text)
{
	bool quote = strpbrk(text, ",;\"") || text[0] == ' ' || text[0] == '#';
	char *field = malloc(2 * strlen(text) + 4), *to = field;

	if (!field)
		return NULL;
	if (quote)
		*to++ = '"';
	if (text[0] && strchr(FORMULA, text[0]))
		*to++ = '\'';
	for (; *text; text++) {
		if (*text == '"')
			*to++ = '"';
		*to++ = *text;
	}
	if (quote)
		*to++ = '"';
	*to = '\0';
	safe_text_make(field);
	return field;
}

/* The quoted names, made once for all lines. */
struct csv_names {
	char **fields;
	size_t n;
};

static void csv_names_release(struct csv_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->fields[i]);
	free(names->fields);
}

/* First the components, then the metrics. */
static int csv_names_make(
	const struct join *j, struct lp_table *const *tables, uint32_t n, struct csv_names *ret)
{
	ret->fields = calloc((size_t)j->n + n + 1, sizeof(*ret->fields));
	if (!ret->fields)
		return -ENOMEM;
	for (ret->n = 0; ret->n < (size_t)j->n + n; ret->n++) {
		const char *name = ret->n < j->n ? j->names[ret->n] : tables[ret->n - j->n]->metric;

		ret->fields[ret->n] = values_csv_field(name);
		if (!ret->fields[ret->n])
			return -ENOMEM;
	}
	return 0;
}

static void csv_line(
	FILE *out, const char *time, const char *component, const char *metric, double value)
{
	char number[NUMBER_TEXT_MAX];

	fputs_unlocked(time, out);
	putc_unlocked(',', out);
	fputs_unlocked(component, out);
	putc_unlocked(',', out);
	fputs_unlocked(metric, out);
	putc_unlocked(',', out);
	fputs_unlocked(number_format(value, number), out);
	putc_unlocked('\n', out);
}

int values_print_csv(
	FILE *out, struct lp_table *const *tables, uint32_t n, unsigned which, struct lp_err *err)
{
	_cleanup_(join_release) struct join j = {0};
	_cleanup_(csv_names_release) struct csv_names names = {0};
	char time[TIME_TEXT_MAX];

	if (join_make(tables, n, &j) < 0 || csv_names_make(&j, tables, n, &names) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot print");
	if (which & VALUES_FIRST)
		fputs("time,component,metric,value\n", out);
	for (uint32_t slot = 0; n && slot < tables[0]->n_slots; slot++) {
		time_format(lp_table_time(tables[0], slot), time);
		for (uint32_t c = 0; c < j.n; c++) {
			for (uint32_t p = j.first[c]; p != NO_PLACE; p = j.places[p].next) {
				double value = place_value(tables, &j.places[p], slot);

				if (!isnan(value))
					csv_line(out, time, names.fields[c],
						names.fields[j.n + j.places[p].table], value);
			}
		}
	}
	return 0;
}

static void json_row(FILE *out, const double *values, uint32_t n)
{
	char number[NUMBER_TEXT_MAX];

	putc_unlocked('[', out);
	for (uint32_t i = 0; i < n; i++) {
		if (i)
			putc_unlocked(',', out);
		fputs_unlocked(
			isfinite(values[i]) ? number_format(values[i], number) : "null", out);
	}
	putc_unlocked(']', out);
}

/* The slots `first` .. `end - 1` of a table, without gaps in time. */
static void json_table(FILE *out, const struct lp_table *t, uint32_t first, uint32_t end)
{
	char time[TIME_TEXT_MAX], number[NUMBER_TEXT_MAX];

	fputs("{\"metric\":", out);
	json_write_string(out, t->metric);
	fputs(",\"unit\":", out);
	json_write_string(out, t->unit);
	fprintf(out, ",\"start\":\"%s\",\"step_s\":%s,\"components\":[",
		time_format(lp_table_time(t, first), time),
		number_format((double)t->step_us / 1e6, number));
	for (uint32_t i = 0; i < t->n_components; i++) {
		fputs(i ? "," : "", out);
		json_write_string(out, t->components[i]->text);
	}
	fputs("],\"values\":[", out);
	for (uint32_t i = 0; i < t->n_components; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_row(out, t->values + (size_t)i * t->n_slots + first, end - first);
	}
	fputs("]}", out);
}

void values_print_json(FILE *out, struct lp_table *const *tables, uint32_t n, unsigned which)
{
	if (which & VALUES_FIRST)
		fputs("{\"limpet\":\"" LIMPET_VERSION "\",\"tables\":[", out);
	for (uint32_t t = 0; t < n; t++) {
		const struct lp_table *table = tables[t];

		for (uint32_t i = 0, first = 0; i <= table->n_cuts; i++) {
			uint32_t end =
				i < table->n_cuts ? (uint32_t)table->cuts[i].slot : table->n_slots;

			fputs(t || i || !(which & VALUES_FIRST) ? ",\n" : "\n", out);
			json_table(out, table, first, end);
			first = end;
		}
	}
	if (which & VALUES_LAST)
		fputs("]}\n", out);
}
