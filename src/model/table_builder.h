/* The internals of a builder of tables, for code that assembles tables. */
#ifndef MODEL_TABLE_BUILDER_H
#define MODEL_TABLE_BUILDER_H

#include "base/hash.h"
#include "model/table_row.h"
#include <limpet/table.h>

/* One metric while it is being built. */
struct column_set {
	char *name;
	char *unit;
	struct table_row *rows;
	size_t n_rows, cap_rows;
	uint32_t *row_of; /* [number of the component] its row, or NO_ROW */
	size_t n_numbers, cap_numbers;
	bool remade; /* a component has a kind whose tables are rearranged */
	bool beside; /* not selected by the user */
};

#define NO_ROW UINT32_MAX

/* A metric that a schema has. */
struct bound {
	uint32_t set;
	struct bind bind;
};

/* How the schemas of a source bind to the metrics, and its components to rows. Only existing
 * combinations take memory: hostile files have many kinds, each with different metrics. */
struct binding {
	uint64_t catalogue;  /* its serial */
	struct bound *bound; /* of all schemas, consecutive */
	size_t *schemas;     /* [schema] index of its first item; one more for the end */
	uint32_t *rows;	     /* of all components, one per metric of its schema */
	size_t *components;  /* [component] index of its first item; UNWANTED: not selected */
	size_t n_bound, n_schemas, n_rows, n_components;
	size_t cap_bound, cap_schemas, cap_rows, cap_components;
};

struct lp_table_builder {
	const struct lp_table_options *opt;
	struct lp_select select;
	struct strmap named; /* items of opt->components that are names, */
	const char **globs;  /* and those that are globs */
	size_t n_globs, cap_globs;
	struct column_set *sets;
	size_t n_sets, cap_sets;
	uint64_t n_changes; /* counts rows that were added or removed */
	struct strmap set_index;
	struct strmap numbers;	  /* of components, by their text; the same for all sets */
	struct binding *bindings; /* of the catalogues of the current sources */
	size_t n_bindings, cap_bindings;
	struct binding *binding; /* of the current source: one of these */
	struct table_budget budget;
	uint64_t n_absurd;	  /* impossible values, which count as missing */
	uint64_t n_beyond;	  /* samples with impossible times */
	struct table_times times; /* of the current batch */
};

/* Half of the memory of the machine, in bytes. */
uint64_t table_bytes_half(void);

/* The set of a metric, added if it is new. */
int table_set_get(struct lp_table_builder *b, const char *name, uint32_t *ret);

/* The row of a component in a set, added if it is new. New labels replace the old ones of the
 * row. */
int table_set_row(struct lp_table_builder *b, struct column_set *s,
	const struct lp_identity *component, uint32_t *ret_row);

/* Forget the rows of a set for which `gone` returns true. */
int table_rows_retire(struct lp_table_builder *b,
	bool (*gone)(const struct table_row *row, int64_t before), int64_t before);

/* Rows have moved: components must look them up by name again. */
void table_bindings_forget(struct lp_table_builder *b);

/* Returns -EFBIG, with an error that states the time range of the table. */
int table_refuse(const struct lp_table_builder *b, int64_t first, int64_t last, const char *where,
	struct lp_err *err);

/* Append all data of `later` to `b`, as if `b` itself had received its batches; `later` becomes
 * empty. Both must have the same options, except for the memory limit. `path` is the source of
 * those batches, for errors.
 *
 * If both have a part of a slot, the result is the sum of two sums, while a single builder would
 * compute one sum. For counters the result is identical to the last bit; for times between samples
 * and LP_REAL columns it is nearly identical. */
int table_builder_join(struct lp_table_builder *b, struct lp_table_builder *later, const char *path,
	struct lp_err *err);

#endif
