#include "import/remote/mapping.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "collect/collector.h"
#include "import/remote/mapping_builtin.h"
#include "import/remote/yaml_tree.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

#define COLUMNS_MAX 200 /* of a kind; a schema has LP_COLUMNS_MAX */
#define GROUPS_MAX 256

static void conditions_release(struct mapping_conditions *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->items[i].label);
		free(c->items[i].text);
		regfree(&c->items[i].pattern);
	}
	free(c->items);
}

static void column_release(struct mapping_column *c)
{
	free(c->metric);
	free(c->per);
	free(c->column);
	free(c->unit);
	conditions_release(&c->where);
}

static void group_release(struct mapping_group *g)
{
	for (size_t i = 0; i < g->n_columns; i++)
		column_release(&g->columns[i]);
	free(g->columns);
	conditions_release(&g->where);
	free(g->kind);
	free(g->name);
	free(g->observer);
}

void mapping_release(struct mapping *m)
{
	for (size_t i = 0; i < m->n_groups; i++)
		group_release(&m->groups[i]);
	free(m->groups);
	*m = (struct mapping){0};
}

/* Is it the name of a metric or a label in Prometheus, or in PCP, which has dots between the
 * parts? */
static bool name_is_good(const char *name)
{
	if (!isalpha((unsigned char)name[0]) && name[0] != '_' && name[0] != ':')
		return false;
	for (const char *p = name; *p; p++) {
		if (!isalnum((unsigned char)*p) && *p != '_' && *p != ':' && *p != '.')
			return false;
	}
	return true;
}

int mapping_condition(struct mapping_conditions *c, const char *label, const char *text)
{
	_cleanup_(strbuf_release) struct strbuf pattern = {0};
	struct mapping_where w = {.not = text[0] == '!'};
	int r = -ENOMEM;

	strbuf_printf(&pattern, "^(%s)$", text + w.not );
	w.label = strdup(label);
	w.text = strdup(text + w.not );
	if (!pattern.failed && w.label && w.text &&
		array_reserve(&c->items, &c->cap, c->n + 1, sizeof(*c->items)) == 0)
		r = regcomp(&w.pattern, pattern.text, REG_EXTENDED | REG_NOSUB) ? -EINVAL : 0;
	if (r < 0) {
		free(w.label);
		free(w.text);
		return r;
	}
	c->items[c->n++] = w;
	return 0;
}

static int condition_add(struct mapping_conditions *c, struct yaml_tree *t,
	const yaml_node_t *value, const char *label, struct lp_err *err)
{
	const char *text;
	int r;

	if (value->type != YAML_SCALAR_NODE)
		return yaml_tree_error(
			t, value, err, "'%.64s' must be a regular expression", label);
	if (!name_is_good(label))
		return yaml_tree_error(t, value, err, "'%.64s' is not the name of a label", label);
	text = (const char *)value->data.scalar.value;
	if (strlen(text) > 1000)
		return yaml_tree_error(t, value, err, "the regular expression is too long");
	r = mapping_condition(c, label, text);
	if (r == -EINVAL)
		return yaml_tree_error(t, value, err, "'%.200s' is not a regular expression", text);
	return r < 0 ? lp_err_sys(err, r, "cannot read %s", t->name) : 0;
}

static int conditions_read(struct mapping_conditions *c, struct yaml_tree *t,
	const yaml_node_t *parent, struct lp_err *err)
{
	const yaml_node_t *node = yaml_tree_get(t, parent, "where"), *value;
	const char *label;
	int r = node ? yaml_tree_mapping(t, node, "'where'", NULL, err) : 0;

	for (size_t i = 0; node && r == 0 && yaml_tree_pair(t, node, i, &label, &value); i++)
		r = condition_add(c, t, value, label, err);
	return r;
}

/* The column with this name in one of limpet's collectors; if there is none, a column without a
 * name. */
static struct lp_column column_of_collector(const char *kind, const char *name)
{
	for (const struct collector *const *c = collectors; *c; c++) {
		int at;

		if (strcmp((*c)->schema->kind, kind) != 0)
			continue;
		at = lp_schema_column((*c)->schema, name);
		if (at >= 0)
			return (*c)->schema->columns[at];
	}
	return (struct lp_column){0};
}

static int type_read(
	struct mapping_column *c, struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	int r = yaml_tree_text(t, node, "type", &text, err);

	if (r < 0)
		return r;
	if (!text) {
		size_t n = strlen(c->metric);

		c->type = c->per || (n > 6 && !strcmp(c->metric + n - 6, "_total"))
			? MAPPING_COUNTER
			: MAPPING_GAUGE;
		if (c->own.name)
			c->type = c->own.type == LP_COUNTER ? MAPPING_COUNTER : MAPPING_GAUGE;
		return 0;
	}
	if (strcmp(text, "counter") != 0 && strcmp(text, "gauge") != 0)
		return yaml_tree_error(t, yaml_tree_get(t, node, "type"), err,
			"'type' must be counter or gauge, not '%.64s'", text);
	c->type = !strcmp(text, "counter") ? MAPPING_COUNTER : MAPPING_GAUGE;
	if (c->own.name && (c->own.type == LP_COUNTER) != (c->type == MAPPING_COUNTER))
		return yaml_tree_error(t, yaml_tree_get(t, node, "type"), err,
			"limpet's own column '%s' is a %s", c->column,
			c->own.type == LP_COUNTER ? "counter" : "gauge");
	return 0;
}

static const struct {
	const char *name;
	enum lp_role role;
} roles[] = {
	{"latency", LP_ROLE_LATENCY},
	{"work", LP_ROLE_WORK},
	{"busy", LP_ROLE_BUSY},
	{"trouble", LP_ROLE_TROUBLE},
	{"yield", LP_ROLE_YIELD},
	{"other", LP_ROLE_OTHER},
};

/* Is the role possible? Either the name already implies it, or it may be set in addition. */
static bool role_is_possible(enum lp_role wanted, enum lp_role named)
{
	bool accuses =
		wanted == LP_ROLE_LATENCY || wanted == LP_ROLE_TROUBLE || wanted == LP_ROLE_YIELD;

	return wanted == named || accuses ||
		(wanted != LP_ROLE_WORK && (named == LP_ROLE_OTHER || named == LP_ROLE_BUSY));
}

static int role_read(struct mapping_column *c, struct yaml_tree *t, const yaml_node_t *node,
	const char *kind, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	const yaml_node_t *at = yaml_tree_get(t, node, "role");
	int r = yaml_tree_text(t, node, "role", &text, err);

	if (r < 0 || !text)
		return r;
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (strcmp(roles[i].name, text) != 0)
			continue;
		c->role = roles[i].role;
		c->has_role = true;
		if (role_is_possible(c->role, lp_metric_role(kind, c->column)))
			return 0;
		return yaml_tree_error(t, at, err,
			"limpet infers another meaning from the name '%s': choose a 'column' that "
			"says %s (for instance with %s in it)",
			c->column, text, c->role == LP_ROLE_WORK ? "'throughput'" : "'util'");
	}
	return yaml_tree_error(t, at, err,
		"'role' must be latency, work, busy, trouble, yield or other, not '%.64s'", text);
}

static int column_check(const struct mapping_column *c, struct yaml_tree *t,
	const yaml_node_t *node, struct lp_err *err)
{
	if (!c->metric || !c->column)
		return yaml_tree_error(t, node, err, "a metric needs a 'metric' and a 'column'");
	if (!name_is_good(c->metric) || (c->per && !name_is_good(c->per)))
		return yaml_tree_error(t, node, err, "'%.64s' is not the name of a metric",
			name_is_good(c->metric) ? c->per : c->metric);
	if (!c->column[0] || strlen(c->column) > 63 || strpbrk(c->column, ", \t\n/:"))
		return yaml_tree_error(
			t, node, err, "'%.64s' is not the name of a column", c->column);
	if (c->per && c->own.name)
		return yaml_tree_error(t, node, err,
			"'%s' is a column that limpet records itself: it takes no 'per'",
			c->column);
	if (!(c->scale != 0))
		return yaml_tree_error(t, node, err, "'scale' must not be 0");
	return 0;
}

static int column_read(
	struct mapping_group *g, struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err)
{
	static const char *const keys[] = {
		"metric", "per", "column", "unit", "scale", "type", "role", "sum", "where", NULL};
	struct mapping_column *c;
	int r = yaml_tree_mapping(t, node, "a metric", keys, err);

	if (r < 0)
		return r;
	if (g->n_columns == COLUMNS_MAX)
		return yaml_tree_error(t, node, err, "more than %d metrics of a kind", COLUMNS_MAX);
	if (array_reserve(&g->columns, &g->cap_columns, g->n_columns + 1, sizeof(*g->columns)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->name);
	c = &g->columns[g->n_columns++];
	c->scale = 1;
	r = yaml_tree_text(t, node, "metric", &c->metric, err);
	if (r == 0)
		r = yaml_tree_text(t, node, "per", &c->per, err);
	if (r == 0)
		r = yaml_tree_text(t, node, "column", &c->column, err);
	if (r == 0)
		r = yaml_tree_text(t, node, "unit", &c->unit, err);
	if (r == 0)
		r = yaml_tree_number(t, node, "scale", &c->scale, err);
	if (r == 0)
		r = yaml_tree_bool(t, node, "sum", &c->sum, err);
	if (r == 0 && c->column)
		c->own = column_of_collector(g->kind, c->column);
	if (r == 0)
		r = column_check(c, t, node, err);
	if (r == 0)
		r = type_read(c, t, node, err);
	if (r == 0)
		r = role_read(c, t, node, g->kind, err);
	return r < 0 ? r : conditions_read(&c->where, t, node, err);
}

static int template_check(struct yaml_tree *t, const yaml_node_t *node, const char *key,
	const char *text, struct lp_err *err)
{
	bool open = false;

	for (const char *p = text; *p; p++) {
		bool bad = (*p == '{' && open) || (*p == '}' && !open) ||
			(open && !isalnum((unsigned char)*p) && !strchr("_|}", *p));

		if (bad)
			return yaml_tree_error(t, yaml_tree_get(t, node, key), err,
				"'%s' must be text with labels in braces, like {device}: '%.100s'",
				key, text);
		open = *p == '{' || (open && *p != '}');
	}
	if (open || !*text)
		return yaml_tree_error(t, yaml_tree_get(t, node, key), err,
			"'%s' must be text with labels in braces, like {device}: '%.100s'", key,
			text);
	return 0;
}

static int group_check(const struct mapping_group *g, struct yaml_tree *t, const yaml_node_t *node,
	struct lp_err *err)
{
	const yaml_node_t *metrics = yaml_tree_get(t, node, "metrics");
	int r;

	if (!g->kind || !g->name)
		return yaml_tree_error(t, node, err, "a group needs a 'kind' and a 'name'");
	if (!g->kind[0] || strlen(g->kind) > 32 || strpbrk(g->kind, "/: \t\n,"))
		return yaml_tree_error(t, node, err, "'%.64s' is not the name of a kind", g->kind);
	r = template_check(t, node, "name", g->name, err);
	if (r == 0 && g->observer)
		r = template_check(t, node, "observer", g->observer, err);
	if (r == 0 && (!metrics || metrics->type != YAML_SEQUENCE_NODE))
		r = yaml_tree_error(t, metrics ? metrics : node, err, "'metrics' must be a list");
	return r;
}

static int group_read(
	struct mapping *m, struct yaml_tree *t, const yaml_node_t *node, struct lp_err *err)
{
	static const char *const keys[] = {"kind", "name", "observer", "where", "metrics", NULL};
	const yaml_node_t *metrics, *item;
	struct mapping_group *g;
	int r = yaml_tree_mapping(t, node, "a group", keys, err);

	if (r < 0)
		return r;
	if (m->n_groups == GROUPS_MAX)
		return yaml_tree_error(t, node, err, "more than %d groups", GROUPS_MAX);
	if (array_reserve(&m->groups, &m->cap_groups, m->n_groups + 1, sizeof(*m->groups)) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", t->name);
	g = &m->groups[m->n_groups++];
	r = yaml_tree_text(t, node, "kind", &g->kind, err);
	if (r == 0)
		r = yaml_tree_text(t, node, "name", &g->name, err);
	if (r == 0)
		r = yaml_tree_text(t, node, "observer", &g->observer, err);
	if (r == 0)
		r = conditions_read(&g->where, t, node, err);
	if (r == 0)
		r = group_check(g, t, node, err);
	metrics = yaml_tree_get(t, node, "metrics");
	for (size_t i = 0; r == 0 && (item = yaml_tree_item(t, metrics, i)); i++)
		r = column_read(g, t, item, err);
	return r;
}

static int tree_read(struct mapping *m, struct yaml_tree *t, struct lp_err *err)
{
	static const char *const keys[] = {"version", "groups", NULL};
	const yaml_node_t *root = yaml_tree_root(t), *groups, *item;
	double version = 0;
	int r = yaml_tree_mapping(t, root, "the file", keys, err);

	if (r == 0)
		r = yaml_tree_number(t, root, "version", &version, err);
	if (r < 0)
		return r;
	if (version != 1)
		return yaml_tree_error(
			t, yaml_tree_get(t, root, "version"), err, "begin with 'version: 1'");
	groups = yaml_tree_get(t, root, "groups");
	if (!groups || groups->type != YAML_SEQUENCE_NODE)
		return yaml_tree_error(t, groups ? groups : root, err, "'groups' must be a list");
	for (size_t i = 0; r == 0 && (item = yaml_tree_item(t, groups, i)); i++)
		r = group_read(m, t, item, err);
	return r;
}

int mapping_parse(
	struct mapping *m, const char *text, size_t len, const char *name, struct lp_err *err)
{
	_cleanup_(yaml_tree_release) struct yaml_tree t = {0};
	int r = yaml_tree_load(&t, text, len, name, err);

	return r < 0 ? r : tree_read(m, &t, err);
}

int mapping_load(struct mapping *m, const char *path, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = file_slurp(path, YAML_TREE_BYTES_MAX, &text, &len, err);

	return r < 0 ? r : mapping_parse(m, text, len, path, err);
}

int mapping_load_builtin(struct mapping *m, const char *server, struct lp_err *err)
{
	bool pcp = !strcmp(server, "pcp");

	for (const struct mapping_text *t = mapping_texts; t->name; t++) {
		int r = 0;

		if (!strcmp(t->name, "pcp.yaml") == pcp)
			r = mapping_parse(m, t->text, strlen(t->text), t->name, err);
		if (r < 0)
			return r;
	}
	return 0;
}

bool mapping_matches(const struct mapping_conditions *c, mapping_label_fn label, const void *series)
{
	for (size_t i = 0; i < c->n; i++) {
		const char *value = label(series, c->items[i].label);
		bool matches = regexec(&c->items[i].pattern, value ? value : "", 0, NULL, 0) == 0;

		if (matches == c->items[i].not )
			return false;
	}
	return true;
}

/* The first existing label of "a|b". */
static const char *label_choose(
	const char *names, size_t len, mapping_label_fn label, const void *series)
{
	while (len) {
		const char *bar = memchr(names, '|', len);
		size_t n = bar ? (size_t)(bar - names) : len;
		char name[128];
		const char *value;

		snprintf(name, sizeof(name), "%.*s", (int)n, names);
		value = label(series, name);
		if (value && *value)
			return value;
		names += n + (bar != NULL);
		len -= n + (bar != NULL);
	}
	return NULL;
}

bool mapping_expand(
	const char *template, mapping_label_fn label, const void *series, struct strbuf *to)
{
	strbuf_reset(to);
	while (*template) {
		size_t plain = strcspn(template, "{");
		const char *end, *value;

		strbuf_add(to, template, plain);
		template += plain;
		end = *template ? strchr(template, '}') : NULL;
		if (!end)
			break;
		value = label_choose(template + 1, (size_t)(end - template) - 1, label, series);
		if (!value)
			return false;
		strbuf_puts(to, value);
		template = end + 1;
	}
	return to->len > 0 && !to->failed;
}
