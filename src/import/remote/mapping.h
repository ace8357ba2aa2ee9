/* Which metrics of a Prometheus server become which columns of which components: a table in YAML
 * (docs/importing.md, data/mappings).
 *
 * Columns of limpet's own collectors are delivered as the collector records them, so that the same
 * formulas apply. All others are finished metrics: the value of a gauge, the rate of a counter, or
 * with `per` the growth of one counter divided by that of another.
 */
#ifndef IMPORT_REMOTE_MAPPING_H
#define IMPORT_REMOTE_MAPPING_H

#include "base/strbuf.h"
#include <limpet/catalogue.h>
#include <limpet/metric.h>
#include <regex.h>

enum mapping_type {
	MAPPING_COUNTER,
	MAPPING_GAUGE,
};

/* A label that must match, or must not. */
struct mapping_where {
	char *label;
	char *text; /* of the pattern */
	regex_t pattern;
	bool not ;
};

struct mapping_conditions {
	struct mapping_where *items;
	size_t n, cap;
};

struct mapping_column {
	char *metric; /* its name on the server */
	char *per;    /* the growth is divided by that of this metric; NULL: not divided */
	char *column, *unit;
	double scale;
	enum mapping_type type;
	bool sum; /* add up all series of a component */
	enum lp_role role;
	bool has_role;
	struct mapping_conditions where;
	struct lp_column own; /* the column of limpet's collector; without a name: none has it */
};

struct mapping_group {
	char *kind;
	const char *prefix;    /* of all its metrics; NULL: unknown */
	char *name, *observer; /* templates: "{device}", "{nodename|instance}" */
	struct mapping_conditions where;
	struct mapping_column *columns;
	size_t n_columns, cap_columns;
};

/* Zero-initialise it. Several tables may be read into one. */
struct mapping {
	struct mapping_group *groups;
	size_t n_groups, cap_groups;
};

/* Read a table. `name` is that of the file, for errors. */
int mapping_parse(
	struct mapping *m, const char *text, size_t len, const char *name, struct lp_err *err);
int mapping_load(struct mapping *m, const char *path, struct lp_err *err);

/* Read all tables that are built in for a kind of server: "prometheus" or "pcp". */
int mapping_load_builtin(struct mapping *m, const char *server, struct lp_err *err);

/* Add the table of the metrics that limpet itself sends to Prometheus (remote/own_names.c). */
int mapping_load_own(struct mapping *m, struct lp_err *err);

void mapping_release(struct mapping *m);

/* Add a condition: a regular expression, or "!" and one that must not match. -EINVAL: it is not a
 * regular expression; -ENOMEM. */
int mapping_condition(struct mapping_conditions *c, const char *label, const char *text);

/* The value of a label of a series, or NULL. */
typedef const char *(*mapping_label_fn)(const void *series, const char *label);

/* Do the labels of a series match all conditions? */
bool mapping_matches(
	const struct mapping_conditions *c, mapping_label_fn label, const void *series);

/* Replace the contents of `to` by the expanded template: "{a|b}" is the value of the first of these
 * labels that exists. False if none does, or if the result is empty. */
bool mapping_expand(
	const char *template, mapping_label_fn label, const void *series, struct strbuf *to);

#endif
