#include "trace/stack/stack_config.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/meant.h"
#include "model/span.h"
#include "model/yaml_doc.h"
#include "trace/stack/layer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX ((size_t)1 << 20)
#define REGIONS_MAX 64
#define FUNCTIONS_MAX 256
#define NAME_MAX_LEN 47 /* what a record has room for */

const struct stack_builtin stack_builtins[] = {
	{"posix", "any program: its calls of the C library", "layers: [posix]\n"},
	{"mpi-io", "a program that uses MPI-IO", "layers: [mpi-io, posix]\n"},
	{"hdf5", "a program that uses HDF5, with MPI-IO or without",
		"layers: [hdf5, mpi-io, posix]\n"},
	{"pnetcdf", "a program that uses PnetCDF", "layers: [pnetcdf, mpi-io, posix]\n"},
	{"glusterfs", "files on GlusterFS, down to the disks of its servers",
		"layers: [posix, fuse, client, network, server, storage, block]\n"},
	{"orangefs", "files on OrangeFS, down to the disks of its servers",
		"layers: [posix, fuse, client, network, server, storage, block]\n"},
	{"local", "files on a local file system, down to its disk", "layers: [posix, block]\n"},
	{NULL, NULL, NULL},
};

void stack_config_release(struct stack_config *c)
{
	free(c->name);
	free(c->application);
	free(c->drive);
	for (size_t i = 0; i < c->n_regions; i++) {
		free(c->regions[i].name);
		free(c->regions[i].what);
	}
	for (size_t i = 0; i < c->n_functions; i++)
		free(c->functions[i].name);
	free(c->regions);
	free(c->functions);
	*c = (struct stack_config){0};
}

/* The configuration being read, with data for the checks at the end. */
struct reading {
	struct stack_config *c;
	const yaml_node_t *metrics;
};

static int add_layer(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item)
{
	struct reading *rd = ctx;
	const char *names[33] = {NULL};
	unsigned at = 0;
	int r;

	for (unsigned i = 0; i < layers_n && i < 32; i++)
		names[i] = layers[i].name;
	r = yaml_doc_word(doc, item, "layer", names, &at);
	if (r == 0)
		rd->c->layers |= 1u << at;
	return r;
}

static int add_operation(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item)
{
	struct reading *rd = ctx;
	const char *names[SPAN_OPS + 2] = {NULL};
	unsigned at = 0;
	int r;

	for (unsigned i = 0; i < SPAN_OPS; i++)
		names[i] = span_op_names[i];
	names[SPAN_OPS] = "collective";
	r = yaml_doc_word(doc, item, "operation", names, &at);
	if (r == 0)
		rd->c->operations |= at == SPAN_OPS ? STACK_COLLECTIVE : 1u << at;
	return r;
}

static const char *const wanted_names[] = {[WANTED_LATENCY] = "latency",
	[WANTED_THROUGHPUT] = "throughput",
	[WANTED_SERVERS] = "servers",
	[WANTED_COMMUNICATION] = "communication",
	[WANTED_DISK_ACCESSES] = "disk-accesses",
	[WANTED_POWER] = "power",
	NULL};

static int add_metric(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item)
{
	struct reading *rd = ctx;
	unsigned at = 0;
	int r = yaml_doc_word(doc, item, "metric", wanted_names, &at);

	if (r == 0)
		rd->c->metrics |= 1u << at;
	return r;
}

/* Split "io.c:120-180" or "io.c:120". False: it has another form. */
static bool lines_parse(const char *text, struct stack_place *p)
{
	const char *colon = strrchr(text, ':');
	unsigned long first, last;
	char *end;

	if (!colon || colon == text || colon[1] < '0' || colon[1] > '9')
		return false;
	first = last = strtoul(colon + 1, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		last = strtoul(end + 1, &end, 10);
	if (*end || !first || last > UINT32_MAX)
		return false;
	p->kind = PLACE_LINES;
	p->first = (uint32_t)first;
	p->last = (uint32_t)last;
	p->what = strndup(text, (size_t)(colon - text));
	return true;
}

/* "write_plot()" */
static bool function_parse(const char *text, struct stack_place *p)
{
	size_t len = strlen(text);

	if (len < 3 || strcmp(text + len - 2, "()") != 0)
		return false;
	p->kind = PLACE_FUNCTION;
	p->what = strndup(text, len - 2);
	return true;
}

/* Is the name of a mark probably a slip of the pen? */
static bool looks_like_code(const char *name)
{
	const char *colon = strrchr(name, ':');

	return strpbrk(name, "()") || (colon && colon[1] >= '0' && colon[1] <= '9');
}

static int region_check(
	const struct yaml_doc *doc, const yaml_node_t *item, const struct stack_place *p)
{
	if (strlen(p->name) > NAME_MAX_LEN)
		return yaml_doc_error(doc, item,
			"the name of a region may have at most %d characters", NAME_MAX_LEN);
	if (strpbrk(p->name, ",;|\n"))
		return yaml_doc_error(
			doc, item, "the name of a region must not contain ',', ';' or '|'");
	if (p->kind == PLACE_MARK && looks_like_code(p->name))
		return yaml_doc_error(doc, item,
			"'%s' is neither a function, such as 'write_plot()', nor lines of a file, "
			"such as 'io.c:120-180'",
			p->name);
	if (p->kind == PLACE_LINES && p->last < p->first)
		return yaml_doc_error(doc, item, "'%s' ends before it begins", p->name);
	return 0;
}

static int add_region(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item)
{
	struct stack_config *c = ((struct reading *)ctx)->c;
	struct stack_place *p;
	int r;

	if (c->n_regions == REGIONS_MAX)
		return yaml_doc_error(doc, item, "there are more than %d regions", REGIONS_MAX);
	if (item->type == YAML_SCALAR_NODE && !item->data.scalar.length)
		return yaml_doc_error(doc, item, "a region has no name");
	if (array_reserve(&c->regions, &c->cap_regions, c->n_regions + 1, sizeof(*p)) < 0)
		return lp_err_sys(doc->err, -ENOMEM, "cannot read %s", doc->name);
	p = &c->regions[c->n_regions++];
	*p = (struct stack_place){.line = item->start_mark.line + 1};
	r = yaml_doc_text(doc, item, "regions", &p->name);
	if (r < 0)
		return r;
	if (!function_parse(p->name, p))
		lines_parse(p->name, p);
	if (p->kind != PLACE_MARK && !p->what)
		return lp_err_sys(doc->err, -ENOMEM, "cannot read %s", doc->name);
	return region_check(doc, item, p);
}

enum { FN_NAME, FN_OPERATION, FN_SIZE, FN_OFFSET, FN_OBJECT, FN_RETURNS };
static const char *const function_keys[] = {
	"name", "operation", "size", "offset", "object", "returns", NULL};

static int read_argument(const struct yaml_doc *doc, const yaml_node_t *value, unsigned key,
	struct stack_function *f)
{
	unsigned *const places[] = {&f->size, &f->offset, &f->object};
	double number;
	int r = yaml_doc_number(doc, value, function_keys[key], 1, 6, &number);

	if (r == 0 && number != (unsigned)number)
		r = yaml_doc_error(
			doc, value, "'%s' must be the number of an argument", function_keys[key]);
	if (r == 0)
		*places[key - FN_SIZE] = (unsigned)number;
	return r;
}

static int read_function_key(const struct yaml_doc *doc, const yaml_node_t *value, unsigned key,
	struct stack_function *f)
{
	static const char *const returns[] = {"status", "bytes", NULL};
	unsigned at = 0;
	int r;

	switch (key) {
	case FN_NAME:
		return yaml_doc_text(doc, value, "name", &f->name);
	case FN_OPERATION:
		return yaml_doc_word(doc, value, "operation", span_op_names, &f->op);
	case FN_RETURNS:
		r = yaml_doc_word(doc, value, "kind of result", returns, &at);
		f->returns_size = at == 1;
		return r;
	default:
		return read_argument(doc, value, key, f);
	}
}

static int add_function(void *ctx, const struct yaml_doc *doc, const yaml_node_t *item)
{
	struct stack_config *c = ((struct reading *)ctx)->c;
	struct stack_function *f;
	unsigned seen = 0, key = 0;
	int r = 0;

	if (item->type != YAML_MAPPING_NODE)
		return yaml_doc_error(doc, item, "a function must have lines 'key: value'");
	if (c->n_functions == FUNCTIONS_MAX)
		return yaml_doc_error(doc, item, "there are more than %d functions", FUNCTIONS_MAX);
	if (array_reserve(&c->functions, &c->cap_functions, c->n_functions + 1, sizeof(*f)) < 0)
		return lp_err_sys(doc->err, -ENOMEM, "cannot read %s", doc->name);
	f = &c->functions[c->n_functions++];
	*f = (struct stack_function){0};
	for (const yaml_node_pair_t *p = item->data.mapping.pairs.start;
		r == 0 && p < item->data.mapping.pairs.top; p++) {
		r = yaml_doc_key(doc, p, function_keys, &seen, &key);
		if (r == 0)
			r = read_function_key(doc, yaml_doc_node(doc, p->value), key, f);
	}
	if (r < 0)
		return r;
	if (!f->name)
		return yaml_doc_error(doc, item, "a function has no name");
	if (strlen(f->name) > NAME_MAX_LEN || strpbrk(f->name, " ,;|\n"))
		return yaml_doc_error(doc, item, "'%.64s' is not the name of a function", f->name);
	return 0;
}

enum { KEY_APPLICATION, KEY_REGIONS, KEY_OPERATIONS, KEY_LAYERS, KEY_METRICS, KEY_DRIVE, KEY_FNS };
static const char *const keys[] = {
	"application", "regions", "operations", "layers", "metrics", "drive", "functions", NULL};

static int read_key(
	const struct yaml_doc *doc, const yaml_node_t *value, unsigned key, struct reading *rd)
{
	static int (*const lists[])(void *ctx, const struct yaml_doc *doc,
		const yaml_node_t *item) = {[KEY_REGIONS] = add_region,
		[KEY_OPERATIONS] = add_operation,
		[KEY_LAYERS] = add_layer,
		[KEY_METRICS] = add_metric,
		[KEY_FNS] = add_function};

	if (key == KEY_APPLICATION)
		return yaml_doc_text(doc, value, "application", &rd->c->application);
	if (key == KEY_DRIVE)
		return yaml_doc_text(doc, value, "drive", &rd->c->drive);
	if (key == KEY_METRICS)
		rd->metrics = value;
	return yaml_doc_each(doc, value, keys[key], lists[key], rd);
}

/* Layers of a side or further down. */
static bool has_side(const struct stack_config *c, enum layer_side least)
{
	for (unsigned i = 0; i < layers_n; i++) {
		if (c->layers >> i & 1 && layers[i].side >= least)
			return true;
	}
	return false;
}

/* The requested metrics need layers that show them. */
static int metrics_check(const struct yaml_doc *doc, const struct reading *rd)
{
	const struct stack_config *c = rd->c;
	uint32_t of_disks = 1u << WANTED_DISK_ACCESSES | 1u << WANTED_POWER;
	uint32_t collective = (1u << STACK_POSIX) - (1u << (STACK_LIBRARY + 1));

	if (c->metrics & of_disks && !has_side(c, LAYER_DISK))
		return yaml_doc_error(
			doc, rd->metrics, "disk accesses and power need the layer 'block'");
	if (c->metrics >> WANTED_COMMUNICATION & 1 && !(c->layers & collective))
		return yaml_doc_error(doc, rd->metrics,
			"communication is seen in the layers 'hdf5', 'pnetcdf' and 'mpi-io'");
	if (c->metrics >> WANTED_SERVERS & 1 && !has_side(c, LAYER_SERVER))
		return yaml_doc_error(doc, rd->metrics,
			"servers are seen in the layers 'server', 'storage' and 'block'");
	return 0;
}

static int read_root(void *ctx, const struct yaml_doc *doc, const yaml_node_t *root)
{
	struct reading rd = {.c = ctx};
	unsigned seen = 0, key = 0;
	int r = 0;

	if (root->type != YAML_MAPPING_NODE)
		return yaml_doc_error(doc, root,
			"a configuration must have lines 'key: value', such as 'layers: [posix]'");
	for (const yaml_node_pair_t *p = root->data.mapping.pairs.start;
		r == 0 && p < root->data.mapping.pairs.top; p++) {
		r = yaml_doc_key(doc, p, keys, &seen, &key);
		if (r == 0)
			r = read_key(doc, yaml_doc_node(doc, p->value), key, &rd);
	}
	if (r == 0 && rd.c->n_functions)
		rd.c->layers |= 1u << STACK_LIBRARY;
	if (r == 0 && !rd.c->layers)
		r = yaml_doc_error(
			doc, root, "no layers are named; 'limpet stack layers' lists them");
	if (r == 0 && rd.c->layers >> STACK_LIBRARY & 1 && !rd.c->n_functions)
		r = yaml_doc_error(doc, root, "the layer 'library' needs a list 'functions'");
	return r < 0 ? r : metrics_check(doc, &rd);
}

/* Omitted keys mean everything. */
static void set_defaults(struct stack_config *c)
{
	if (!c->operations)
		c->operations = (1u << SPAN_OPS) - 1;
	c->operations |= 1u << SPAN_MARK;
}

int stack_config_parse(const char *text, size_t len, const char *name, struct stack_config *ret,
	struct lp_err *err)
{
	int r = yaml_doc_read(text, len, name, read_root, ret, err);

	if (r < 0)
		return r;
	set_defaults(ret);
	ret->name = strdup(name);
	return ret->name ? 0 : lp_err_sys(err, -ENOMEM, "cannot read %s", name);
}

static const struct stack_builtin *builtin_find(const char *name, size_t len)
{
	for (const struct stack_builtin *b = stack_builtins; b->name; b++) {
		if (strlen(b->name) == len && !memcmp(b->name, name, len))
			return b;
	}
	return NULL;
}

/* The layers of several built-in ones; 0: not all of these words are such. */
static int builtins_join(const char *names, struct stack_config *ret, struct lp_err *err)
{
	uint32_t joined = 0;

	for (const char *p = names; *p;) {
		size_t len = strcspn(p, ",");
		const struct stack_builtin *b = builtin_find(p, len);
		struct stack_config one = {0};
		int r;

		if (!b)
			return 0;
		r = stack_config_parse(b->text, strlen(b->text), b->name, &one, err);
		joined |= one.layers;
		stack_config_release(&one);
		if (r < 0)
			return r;
		p += len + (p[len] == ',');
	}
	if (!joined)
		return 0;
	ret->layers = joined;
	set_defaults(ret);
	return 1;
}

static int builtin_unknown(const char *name, struct lp_err *err)
{
	struct meant m = {.word = name};

	for (const struct stack_builtin *b = stack_builtins; b->name; b++)
		meant_consider(&m, b->name);
	return lp_err_set(err, -ENOENT,
		"there is neither a file nor a built-in configuration '%s'%s ('limpet stack "
		"layers' lists those that are built in)",
		name, meant_question(&m));
}

int stack_config_load(const char *name, struct stack_config *ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = builtins_join(name, ret, err);

	if (r != 0)
		return r < 0 ? r : 0;
	if (access(name, F_OK) < 0 && errno == ENOENT)
		return builtin_unknown(name, err);
	r = file_slurp(name, FILE_MAX, &text, &len, err);
	return r < 0 ? r : stack_config_parse(text, len, name, ret, err);
}
