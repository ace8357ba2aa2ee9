/* Attributes as a list: a CSV file in the directory of the topology file. Its first line names the
 * columns. Columns that are captures of the rule's pattern (or "component", "observer", "kind",
 * "name") are the key of a line, the others are attributes. Fields are separated by commas and have
 * no quotes; "#" begins a comment line. An empty field says nothing about its attribute.
 */
#ifndef MODEL_TOPOLOGY_TABLE_H
#define MODEL_TOPOLOGY_TABLE_H

#include "base/hash.h"
#include "model/topology_pattern.h"

struct topology_table {
	char *text; /* fields point into it */
	char **attributes;
	size_t n_attributes, cap_attributes;
	struct text_part *keys;
	size_t n_keys, cap_keys;
	const char **values; /* [row * n_attributes + attribute] */
	size_t n_rows, cap_values;
	struct strmap rows; /* by their keys */
};

int topology_table_read(
	const char *path, const struct pattern *p, struct topology_table **ret, struct lp_err *err);
int topology_table_parse(const char *text, size_t len, const char *name, const struct pattern *p,
	struct topology_table **ret, struct lp_err *err);
void topology_table_free(struct topology_table *t);

/* The table's value for a component; NULL: none. */
const char *topology_table_get(const struct topology_table *t, const char *attribute,
	const struct lp_identity *component, const struct pattern_match *match);

#endif
