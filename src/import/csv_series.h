/* The components and metrics that the rows of a CSV file name, and their places in the catalogue.
 * The columns of a kind are the metrics so far. If there are more when the next batches are made,
 * the kind gets a new schema, and its components get new ids.
 */
#ifndef IMPORT_CSV_SERIES_H
#define IMPORT_CSV_SERIES_H

#include "import/csv_intern.h"
#include "import/csv_layout.h"
#include <limpet/source.h>

#define CSV_COMPONENTS_MAX 262144
#define CSV_KINDS_MAX 256
#define CSV_METRICS_MAX 65536
#define CSV_NAME_MAX 255

struct csv_kind {
	uint32_t metrics[LP_COLUMNS_MAX]; /* [column] number of the metric */
	uint32_t n_columns;
	uint16_t *column_of; /* [number of the metric] column + 1, or 0 */
	size_t cap_column_of;
	uint32_t schema;		      /* in the catalogue */
	bool published;			      /* `schema` exists and has all columns */
	uint64_t wanted[LP_COLUMNS_MAX / 64]; /* columns that the reader selected */
};

struct csv_component {
	uint32_t kind;
	uint32_t id; /* in the catalogue, for schema `schema` */
	uint32_t schema;
	bool resolved, wanted;
	/* Its place in the latest batch; for csv_batch.c. */
	uint64_t batch;
	uint32_t row;
};

struct csv_series {
	struct lp_catalogue *catalogue;
	const struct lp_select *select;
	const struct csv_layout *layout;
	struct csv_intern keys, names, kind_names, metrics;
	uint32_t *component_of; /* [key] */
	struct csv_component *components;
	struct csv_kind *kinds;
	size_t cap_component_of, cap_components, cap_kinds;
	struct strbuf key, name; /* scratch */
};

int csv_series_init(struct csv_series *s, struct lp_catalogue *catalogue,
	const struct lp_select *select, const struct csv_layout *layout, struct lp_err *err);
void csv_series_release(struct csv_series *s);

/* The component of a row. Negative errno: its name is not "observer/kind:name", or there are too
 * many components. Only -ENOMEM prevents reading the next row. */
int csv_series_component(struct csv_series *s, const struct csv_field *fields,
	uint32_t *ret_component, struct lp_err *err);

/* The column of a metric in the kind of a component; added if it is new. */
int csv_series_column(struct csv_series *s, uint32_t component, const struct csv_field *metric,
	uint16_t *ret_column, struct lp_err *err);

/* Make sure that a component is in the catalogue with all columns of its kind, and find out whether
 * it is selected. */
int csv_series_resolve(struct csv_series *s, uint32_t component, struct lp_err *err);

#endif
