/* The inside of a builder of tables, for those that put tables together. */
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
	uint32_t *row_of; /* [number of the component] its row; NO_ROW */
	size_t n_numbers, cap_numbers;
	bool remade; /* a component is of a kind whose tables are */
	bool beside; /* not asked for */
};

#define NO_ROW UINT32_MAX

/* A metric that a schema has. */
struct bound {
	uint32_t set;
	struct bind bind;
};

/* How the schemas of a source bind to the metrics, and its components to rows. Only what
 * is there takes room: hostile files have many kinds, each with metrics of its own. */
struct binding {
	uint64_t catalogue;  /* its serial */
	struct bound *bound; /* of all schemas, one after the other */
	size_t *schemas;     /* [schema] where its own begin; one more for the end */
	uint32_t *rows;	     /* of all components, one for each metric of its schema */
	size_t *components;  /* [component] where its own begin; UNWANTED: it has none */
	size_t n_bound, n_schemas, n_rows, n_components;
	size_t cap_bound, cap_schemas, cap_rows, cap_components;
};

struct lp_table_builder {
	const struct lp_table_options *opt;
	struct lp_select select;
	struct strmap named; /* of opt->components, those that are names, */
	const char **globs;  /* and those that are not */
	size_t n_globs, cap_globs;
	struct column_set *sets;
	size_t n_sets, cap_sets;
	uint64_t n_changes; /* so often rows came or went */
	struct strmap set_index;
	struct strmap numbers;	  /* of components, by their text: one for all sets */
	struct binding *bindings; /* of the catalogues of the sources that take turns */
	size_t n_bindings, cap_bindings;
	struct binding *binding; /* of the current source, one of these */
	struct table_budget budget;
	uint64_t n_absurd;	  /* values that cannot be, and count as missing */
	uint64_t n_beyond;	  /* samples with impossible times */
	struct table_times times; /* of the current batch */
};

/* Half of the machine's memory, in bytes. */
uint64_t table_bytes_half(void);

/* The set of a metric, added if it is new. */
int table_set_get(struct lp_table_builder *b, const char *name, uint32_t *ret);

/* The row of a component in a set, added if it is new. Labels that are news replace those that the
 * row knew. */
int table_set_row(struct lp_table_builder *b, struct column_set *s,
	const struct lp_identity *component, uint32_t *ret_row);

/* Forget the rows of a set for which `gone` returns true. */
int table_rows_retire(struct lp_table_builder *b,
	bool (*gone)(const struct table_row *row, int64_t before), int64_t before);

/* Rows have moved: components find theirs by name again. */
void table_bindings_forget(struct lp_table_builder *b);

/* Returns -EFBIG, with an error that has the time range that a table would have to cover. */
int table_refuse(const struct lp_table_builder *b, int64_t first, int64_t last, const char *where,
	struct lp_err *err);

/* Append everything that `later` has gathered to `b`, as if `b` itself had been given its batches,
 * and leave `later` empty. Both must have the same options, except for the memory limit. `path` is
 * the source of those batches, for errors.
 *
 * A slot that both have a part of is the sum of two sums, where a single builder would have made
 * one sum. For counters the result is identical to the last bit, for times between samples and
 * LP_REAL columns nearly so. */
int table_builder_join(struct lp_table_builder *b, struct lp_table_builder *later, const char *path,
	struct lp_err *err);

#endif
