#include "import/remote/yaml_tree.h"

#include "base/safe_text.h"
#include "base/strbuf.h"
#include "model/topology_yaml.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 16

static const char *node_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

int yaml_tree_error(const struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err,
	const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	safe_text_make(text);
	return lp_err_set(err, -EINVAL, "%s:%zu: %s", t->name,
		node ? node->start_mark.line + 1 : (size_t)1, text);
}

static int parser_error(const struct yaml_tree *t, const yaml_parser_t *p, struct lp_err *err)
{
	if (p->error == YAML_MEMORY_ERROR)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->name);
	if (p->error == YAML_READER_ERROR)
		return lp_err_set(err, -EINVAL, "%s: byte %zu: %s", t->name, p->problem_offset + 1,
			p->problem ? p->problem : "this is not text");
	return lp_err_set(err, -EINVAL, "%s:%zu: this is not YAML: %s%s%s", t->name,
		p->problem_mark.line + 1, p->context ? p->context : "", p->context ? ", " : "",
		p->problem ? p->problem : "");
}

/* Refuse events that a small file does not need: aliases turn trees into graphs, and deep nesting
 * is an attack. */
static int event_check(const struct yaml_tree *t, const yaml_event_t *e, int *depth,
	unsigned *documents, struct lp_err *err)
{
	size_t line = e->start_mark.line + 1;

	switch (e->type) {
	case YAML_ALIAS_EVENT:
		return lp_err_set(
			err, -EINVAL, "%s:%zu: aliases are not supported here", t->name, line);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		if (++*depth > DEPTH_MAX)
			return lp_err_set(err, -EINVAL, "%s:%zu: nested too deeply", t->name, line);
		return 0;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		--*depth;
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		if (++*documents > 1)
			return lp_err_set(err, -EINVAL, "%s:%zu: a second document begins here",
				t->name, line);
		return 0;
	case YAML_SCALAR_EVENT:
		if (strlen((const char *)e->data.scalar.value) != e->data.scalar.length)
			return lp_err_set(
				err, -EINVAL, "%s:%zu: text with a zero byte in it", t->name, line);
		return 0;
	default:
		return 0;
	}
}

static int text_check(const struct yaml_tree *t, const char *text, size_t len, struct lp_err *err)
{
	unsigned documents = 0;
	yaml_parser_t parser;
	bool end = false;
	int depth = 0, r = 0;

	if (!yaml_parser_initialize(&parser))
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (r == 0 && !end) {
		yaml_event_t e;

		if (!yaml_parser_parse(&parser, &e)) {
			r = parser_error(t, &parser, err);
			break;
		}
		end = e.type == YAML_STREAM_END_EVENT;
		r = event_check(t, &e, &depth, &documents, err);
		yaml_event_delete(&e);
	}
	if (r == 0 && !documents)
		r = lp_err_set(err, -EINVAL, "%s: the file is empty", t->name);
	yaml_parser_delete(&parser);
	return r;
}

int yaml_tree_load(
	struct yaml_tree *t, const char *text, size_t len, const char *name, struct lp_err *err)
{
	yaml_parser_t parser;
	int r;

	t->name = strdup(name);
	if (!t->name)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
	r = text_check(t, text, len, err);
	if (r < 0)
		return r;
	if (!yaml_parser_initialize(&parser))
		return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	t->loaded = yaml_parser_load(&parser, &t->document);
	r = t->loaded ? 0 : parser_error(t, &parser, err);
	yaml_parser_delete(&parser);
	if (r == 0 && !yaml_tree_root(t))
		r = lp_err_set(err, -EINVAL, "%s: the file is empty", name);
	return r;
}

void yaml_tree_release(struct yaml_tree *t)
{
	if (t->loaded)
		yaml_document_delete(&t->document);
	free(t->name);
	*t = (struct yaml_tree){0};
}

const yaml_node_t *yaml_tree_root(struct yaml_tree *t)
{
	return yaml_document_get_root_node(&t->document);
}

bool yaml_tree_pair(struct yaml_tree *t, const yaml_node_t *mapping, size_t i, const char **ret_key,
	const yaml_node_t **ret_value)
{
	const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start + i;
	const yaml_node_t *key;

	if (pair >= mapping->data.mapping.pairs.top)
		return false;
	key = yaml_document_get_node(&t->document, pair->key);
	*ret_key = key->type == YAML_SCALAR_NODE ? node_text(key) : "";
	*ret_value = yaml_document_get_node(&t->document, pair->value);
	return true;
}

const yaml_node_t *yaml_tree_item(struct yaml_tree *t, const yaml_node_t *list, size_t i)
{
	const yaml_node_item_t *item = list->data.sequence.items.start + i;

	if (item >= list->data.sequence.items.top)
		return NULL;
	return yaml_document_get_node(&t->document, *item);
}

static int key_check(struct yaml_tree *t, const yaml_node_t *mapping, size_t i,
	const char *const *keys, struct lp_err *err)
{
	const yaml_node_t *value = NULL, *other_value;
	struct strbuf list = {0};
	const char *key = "", *other = "", *meant;
	int r;

	yaml_tree_pair(t, mapping, i, &key, &value);
	for (size_t k = 0; k < i; k++) {
		yaml_tree_pair(t, mapping, k, &other, &other_value);
		if (!strcmp(key, other))
			return yaml_tree_error(t, value, err, "'%.64s' is given twice", key);
	}
	for (const char *const *k = keys; k && *k; k++) {
		if (!strcmp(*k, key))
			return 0;
	}
	if (!keys)
		return 0;
	for (const char *const *k = keys; *k; k++)
		strbuf_printf(&list, "%s%s", list.len ? ", " : "", *k);
	meant = yaml_meant(key, keys);
	r = meant ? yaml_tree_error(
			    t, value, err, "there is no '%.64s'; did you mean '%s'?", key, meant)
		  : yaml_tree_error(t, value, err, "there is no '%.64s' here; there are: %s", key,
			    list.text ? list.text : "");
	strbuf_release(&list);
	return r;
}

int yaml_tree_mapping(struct yaml_tree *t, const yaml_node_t *node, const char *what,
	const char *const *keys, struct lp_err *err)
{
	const yaml_node_t *value;
	const char *key;

	if (!node || node->type != YAML_MAPPING_NODE)
		return yaml_tree_error(
			t, node, err, "%s must be a mapping, like {key: value}", what);
	for (size_t i = 0; yaml_tree_pair(t, node, i, &key, &value); i++) {
		int r = key_check(t, node, i, keys, err);

		if (r < 0)
			return r;
	}
	return 0;
}

const yaml_node_t *yaml_tree_get(struct yaml_tree *t, const yaml_node_t *mapping, const char *key)
{
	const yaml_node_t *value;
	const char *name;

	for (size_t i = 0; yaml_tree_pair(t, mapping, i, &name, &value); i++) {
		if (!strcmp(name, key))
			return value;
	}
	return NULL;
}

/* The text at a key. 1, or 0 if the key is missing. */
static int scalar_get(struct yaml_tree *t, const yaml_node_t *mapping, const char *key,
	const char **ret, struct lp_err *err)
{
	const yaml_node_t *node = yaml_tree_get(t, mapping, key);

	if (!node)
		return 0;
	if (node->type != YAML_SCALAR_NODE)
		return yaml_tree_error(t, node, err, "'%s' must be one word or text", key);
	*ret = node_text(node);
	return 1;
}

int yaml_tree_text(struct yaml_tree *t, const yaml_node_t *mapping, const char *key, char **ret,
	struct lp_err *err)
{
	const char *text = "";
	int r = scalar_get(t, mapping, key, &text, err);

	if (r <= 0)
		return r;
	free(*ret);
	*ret = strdup(text);
	return *ret ? 0 : lp_err_sys(err, -ENOMEM, "cannot read %s", t->name);
}

int yaml_tree_number(struct yaml_tree *t, const yaml_node_t *mapping, const char *key, double *ret,
	struct lp_err *err)
{
	const char *text = "";
	char *end;
	double value;
	int r = scalar_get(t, mapping, key, &text, err);

	if (r <= 0)
		return r;
	value = strtod(text, &end);
	if (end == text || *end || !isfinite(value))
		return yaml_tree_error(t, yaml_tree_get(t, mapping, key), err,
			"'%s' must be a number, not '%.64s'", key, text);
	*ret = value;
	return 0;
}

int yaml_tree_bool(struct yaml_tree *t, const yaml_node_t *mapping, const char *key, bool *ret,
	struct lp_err *err)
{
	const char *text = "";
	int r = scalar_get(t, mapping, key, &text, err);

	if (r <= 0)
		return r;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return yaml_tree_error(t, yaml_tree_get(t, mapping, key), err,
			"'%s' must be true or false, not '%.64s'", key, text);
	*ret = !strcmp(text, "true");
	return 0;
}
