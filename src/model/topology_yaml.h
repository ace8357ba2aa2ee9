/* The text of a topology file, loaded but not yet interpreted.
 *
 * libcyaml loads the file by a schema. It reports neither the lines of what it loaded nor the
 * members of mappings with free keys (attributes, where). So limpet first reads the events of
 * libyaml, on which it is built: for lines, for these members, and to stop early at constructs that
 * no topology has (aliases, deep nesting, unknown keys).
 */
#ifndef MODEL_TOPOLOGY_YAML_H
#define MODEL_TOPOLOGY_YAML_H

#include "base/hash.h"
#include <limpet/err.h>
#include <stddef.h>
#include <stdint.h>

struct yaml_rule {
	char *match, *table; /* NULL: not given */
	char **names;
	uint32_t names_count;
};

struct yaml_group {
	char *name, *match;
	char **split_by;
	uint32_t split_by_count;
};

/* Filled by libcyaml, which requires these names of the counts. */
struct yaml_file {
	uint32_t version;
	struct yaml_rule *components;
	uint32_t components_count;
	struct yaml_group *groups;
	uint32_t groups_count;
	char **parts;
	uint32_t parts_count;
	char **observers;
	uint32_t observers_count;
	char *issuer;
};

/* A member of a mapping with free keys. */
struct yaml_pair {
	uint32_t rule; /* index in components */
	enum yaml_free { YAML_ATTRIBUTES, YAML_WHERE } where;
	char *key, *value;
	unsigned line;
};

struct yaml_text {
	const char *name; /* of the file; not owned */
	struct yaml_file *file;
	struct yaml_pair *pairs; /* in the order of the file */
	size_t n_pairs, cap_pairs;
	struct strmap lines; /* by path, "components/3/match" */
};

/* Load a text. Zero-initialise `ret`, and call yaml_text_release() even after a failure. */
int yaml_text_load(
	const char *text, size_t len, const char *name, struct yaml_text *ret, struct lp_err *err);
void yaml_text_release(struct yaml_text *y);

/* The line of the node with this path ("groups/%u/name"), or of the node that contains it; 1 if
 * there is none. */
unsigned yaml_text_line(const struct yaml_text *y, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The one of `names` (NULL-terminated) that is most similar to `word`, or NULL. */
const char *yaml_meant(const char *word, const char *const *names);

#endif
