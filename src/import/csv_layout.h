/* The meaning of the columns of a CSV file: the long form (time, component, metric, value) or the
 * wide form, for which the user names the columns.
 */
#ifndef IMPORT_CSV_LAYOUT_H
#define IMPORT_CSV_LAYOUT_H

#include "base/option.h"
#include "import/csv_template.h"

/* The user's options; 0 or NULL means the default. */
struct csv_options {
	const char *time;	   /* name of the time column */
	const char *component;	   /* template */
	struct option_list values; /* "COL[=metric],..." each */
	const char *wide; /* metric of all columns if each column is a component; NULL: none */
	const char *zone; /* for times without a zone; NULL: UTC */
	struct option_list units; /* "METRIC=UNIT,..." each */
	const char *separator;
	const char *events;	 /* "held", "rated"; NULL: rows are samples */
	int64_t events_every_us; /* time between samples that are computed from events; 0: 15 s */
	uint64_t events_max;	 /* the maximum number of values from events; 0: the default; for
				  * tests */
	size_t chunk_values;	 /* the number of values to sort at a time; for tests */
};

/* One value of a row. */
struct csv_value_column {
	size_t column;
	char *metric; /* its name; NULL in the long form */
};

/* A column that is a component. */
struct csv_across {
	size_t column;
	char *name;
};

/* The unit that the user gave for a metric. */
struct csv_unit {
	char *metric, *unit;
};

struct csv_layout {
	/* If each of these columns is a component, all values belong to one metric, and a row is
	 * split into rows with three fields: name, metric, value. */
	struct csv_across *across;
	size_t n_across, cap_across;
	char *across_metric; /* NULL: columns are not components */
	bool wide;
	bool headless;	 /* the first row is already data */
	size_t n_fields; /* that a row has */
	struct csv_header header;
	size_t time;
	size_t metric; /* long form only */
	struct csv_template component;
	struct csv_value_column *values; /* one in the long form */
	size_t n_values, cap_values;
	struct csv_unit *units;
	size_t n_units, cap_units;
};

/* Read "--separator": one character, or "tab". If the user gave none, detect it. */
int csv_layout_separator(struct csv_reader *r, const struct csv_options *o, struct lp_err *err);

/* Find the columns in the first row of the file, which the reader has already read. */
int csv_layout_init(struct csv_layout *l, const struct csv_options *o, const struct csv_reader *r,
	const char *path, struct lp_err *err);
void csv_layout_release(struct csv_layout *l);

/* Is this row a header again, as in files that were appended to each other? It is if a field is the
 * name of the time's column. */
bool csv_layout_is_header(const struct csv_layout *l, const struct csv_reader *r);

/* The same header, column by column? */
bool csv_layout_is_own_header(const struct csv_layout *l, const struct csv_reader *r);

/* The unit of a metric; "" if it was not given. */
const char *csv_layout_unit(const struct csv_layout *l, const char *metric);

#endif
