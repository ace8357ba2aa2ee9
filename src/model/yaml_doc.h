/* A YAML file as a tree. Errors have their line: "stack.yaml:3: ...".
 *
 * Functions return 0, or a negative errno with a sentence in doc->err.
 */
#ifndef MODEL_YAML_DOC_H
#define MODEL_YAML_DOC_H

#include <limpet/err.h>
#include <stddef.h>
#include <yaml.h>

struct yaml_doc {
	yaml_document_t *tree;
	const char *name; /* of the file */
	struct lp_err *err;
};

/* Parse a text and call `fn` with its root. An empty text is an error. */
int yaml_doc_read(const char *text, size_t len, const char *name,
	int (*fn)(void *ctx, const struct yaml_doc *doc, const yaml_node_t *root), void *ctx,
	struct lp_err *err);

/* The node with this number in the tree. */
const yaml_node_t *yaml_doc_node(const struct yaml_doc *doc, int number);

/* -EINVAL, with a sentence that begins with the file and the line of `node`. */
int yaml_doc_error(const struct yaml_doc *doc, const yaml_node_t *node, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The index of a node's text in `words` (NULL-terminated). The error says what it should be
 * (`what`) and suggests the nearest word. */
int yaml_doc_word(const struct yaml_doc *doc, const yaml_node_t *node, const char *what,
	const char *const *words, unsigned *ret);

/* The key of a pair, which must be one of `keys`. Each may occur once; `*seen` remembers which
 * did. */
int yaml_doc_key(const struct yaml_doc *doc, const yaml_node_pair_t *pair, const char *const *keys,
	unsigned *seen, unsigned *ret);

/* Call `fn` for each item of a list; a single value counts as a list of one. Stops at a failure. */
int yaml_doc_each(const struct yaml_doc *doc, const yaml_node_t *node, const char *key,
	int (*fn)(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item), void *ctx);

/* Copy a text, which must not be empty; frees the old `*ret`. */
int yaml_doc_text(const struct yaml_doc *doc, const yaml_node_t *node, const char *key, char **ret);

/* A number from `least` to `most`. */
int yaml_doc_number(const struct yaml_doc *doc, const yaml_node_t *node, const char *key,
	double least, double most, double *ret);

#endif
