#include "model/yaml_doc.h"

#include "model/topology_yaml.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tree_load(
	yaml_parser_t *parser, const char *name, yaml_document_t *ret, struct lp_err *err)
{
	if (yaml_parser_load(parser, ret))
		return 0;
	return lp_err_set(err, -EINVAL, "%s:%zu: %s", name, parser->problem_mark.line + 1,
		parser->problem ? parser->problem : "this is not YAML");
}

int yaml_doc_read(const char *text, size_t len, const char *name,
	int (*fn)(void *ctx, const struct yaml_doc *doc, const yaml_node_t *root), void *ctx,
	struct lp_err *err)
{
	yaml_parser_t parser;
	yaml_document_t tree;
	struct yaml_doc doc = {.tree = &tree, .name = name, .err = err};
	const yaml_node_t *root;
	int r;

	if (!yaml_parser_initialize(&parser))
		return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	r = tree_load(&parser, name, &tree, err);
	if (r == 0) {
		root = yaml_document_get_root_node(&tree);
		r = root ? fn(ctx, &doc, root)
			 : lp_err_set(err, -EINVAL, "%s:1: the file is empty", name);
		yaml_document_delete(&tree);
	}
	yaml_parser_delete(&parser);
	return r;
}

const yaml_node_t *yaml_doc_node(const struct yaml_doc *doc, int number)
{
	return yaml_document_get_node(doc->tree, number);
}

int yaml_doc_error(const struct yaml_doc *doc, const yaml_node_t *node, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return lp_err_set(
		doc->err, -EINVAL, "%s:%zu: %s", doc->name, node->start_mark.line + 1, text);
}

int yaml_doc_word(const struct yaml_doc *doc, const yaml_node_t *node, const char *what,
	const char *const *words, unsigned *ret)
{
	const char *text, *meant;

	if (node->type != YAML_SCALAR_NODE)
		return yaml_doc_error(doc, node, "this is not the name of one %s", what);
	text = (const char *)node->data.scalar.value;
	for (unsigned i = 0; words[i]; i++) {
		if (!strcmp(words[i], text)) {
			*ret = i;
			return 0;
		}
	}
	meant = yaml_meant(text, words);
	return yaml_doc_error(doc, node, "there is no %s '%.64s'%s%s%s", what, text,
		meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

int yaml_doc_key(const struct yaml_doc *doc, const yaml_node_pair_t *pair, const char *const *keys,
	unsigned *seen, unsigned *ret)
{
	const yaml_node_t *key = yaml_doc_node(doc, pair->key);
	int r = yaml_doc_word(doc, key, "key", keys, ret);

	if (r < 0)
		return r;
	if (*seen & 1u << *ret)
		return yaml_doc_error(doc, key, "'%s' is given twice", keys[*ret]);
	*seen |= 1u << *ret;
	return 0;
}

int yaml_doc_each(const struct yaml_doc *doc, const yaml_node_t *node, const char *key,
	int (*fn)(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item), void *ctx)
{
	int r = 0;

	if (node->type == YAML_SCALAR_NODE)
		return fn(ctx, doc, node);
	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_doc_error(doc, node, "'%s' is a list: [a, b]", key);
	for (const yaml_node_item_t *i = node->data.sequence.items.start;
		r == 0 && i < node->data.sequence.items.top; i++)
		r = fn(ctx, doc, yaml_doc_node(doc, *i));
	return r;
}

int yaml_doc_text(const struct yaml_doc *doc, const yaml_node_t *node, const char *key, char **ret)
{
	char *copy;

	if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length)
		return yaml_doc_error(doc, node, "'%s' is one word", key);
	copy = strdup((const char *)node->data.scalar.value);
	if (!copy)
		return lp_err_sys(doc->err, -ENOMEM, "cannot read %s", doc->name);
	free(*ret);
	*ret = copy;
	return 0;
}

int yaml_doc_number(const struct yaml_doc *doc, const yaml_node_t *node, const char *key,
	double least, double most, double *ret)
{
	const char *text;
	double value;
	char *end;

	if (node->type != YAML_SCALAR_NODE || !node->data.scalar.length)
		return yaml_doc_error(doc, node, "'%s' is a number", key);
	text = (const char *)node->data.scalar.value;
	value = strtod(text, &end);
	if (*end || !isfinite(value) || value < least || value > most)
		return yaml_doc_error(doc, node, "'%s' is a number from %g to %g, not '%.32s'", key,
			least, most, text);
	*ret = value;
	return 0;
}
