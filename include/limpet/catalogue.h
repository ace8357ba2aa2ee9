/* The catalogue of measured data: schemas (the raw columns that a kind of component has) and
 * components.
 *
 * An identity names a component. Its text is "observer/kind:name", for instance "oss3/disk:sdb". A
 * catalogue only grows; ids are indexes into it and never change. The recorder is the exception: it
 * runs forever, so it reuses the ids of components that are gone.
 */
#ifndef LIMPET_CATALOGUE_H
#define LIMPET_CATALOGUE_H

#include <limpet/err.h>
#include <limpet/identity.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum lp_column_type {
	LP_COUNTER = 0, /* int64_t that only grows (and may wrap at `bits`); rates are computed from
			 * it */
	LP_GAUGE = 1,	/* int64_t; its value at the time of the sample counts */
	LP_REAL = 2,	/* double; a finished metric, as importers deliver it */
};

/* A value that was not measured: LP_MISSING in integer columns, NaN in LP_REAL columns. */
#define LP_MISSING INT64_MIN

/* The most columns that one schema may have. */
#define LP_COLUMNS_MAX 256

struct lp_column {
	const char *name; /* "rd_ios" */
	const char *unit; /* "requests" */
	enum lp_column_type type;
	uint8_t bits; /* width at which a counter wraps: 32 or 64; 0 for others */
};

struct lp_schema {
	const char *kind; /* "disk" */
	const struct lp_column *columns;
	uint32_t n_columns;
};

struct lp_component {
	const char *observer, *name, *labels; /* the same as in its identity */
	uint32_t schema;		      /* index in lp_catalogue.schemas */
	struct lp_identity *identity;	      /* replaced when the labels change */
};

struct lp_catalogue {
	struct lp_schema *schemas;
	uint32_t n_schemas;
	struct lp_component *components;
	uint32_t n_components;
	struct lp_catalogue_index *index; /* finds a component by its name */
	uint64_t changes; /* counts additions and new labels: readers can skip a catalogue that did
			   * not change */
	uint64_t serial;  /* different for every catalogue of this process, even for one at the same
			   * address as an earlier one */
};

struct lp_catalogue *lp_catalogue_new(void);
void lp_catalogue_free(struct lp_catalogue *c);

/* Copy a catalogue: the same schemas and components, with the same numbers. NULL: out of memory. */
struct lp_catalogue *lp_catalogue_copy(const struct lp_catalogue *c);

/* The index of a schema with this kind and these columns. It is added (copied) if it is new. */
int lp_catalogue_add_schema(struct lp_catalogue *c, const struct lp_schema *s, uint32_t *ret_schema,
	struct lp_err *err);

/* The id of the component with this observer, kind and name. It is added if it is new. If it exists
 * with other labels, the new labels replace them. If its columns changed, it is a new component
 * with the same name. */
int lp_catalogue_add_component(struct lp_catalogue *c, uint32_t schema, const char *observer,
	const char *name, const char *labels, uint32_t *ret_id, struct lp_err *err);

/* The index of a column in a schema, or -1. */
int lp_schema_column(const struct lp_schema *s, const char *name);

/* Write "observer/kind:name" into `buf`, like snprintf(). */
int lp_component_name(const struct lp_catalogue *c, uint32_t id, char *buf, size_t size);

/* Copy the value of label `key` into `buf`; false if the component has none. */
bool lp_component_label(const struct lp_component *c, const char *key, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
