/* A YAML file as a tree of nodes with line numbers, for small files that people write. Errors have
 * the form "FILE:LINE: what".
 */
#ifndef IMPORT_REMOTE_YAML_TREE_H
#define IMPORT_REMOTE_YAML_TREE_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#define YAML_TREE_BYTES_MAX ((size_t)4 << 20)

/* Zero-initialise it. */
struct yaml_tree {
	char *name; /* of the file, for errors */
	yaml_document_t document;
	bool loaded;
};

/* Load a text, which must contain exactly one document without aliases. Release the tree even after
 * a failure. */
int yaml_tree_load(
	struct yaml_tree *t, const char *text, size_t len, const char *name, struct lp_err *err);
void yaml_tree_release(struct yaml_tree *t);

const yaml_node_t *yaml_tree_root(struct yaml_tree *t);

/* Describe an error of a node: "FILE:LINE: ...". Returns -EINVAL. */
int yaml_tree_error(const struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The node must be a mapping with keys from `keys` (ended by NULL) only, each at most once. `keys`
 * NULL: any keys. `what` is its name in errors: "a group". */
int yaml_tree_mapping(struct yaml_tree *t, const yaml_node_t *node, const char *what,
	const char *const *keys, struct lp_err *err);

/* The value of a key of a mapping, or NULL. */
const yaml_node_t *yaml_tree_get(struct yaml_tree *t, const yaml_node_t *mapping, const char *key);

/* Member number `i` of a mapping: its key's text and its value. False after the last. */
bool yaml_tree_pair(struct yaml_tree *t, const yaml_node_t *mapping, size_t i, const char **ret_key,
	const yaml_node_t **ret_value);

/* Item number `i` of a list. NULL after the last. */
const yaml_node_t *yaml_tree_item(struct yaml_tree *t, const yaml_node_t *list, size_t i);

/* A copy of the text at `key` of a mapping; NULL if the key is missing. */
int yaml_tree_text(struct yaml_tree *t, const yaml_node_t *mapping, const char *key, char **ret,
	struct lp_err *err);

/* The same for numbers and for true or false; `*ret` does not change if the key is missing. */
int yaml_tree_number(struct yaml_tree *t, const yaml_node_t *mapping, const char *key, double *ret,
	struct lp_err *err);
int yaml_tree_bool(struct yaml_tree *t, const yaml_node_t *mapping, const char *key, bool *ret,
	struct lp_err *err);

#endif
