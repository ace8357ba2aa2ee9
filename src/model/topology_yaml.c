#include "model/topology_yaml.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/meant.h"
#include "base/strbuf.h"
#include <cyaml/cyaml.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEPTH_MAX 8
#define KEYS_MAX 16

#define STRING_PTR(structure, member)                                                              \
	CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_OPTIONAL, structure, member, 0, CYAML_UNLIMITED)
#define LIST(structure, member, entry)                                                             \
	CYAML_FIELD_SEQUENCE(#member, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, structure, member, \
		entry, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t string_schema = {
	CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 0, CYAML_UNLIMITED)};

static const cyaml_schema_field_t rule_fields[] = {
	STRING_PTR(struct yaml_rule, match),
	LIST(struct yaml_rule, names, &string_schema),
	CYAML_FIELD_IGNORE("where", CYAML_FLAG_OPTIONAL),
	CYAML_FIELD_IGNORE("attributes", CYAML_FLAG_OPTIONAL),
	STRING_PTR(struct yaml_rule, table),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t rule_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_rule, rule_fields)};

static const cyaml_schema_field_t group_fields[] = {
	STRING_PTR(struct yaml_group, name),
	STRING_PTR(struct yaml_group, match),
	LIST(struct yaml_group, split_by, &string_schema),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t group_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_group, group_fields)};

static const cyaml_schema_field_t file_fields[] = {
	CYAML_FIELD_UINT("version", CYAML_FLAG_OPTIONAL, struct yaml_file, version),
	LIST(struct yaml_file, components, &rule_schema),
	LIST(struct yaml_file, groups, &group_schema),
	LIST(struct yaml_file, parts, &string_schema),
	LIST(struct yaml_file, observers, &string_schema),
	STRING_PTR(struct yaml_file, issuer),
	CYAML_FIELD_END,
};

static const cyaml_schema_value_t file_schema = {
	CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_file, file_fields)};

/* An open list or mapping. */
struct yaml_level {
	const cyaml_schema_value_t *schema;
	size_t path_len; /* of its path */
	uint32_t n;	 /* members so far */
	char *key;	 /* in a mapping: the key of the next value, or NULL */
};

struct scan {
	struct yaml_text *out;
	struct yaml_level levels[DEPTH_MAX];
	size_t depth;
	struct strbuf path;
	unsigned documents;
	struct lp_err *err;
};

static int scan_error(const struct scan *s, const yaml_event_t *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int scan_error(const struct scan *s, const yaml_event_t *e, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return lp_err_set(
		s->err, -EINVAL, "%s:%zu: %s", s->out->name, e->start_mark.line + 1, text);
}

const char *yaml_meant(const char *word, const char *const *names)
{
	struct meant m = {.word = word};

	for (const char *const *n = names; *n; n++)
		meant_consider(&m, *n);
	for (; m.edits && *names; names++) {
		if (!strcmp(*names, m.best))
			return *names;
	}
	return NULL;
}

static int key_unknown(const struct scan *s, const yaml_event_t *e, const char *key)
{
	const struct yaml_level *f = &s->levels[s->depth - 1];
	const cyaml_schema_field_t *field = f->schema->mapping.fields;
	const char *names[KEYS_MAX] = {NULL}, *meant;
	char list[200] = "";
	size_t len = 0;

	for (size_t i = 0; i + 1 < KEYS_MAX && field[i].key; i++) {
		names[i] = field[i].key;
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%s%s", i ? ", " : "", names[i]);
	}
	meant = yaml_meant(key, names);
	if (meant)
		return scan_error(s, e, "there is no '%.64s'; did you mean '%s'?", key, meant);
	return scan_error(s, e, "there is no '%.64s' here; there are: %s", key, list);
}

/* The schema of a key; NULL: no such key. */
static const cyaml_schema_value_t *field_schema(const struct yaml_level *f, const char *key)
{
	if (f->schema->type == CYAML_IGNORE)
		return &string_schema;
	for (const cyaml_schema_field_t *field = f->schema->mapping.fields; field->key; field++) {
		if (!strcmp(field->key, key))
			return &field->value;
	}
	return NULL;
}

/* The scalar's text; NULL after an error. */
static const char *scalar_text(const struct scan *s, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;

	if (strlen(text) == e->data.scalar.length)
		return text;
	scan_error(s, e, "text with a zero byte in it");
	return NULL;
}

static int key_take(struct scan *s, const yaml_event_t *e)
{
	struct yaml_level *f = &s->levels[s->depth - 1];
	const char *key;
	uint32_t before;

	if (e->type != YAML_SCALAR_EVENT)
		return scan_error(s, e, "a key must be a word");
	key = scalar_text(s, e);
	if (!key)
		return -EINVAL;
	if (!field_schema(f, key))
		return key_unknown(s, e, key);
	strbuf_printf(&s->path, "/%s", key);
	if (!s->path.failed && strmap_get(&s->out->lines, s->path.text, &before))
		return scan_error(s, e, "'%.64s' is given twice; first in line %u", key, before);
	f->key = strdup(key);
	if (s->path.failed || !f->key ||
		strmap_put(&s->out->lines, s->path.text, (uint32_t)e->start_mark.line + 1) < 0)
		return lp_err_sys(s->err, -ENOMEM, "cannot read %s", s->out->name);
	return 0;
}

/* A node is complete: return to the path of its parent. */
static void node_done(struct scan *s)
{
	struct yaml_level *f;

	if (!s->depth)
		return;
	f = &s->levels[s->depth - 1];
	free(f->key);
	f->key = NULL;
	f->n++;
	s->path.len = f->path_len;
	if (s->path.text)
		s->path.text[s->path.len] = '\0';
}

static int pair_add(struct scan *s, const yaml_event_t *e, const char *value)
{
	struct yaml_text *y = s->out;
	const struct yaml_level *f = &s->levels[s->depth - 1];
	struct yaml_pair pair = {.rule = s->levels[1].n,
		.where = !strcmp(s->levels[s->depth - 2].key, "where") ? YAML_WHERE
								       : YAML_ATTRIBUTES,
		.key = strdup(f->key),
		.value = strdup(value),
		.line = (unsigned)e->start_mark.line + 1};

	if (!pair.key || !pair.value ||
		array_reserve(&y->pairs, &y->cap_pairs, y->n_pairs + 1, sizeof(pair)) < 0) {
		free(pair.key);
		free(pair.value);
		return lp_err_sys(s->err, -ENOMEM, "cannot read %s", y->name);
	}
	y->pairs[y->n_pairs++] = pair;
	return 0;
}

/* The schema of a new node; also extends the path. NULL after an error. */
static const cyaml_schema_value_t *node_begin(struct scan *s, const yaml_event_t *e)
{
	struct yaml_level *f = s->depth ? &s->levels[s->depth - 1] : NULL;

	if (!f)
		return &file_schema;
	if (f->schema->type != CYAML_SEQUENCE)
		return field_schema(f, f->key);
	strbuf_printf(&s->path, "/%u", f->n);
	if (s->path.failed ||
		strmap_put(&s->out->lines, s->path.text, (uint32_t)e->start_mark.line + 1) < 0) {
		lp_err_sys(s->err, -ENOMEM, "cannot read %s", s->out->name);
		return NULL;
	}
	return f->schema->sequence.entry;
}

/* Does the node have the type that the schema requires? */
static int node_check(
	const struct scan *s, const yaml_event_t *e, const cyaml_schema_value_t *schema)
{
	const char *last =
		s->path.text && s->path.len ? strrchr(s->path.text, '/') + 1 : "the file";

	switch (schema->type) {
	case CYAML_SEQUENCE:
		if (e->type != YAML_SEQUENCE_START_EVENT)
			return scan_error(s, e, "'%s' must be a list, like [a, b]", last);
		return 0;
	case CYAML_MAPPING:
	case CYAML_IGNORE:
		if (e->type != YAML_MAPPING_START_EVENT)
			return scan_error(s, e,
				s->depth == 0 || schema->type == CYAML_IGNORE
					? "'%s' must be a mapping, like {key: value}"
					: "item %s of the list must be a mapping, like {match: "
					  "...}",
				last);
		return 0;
	default:
		if (e->type != YAML_SCALAR_EVENT)
			return scan_error(s, e, "'%s' must be one word or text", last);
		return 0;
	}
}

static int node_open(struct scan *s, const yaml_event_t *e, const cyaml_schema_value_t *schema)
{
	if (s->depth == DEPTH_MAX)
		return scan_error(s, e, "nested too deeply");
	s->levels[s->depth++] = (struct yaml_level){.schema = schema, .path_len = s->path.len};
	return 0;
}

static int node_take(struct scan *s, const yaml_event_t *e)
{
	const cyaml_schema_value_t *schema = node_begin(s, e);
	const char *text;
	int r = schema ? node_check(s, e, schema) : -ENOMEM;

	if (r < 0)
		return r;
	if (e->type != YAML_SCALAR_EVENT)
		return node_open(s, e, schema);
	text = scalar_text(s, e);
	if (!text)
		return -EINVAL;
	if (schema->type == CYAML_UINT && (!*text || text[strspn(text, "0123456789")]))
		return scan_error(s, e, "'%.64s' is not a number", text);
	if (s->levels[s->depth - 1].schema->type == CYAML_IGNORE)
		r = pair_add(s, e, text);
	node_done(s);
	return r;
}

static int node_close(struct scan *s, const yaml_event_t *e)
{
	const struct yaml_level *f = &s->levels[s->depth - 1];

	if (!f->n && s->depth > 1)
		return scan_error(
			s, e, "'%s' is empty", s->path.text ? strrchr(s->path.text, '/') + 1 : "");
	s->depth--;
	node_done(s);
	return 0;
}

static int event_take(struct scan *s, const yaml_event_t *e)
{
	const struct yaml_level *f = s->depth ? &s->levels[s->depth - 1] : NULL;

	switch (e->type) {
	case YAML_ALIAS_EVENT:
		return scan_error(s, e, "aliases (*%.64s) are not supported here",
			(const char *)e->data.alias.anchor);
	case YAML_DOCUMENT_START_EVENT:
		return s->documents++ ? scan_error(s, e, "a second document begins here") : 0;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return node_close(s, e);
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (f && f->schema->type != CYAML_SEQUENCE && !f->key)
			return key_take(s, e);
		return node_take(s, e);
	default:
		return 0;
	}
}

static int parser_error(const struct scan *s, const yaml_parser_t *p)
{
	if (p->error == YAML_MEMORY_ERROR)
		return lp_err_sys(s->err, -ENOMEM, "cannot read %s", s->out->name);
	if (p->error == YAML_READER_ERROR)
		return lp_err_set(s->err, -EINVAL, "%s: byte %zu: %s", s->out->name,
			p->problem_offset + 1, p->problem ? p->problem : "no text");
	return lp_err_set(s->err, -EINVAL, "%s:%zu: this is not YAML: %s%s%s", s->out->name,
		p->problem_mark.line + 1, p->context ? p->context : "", p->context ? ", " : "",
		p->problem ? p->problem : "");
}

static int scan_events(struct scan *s, yaml_parser_t *parser)
{
	bool end = false;
	int r = 0;

	while (r == 0 && !end) {
		yaml_event_t e;

		if (!yaml_parser_parse(parser, &e))
			return parser_error(s, parser);
		end = e.type == YAML_STREAM_END_EVENT;
		r = event_take(s, &e);
		yaml_event_delete(&e);
	}
	if (r == 0 && !s->documents)
		r = lp_err_set(s->err, -EINVAL, "%s: the file is empty; begin with 'version: 1'",
			s->out->name);
	return r;
}

static int scan_text(const char *text, size_t len, struct yaml_text *out, struct lp_err *err)
{
	struct scan s = {.out = out, .err = err};
	yaml_parser_t parser;
	int r;

	if (!yaml_parser_initialize(&parser))
		return lp_err_sys(err, -ENOMEM, "cannot read %s", out->name);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	r = scan_events(&s, &parser);
	yaml_parser_delete(&parser);
	for (size_t i = 0; i < DEPTH_MAX; i++)
		free(s.levels[i].key);
	strbuf_release(&s.path);
	return r;
}

/* The first error of libcyaml, and the innermost line of its backtrace. */
struct complaint {
	char text[256];
	unsigned line;
};

static void complaint_take(cyaml_log_t level, void *ctx, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

static void complaint_take(cyaml_log_t level, void *ctx, const char *fmt, va_list ap)
{
	struct complaint *c = ctx;
	char text[256];
	const char *line;

	(void)level;
	vsnprintf(text, sizeof(text), fmt, ap);
	line = strstr(text, "(line: ");
	if (line && !c->line)
		c->line = (unsigned)strtoul(line + strlen("(line: "), NULL, 10);
	text[strcspn(text, "\n")] = '\0';
	if (!line && !c->text[0])
		snprintf(c->text, sizeof(c->text), "%s",
			!strncmp(text, "Load: ", 6) ? text + 6 : text);
}

static cyaml_config_t load_config(struct complaint *c)
{
	return (cyaml_config_t){.log_fn = complaint_take,
		.log_ctx = c,
		.mem_fn = cyaml_mem,
		.log_level = CYAML_LOG_ERROR,
		.flags = CYAML_CFG_NO_ALIAS};
}

int yaml_text_load(
	const char *text, size_t len, const char *name, struct yaml_text *ret, struct lp_err *err)
{
	struct complaint c = {0};
	cyaml_config_t config = load_config(&c);
	cyaml_err_t e;
	int r;

	ret->name = name;
	r = scan_text(text, len, ret, err);
	if (r < 0)
		return r;
	e = cyaml_load_data((const uint8_t *)text, len, &config, &file_schema,
		(cyaml_data_t **)&ret->file, NULL);
	if (e == CYAML_ERR_OOM)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", name);
	if (e != CYAML_OK)
		return lp_err_set(err, -EINVAL, "%s:%u: %s", name, c.line ? c.line : 1,
			c.text[0] ? c.text : cyaml_strerror(e));
	if (!ret->file)
		return lp_err_set(err, -EINVAL, "%s: the file is empty", name);
	return 0;
}

void yaml_text_release(struct yaml_text *y)
{
	struct complaint c = {0};
	cyaml_config_t config = load_config(&c);

	if (y->file)
		cyaml_free(&config, &file_schema, y->file, 0);
	for (size_t i = 0; i < y->n_pairs; i++) {
		free(y->pairs[i].key);
		free(y->pairs[i].value);
	}
	free(y->pairs);
	strmap_release(&y->lines);
	*y = (struct yaml_text){0};
}

unsigned yaml_text_line(const struct yaml_text *y, const char *fmt, ...)
{
	char path[256] = "/";
	uint32_t line;
	va_list ap;
	char *slash;

	va_start(ap, fmt);
	vsnprintf(path + 1, sizeof(path) - 1, fmt, ap);
	va_end(ap);
	while (path[0]) {
		if (strmap_get(&y->lines, path, &line))
			return line;
		slash = strrchr(path, '/');
		*slash = '\0';
	}
	return 1;
}
