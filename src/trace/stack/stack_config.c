#include "trace/stack/stack_config.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "model/span.h"
#include "model/topology_yaml.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define FILE_MAX ((size_t)1 << 20)
#define REGIONS_MAX 64

const struct stack_builtin stack_builtins[] = {
	{"posix", "any program: its calls of the C library", "layers: [posix]\n"},
	{"mpi-io", "a program that uses MPI-IO", "layers: [mpi-io, posix]\n"},
	{"hdf5", "a program that uses HDF5, with MPI-IO or without",
		"layers: [hdf5, mpi-io, posix]\n"},
	{"pnetcdf", "a program that uses PnetCDF", "layers: [pnetcdf, mpi-io, posix]\n"},
	{NULL, NULL, NULL},
};

struct reading {
	yaml_document_t *doc;
	const char *name;
	struct stack_config *c;
	struct lp_err *err;
};

void stack_config_release(struct stack_config *c)
{
	free(c->application);
	for (size_t i = 0; i < c->n_regions; i++)
		free(c->regions[i]);
	free(c->regions);
	*c = (struct stack_config){0};
}

static size_t line_of(const yaml_node_t *node)
{
	return node->start_mark.line + 1;
}

static const char *scalar_text(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

/* A word of a list of words, or what was meant by it. */
static int word_find(const struct reading *rd, const yaml_node_t *node, const char *what,
	const char *const *names, unsigned *ret)
{
	const char *meant;

	for (unsigned i = 0; names[i]; i++) {
		if (!strcmp(names[i], scalar_text(node))) {
			*ret = i;
			return 0;
		}
	}
	meant = yaml_meant(scalar_text(node), names);
	return lp_err_set(rd->err, -EINVAL, "%s:%zu: there is no %s '%.64s'%s%s%s", rd->name,
		line_of(node), what, scalar_text(node), meant ? "; did you mean '" : "",
		meant ? meant : "", meant ? "'?" : "");
}

/* Call `fn` for each word of a value: a list of words, or a single one. */
static int words_each(const struct reading *rd, const yaml_node_t *node, const char *key,
	int (*fn)(const struct reading *rd, const yaml_node_t *word))
{
	int r = 0;

	if (node->type == YAML_SCALAR_NODE)
		return fn(rd, node);
	if (node->type != YAML_SEQUENCE_NODE)
		return lp_err_set(rd->err, -EINVAL, "%s:%zu: '%s' is a list of words: [a, b]",
			rd->name, line_of(node), key);
	for (yaml_node_item_t *i = node->data.sequence.items.start;
		r == 0 && i < node->data.sequence.items.top; i++) {
		const yaml_node_t *word = yaml_document_get_node(rd->doc, *i);

		r = word->type == YAML_SCALAR_NODE
			? fn(rd, word)
			: lp_err_set(rd->err, -EINVAL, "%s:%zu: '%s' is a list of words: [a, b]",
				  rd->name, line_of(word), key);
	}
	return r;
}

static int add_layer(const struct reading *rd, const yaml_node_t *word)
{
	const char *names[16] = {NULL};
	unsigned at = 0;
	int r;

	for (unsigned i = 0; i < layers_n; i++)
		names[i] = layers[i].name;
	r = word_find(rd, word, "layer", names, &at);
	if (r == 0)
		rd->c->layers |= 1u << at;
	return r;
}

static int add_operation(const struct reading *rd, const yaml_node_t *word)
{
	unsigned at = 0;
	int r = word_find(rd, word, "operation", span_op_names, &at);

	if (r == 0)
		rd->c->operations |= 1u << at;
	return r;
}

static int add_region(const struct reading *rd, const yaml_node_t *word)
{
	struct stack_config *c = rd->c;
	char **grown;

	if (!scalar_text(word)[0] || c->n_regions == REGIONS_MAX)
		return lp_err_set(rd->err, -EINVAL, "%s:%zu: %s", rd->name, line_of(word),
			c->n_regions == REGIONS_MAX ? "there are more than 64 regions"
						    : "a region has no name");
	grown = reallocarray(c->regions, c->n_regions + 1, sizeof(*grown));
	if (!grown)
		return lp_err_sys(rd->err, -ENOMEM, "cannot read %s", rd->name);
	c->regions = grown;
	grown[c->n_regions] = strdup(scalar_text(word));
	if (!grown[c->n_regions])
		return lp_err_sys(rd->err, -ENOMEM, "cannot read %s", rd->name);
	c->n_regions++;
	return 0;
}

static int set_application(const struct reading *rd, const yaml_node_t *word)
{
	if (rd->c->application || !scalar_text(word)[0])
		return lp_err_set(rd->err, -EINVAL, "%s:%zu: 'application' is one name", rd->name,
			line_of(word));
	rd->c->application = strdup(scalar_text(word));
	return rd->c->application ? 0 : lp_err_sys(rd->err, -ENOMEM, "cannot read %s", rd->name);
}

static const char *const key_names[] = {"application", "regions", "operations", "layers", NULL};
static int (*const key_functions[])(const struct reading *rd, const yaml_node_t *word) = {
	set_application, add_region, add_operation, add_layer};

static int read_pair(const struct reading *rd, const yaml_node_pair_t *pair, unsigned *seen)
{
	const yaml_node_t *key = yaml_document_get_node(rd->doc, pair->key);
	const yaml_node_t *value = yaml_document_get_node(rd->doc, pair->value);
	unsigned at = 0;
	int r;

	if (key->type != YAML_SCALAR_NODE)
		return lp_err_set(
			rd->err, -EINVAL, "%s:%zu: a key is one word", rd->name, line_of(key));
	r = word_find(rd, key, "key", key_names, &at);
	if (r < 0)
		return r;
	if (*seen & 1u << at)
		return lp_err_set(rd->err, -EINVAL, "%s:%zu: '%s' is there twice", rd->name,
			line_of(key), key_names[at]);
	*seen |= 1u << at;
	return words_each(rd, value, key_names[at], key_functions[at]);
}

static int read_root(const struct reading *rd)
{
	const yaml_node_t *root = yaml_document_get_root_node(rd->doc);
	unsigned seen = 0;
	int r = 0;

	if (!root || root->type != YAML_MAPPING_NODE)
		return lp_err_set(rd->err, -EINVAL,
			"%s:%zu: a configuration has lines 'key: value', such as 'layers: [posix]'",
			rd->name, root ? line_of(root) : (size_t)1);
	for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
		r == 0 && p < root->data.mapping.pairs.top; p++)
		r = read_pair(rd, p, &seen);
	if (r == 0 && !rd->c->layers)
		r = lp_err_set(rd->err, -EINVAL,
			"%s: it names no layers; 'limpet stack layers' lists them", rd->name);
	return r;
}

static int document_load(
	yaml_parser_t *parser, const char *name, yaml_document_t *ret, struct lp_err *err)
{
	if (yaml_parser_load(parser, ret))
		return 0;
	return lp_err_set(err, -EINVAL, "%s:%zu: %s", name, parser->problem_mark.line + 1,
		parser->problem ? parser->problem : "this is no YAML");
}

/* What was not said is everything. */
static void set_defaults(struct stack_config *c)
{
	if (!c->operations)
		c->operations = (1u << SPAN_OPS) - 1;
	c->operations |= 1u << SPAN_MARK;
}

int stack_config_parse(const char *text, size_t len, const char *name, struct stack_config *ret,
	struct lp_err *err)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	struct reading rd = {.doc = &doc, .name = name, .c = ret, .err = err};
	int r;

	if (!yaml_parser_initialize(&parser))
		return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	r = document_load(&parser, name, &doc, err);
	if (r == 0) {
		r = read_root(&rd);
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
	if (r == 0)
		set_defaults(ret);
	return r;
}

int stack_config_load(const char *name, struct stack_config *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	for (const struct stack_builtin *b = stack_builtins; b->name; b++) {
		if (!strcmp(b->name, name))
			return stack_config_parse(b->text, strlen(b->text), name, ret, err);
	}
	r = file_slurp(name, FILE_MAX, &text, &len, err);
	return r < 0 ? r : stack_config_parse(text, len, name, ret, err);
}
