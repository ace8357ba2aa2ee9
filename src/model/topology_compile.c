/* Converts the text of a topology file to a topology. Invalid statements are refused with their
 * line. */
#include "base/array.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "model/topology_def.h"
#include "model/topology_yaml.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX_BYTES (4u << 20)
#define VERSION 1

/* Far more than anyone writes; searches are linear. */
#define ATTRIBUTES_MAX 256
#define ITEMS_MAX 10000

DEFINE_CLEANUP(struct topology *, topology_free);

/* A topology in the making. */
struct maker {
	struct topology *t;
	const struct yaml_text *y;
	const char *dir; /* the directory of tables; NULL: no tables may be read */
	size_t pair;	 /* the next pair */
	struct lp_err *err;
};

static int no_memory(const struct maker *m)
{
	return lp_err_sys(m->err, -ENOMEM, "cannot read %s", m->y->name);
}

static int fail(const struct maker *m, unsigned line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(const struct maker *m, unsigned line, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return lp_err_set(m->err, -EINVAL, "%s:%u: %s", m->y->name, line, text);
}

/* Put file and line before the error of another function. */
static int located(const struct maker *m, unsigned line, int r)
{
	if (r < 0)
		lp_err_prefix(m->err, "%s:%u", m->y->name, line);
	return r;
}

static int choice_parse(
	const struct maker *m, const char *text, unsigned line, struct topology_choice *ret)
{
	const char *dash = strchr(text, '-');
	size_t len = dash ? (size_t)(dash - text) : strlen(text);

	ret->number = topology_number(text, len, &ret->first);
	ret->last = ret->first;
	if (ret->number && dash)
		ret->number = topology_number(dash + 1, strlen(dash + 1), &ret->last);
	if (ret->number && ret->last < ret->first)
		return fail(m, line, "the range '%.64s' runs backwards", text);
	return ret->number ? 0 : located(m, line, pattern_compile(text, &ret->glob, m->err));
}

/* "0-47,50,a*" */
static int where_parse(
	const struct maker *m, const struct yaml_pair *pair, struct topology_where *ret)
{
	_cleanup_free_ char *copy = strdup(pair->value);
	char *rest = copy;
	size_t cap = 0;
	int r = 0;

	if (!copy)
		return no_memory(m);
	while (r == 0 && rest) {
		char *item = strsep(&rest, ",");

		item += strspn(item, " \t");
		item[strcspn(item, " \t")] = '\0';
		if (!*item)
			return fail(m, pair->line,
				"'%s: %.64s' has an empty choice; write numbers, ranges or globs "
				"with commas between, like 0-47,50",
				pair->key, pair->value);
		if (array_reserve(&ret->choices, &cap, ret->n_choices + 1, sizeof(*ret->choices)) <
			0)
			return no_memory(m);
		r = choice_parse(m, item, pair->line, &ret->choices[ret->n_choices++]);
	}
	return r;
}

static int where_add(
	const struct maker *m, const struct yaml_pair *pair, struct topology_rule *rule)
{
	struct topology_where *w = &rule->where[rule->n_where++];
	int r = text_part_find(&rule->match, pair->key, &w->of, m->err);

	return r < 0 ? located(m, pair->line, r) : where_parse(m, pair, w);
}

/* Note that a rule sets an attribute. */
static int origin_add(const struct maker *m, const char *attribute)
{
	struct topology *t = m->t;
	struct topology_origin *o = (struct topology_origin *)topology_origin_find(t, attribute);

	if (!o) {
		if (t->n_origins == ATTRIBUTES_MAX)
			return lp_err_set(m->err, -EINVAL, "%s: more than %d attributes",
				m->y->name, ATTRIBUTES_MAX);
		if (array_reserve(&t->origins, &t->cap_origins, t->n_origins + 1, sizeof(*o)) < 0)
			return no_memory(m);
		o = &t->origins[t->n_origins];
		o->attribute = strdup(attribute);
		if (!o->attribute)
			return no_memory(m);
		t->n_origins++;
	}
	if (array_reserve(&o->rules, &o->cap_rules, o->n_rules + 1, sizeof(*o->rules)) < 0)
		return no_memory(m);
	o->rules[o->n_rules++] = (uint32_t)(t->n_rules - 1);
	return 0;
}

/* May a rule set an attribute with this name? */
static int attribute_check(const struct maker *m, const char *name, unsigned line)
{
	if (topology_own_find(name) >= 0)
		return fail(m, line,
			"'%s' comes from the component's name and cannot be set by a rule", name);
	if (!topology_is_word(name, strlen(name)))
		return fail(m, line,
			"'%.64s' is not a name for an attribute (letters, digits, - and _)", name);
	return 0;
}

static int setting_add(
	const struct maker *m, const struct yaml_pair *pair, struct topology_rule *rule)
{
	struct topology_setting *s = &rule->settings[rule->n_settings++];
	int r = attribute_check(m, pair->key, pair->line);

	if (r < 0)
		return r;
	s->attribute = strdup(pair->key);
	if (!s->attribute)
		return no_memory(m);
	r = text_template_compile(pair->value, &rule->match, &s->value, m->err);
	return r < 0 ? located(m, pair->line, r) : origin_add(m, pair->key);
}

static int table_add(
	const struct maker *m, const char *file, unsigned line, struct topology_rule *rule)
{
	_cleanup_free_ char *path = NULL;
	int r;

	if (!m->dir)
		return fail(m, line, "a topology that is not read from a file has no tables");
	if (asprintf(&path, "%s%s", file[0] == '/' ? "" : m->dir, file) < 0) {
		path = NULL;
		return no_memory(m);
	}
	r = topology_table_read(path, &rule->match, &rule->table, m->err);
	if (r < 0)
		return located(m, line, r);
	for (size_t i = 0; r == 0 && i < rule->table->n_attributes; i++) {
		/* If the rule itself sets the attribute, the attribute already has this rule as an
		 * origin. */
		const struct topology_origin *o =
			topology_origin_find(m->t, rule->table->attributes[i]);

		if (!o || o->rules[o->n_rules - 1] != m->t->n_rules - 1)
			r = origin_add(m, rule->table->attributes[i]);
	}
	return r;
}

/* Make room for the pairs of a rule. */
static int rule_reserve(const struct maker *m, uint32_t number, struct topology_rule *rule)
{
	size_t n = 0;

	for (size_t i = m->pair; i < m->y->n_pairs && m->y->pairs[i].rule == number; i++)
		n++;
	rule->where = calloc(n + 1, sizeof(*rule->where));
	rule->settings = calloc(n + 1, sizeof(*rule->settings));
	return rule->where && rule->settings ? 0 : no_memory(m);
}

static int rule_pairs(struct maker *m, uint32_t number, struct topology_rule *rule)
{
	int r = rule_reserve(m, number, rule);

	for (; r == 0 && m->pair < m->y->n_pairs && m->y->pairs[m->pair].rule == number;
		m->pair++) {
		const struct yaml_pair *pair = &m->y->pairs[m->pair];

		r = pair->where == YAML_WHERE ? where_add(m, pair, rule)
					      : setting_add(m, pair, rule);
	}
	return r;
}

static int names_add(
	const struct maker *m, const struct yaml_rule *from, struct topology_rule *rule)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < from->names_count; i++)
		r = strmap_put(&rule->names, from->names[i], i);
	return r < 0 ? no_memory(m) : 0;
}

static int rule_add(struct maker *m, uint32_t number)
{
	const struct yaml_rule *from = &m->y->file->components[number];
	unsigned line = yaml_text_line(m->y, "components/%u/match", number);
	struct topology *t = m->t;
	struct topology_rule *rule;
	int r;

	if (!from->match && !from->table && !from->names_count)
		return fail(m, line,
			"this rule does not say which components it is about: 'match' "
			"is missing");
	if (array_reserve(&t->rules, &t->cap_rules, t->n_rules + 1, sizeof(*rule)) < 0)
		return no_memory(m);
	rule = &t->rules[t->n_rules++];
	r = pattern_compile(from->match ? from->match : "*", &rule->match, m->err);
	if (r < 0)
		return located(m, line, r);
	r = names_add(m, from, rule);
	if (r == 0)
		r = rule_pairs(m, number, rule);
	if (r == 0 && from->table)
		r = table_add(
			m, from->table, yaml_text_line(m->y, "components/%u/table", number), rule);
	if (r == 0 && !rule->n_settings && !rule->table)
		r = fail(m, line, "this rule says nothing: it has no 'attributes' and no 'table'");
	return r;
}

/* Check that components can have the attribute. `*ret` is a copy that is valid as long as the
 * topology. */
static int attribute_known(const struct maker *m, const char *name, unsigned line, const char **ret)
{
	const struct topology_origin *o = topology_origin_find(m->t, name);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	_cleanup_free_ const char **names = calloc(N_OWN + m->t->n_origins + 1, sizeof(*names));
	int own = topology_own_find(name);
	const char *meant;

	if (!names)
		return no_memory(m);
	if (o || own >= 0) {
		*ret = o ? o->attribute : topology_own_names[own];
		return 0;
	}
	memcpy(names, topology_own_names, sizeof(topology_own_names));
	for (size_t i = 0; i < m->t->n_origins; i++)
		names[N_OWN + i] = m->t->origins[i].attribute;
	meant = yaml_meant(name, names);
	return fail(m, line, "no rule sets an attribute '%.64s'%s%s%s", name,
		meant ? "; did you mean '" : "", meant ? meant : "", meant ? "'?" : "");
}

static int group_split(const struct maker *m, uint32_t number, struct topology_group *g)
{
	const struct yaml_group *from = &m->y->file->groups[number];
	int r = 0;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	g->split_by = calloc((size_t)from->split_by_count + 1, sizeof(*g->split_by));
	if (!g->split_by)
		return no_memory(m);
	for (uint32_t i = 0; r == 0 && i < from->split_by_count; i++) {
		const char *name;

		r = attribute_known(m, from->split_by[i],
			yaml_text_line(m->y, "groups/%u/split_by/%u", number, i), &name);
		if (r < 0)
			return r;
		g->split_by[i] = strdup(name);
		if (!g->split_by[i])
			return no_memory(m);
		g->n_split++;
	}
	return r;
}

static int group_check(const struct maker *m, uint32_t number)
{
	const struct yaml_group *from = &m->y->file->groups[number];
	unsigned line = yaml_text_line(m->y, "groups/%u/name", number);

	if (!from->name || !from->name[0])
		return fail(m, line, "this group has no 'name'");
	if (!from->match)
		return fail(m, line,
			"group '%.64s' does not say which components it has: 'match' is missing",
			from->name);
	for (uint32_t i = 0; i < number; i++) {
		if (!strcmp(m->y->file->groups[i].name, from->name))
			return fail(m, line, "there is a group '%.64s' already, in line %u",
				from->name, yaml_text_line(m->y, "groups/%u/name", i));
	}
	return 0;
}

static int group_add(const struct maker *m, uint32_t number)
{
	const struct yaml_group *from = &m->y->file->groups[number];
	struct topology *t = m->t;
	struct topology_group *g;
	int r = group_check(m, number);

	if (r < 0)
		return r;
	if (array_reserve(&t->groups, &t->cap_groups, t->n_groups + 1, sizeof(*g)) < 0)
		return no_memory(m);
	g = &t->groups[t->n_groups++];
	g->name = strdup(from->name);
	if (!g->name)
		return no_memory(m);
	r = pattern_compile(from->match, &g->match, m->err);
	if (r < 0)
		return located(m, yaml_text_line(m->y, "groups/%u/match", number), r);
	return group_split(m, number, g);
}

/* The parts if the file does not list them: attributes with these names, the largest first. */
static const char *const usual_parts[] = {
	"rack", "switch", "array", "controller", "enclosure", "drawer", "server", "link"};

static size_t parts_usual(const struct maker *m, const char **parts)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(usual_parts); i++) {
		const struct topology_origin *o = topology_origin_find(m->t, usual_parts[i]);

		if (o)
			parts[n++] = o->attribute;
	}
	return n;
}

static int parts_make(const struct maker *m)
{
	const struct yaml_file *from = m->y->file;
	const char *observer = topology_own_names[OWN_OBSERVER];
	bool listed = false;
	size_t n = 0;
	int r = 0;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): this is an array of pointers */
	m->t->parts = calloc(
		(size_t)from->parts_count + ARRAY_SIZE(usual_parts) + 2, sizeof(*m->t->parts));
	if (!m->t->parts)
		return no_memory(m);
	for (uint32_t i = 0; r == 0 && i < from->parts_count; i++) {
		r = attribute_known(
			m, from->parts[i], yaml_text_line(m->y, "parts/%u", i), &m->t->parts[n]);
		listed |= r == 0 && m->t->parts[n] == observer;
		n += r == 0;
	}
	if (!from->parts_count)
		n = parts_usual(m, m->t->parts);
	if (r == 0 && !listed)
		m->t->parts[n] = observer;
	return r;
}

/* If a file has priorities and does not say which part issues requests, it is the server. */
static int issuer_make(const struct maker *m)
{
	const char *given = m->y->file->issuer;
	const struct topology_origin *server = topology_origin_find(m->t, "server");

	if (given)
		return attribute_known(m, given, yaml_text_line(m->y, "issuer"), &m->t->issuer);
	if (topology_origin_find(m->t, "priority"))
		m->t->issuer = server ? server->attribute : topology_own_names[OWN_OBSERVER];
	return 0;
}

static int observers_make(const struct maker *m)
{
	const struct yaml_file *from = m->y->file;

	for (uint32_t i = 0; i < from->observers_count; i++) {
		const char *name = from->observers[i];
		const char *why = inventory_refuses(name, strlen(name));

		if (why)
			return fail(m, yaml_text_line(m->y, "observers/%u", i), "%s", why);
		if (inventory_add(&m->t->observers, name, strlen(name)) < 0)
			return no_memory(m);
	}
	return 0;
}

static int version_check(const struct maker *m)
{
	uint32_t version = m->y->file->version, line;

	if (!strmap_get(&m->y->lines, "/version", &line))
		return lp_err_set(m->err, -EINVAL,
			"%s:1: 'version' is missing; begin with 'version: %d'", m->y->name,
			VERSION);
	if (version != VERSION)
		return fail(m, line,
			"version %u is not known to this limpet, which reads version %d", version,
			VERSION);
	return 0;
}

static int size_check(const struct maker *m)
{
	const struct yaml_file *f = m->y->file;

	if (f->components_count > ITEMS_MAX || f->groups_count > ITEMS_MAX)
		return fail(m,
			yaml_text_line(m->y, "%s/%d",
				f->groups_count > ITEMS_MAX ? "groups" : "components", ITEMS_MAX),
			"more than %d %s; long lists belong in a table", ITEMS_MAX,
			f->groups_count > ITEMS_MAX ? "groups" : "rules");
	return 0;
}

static int topology_make(struct maker *m)
{
	int r = version_check(m);

	if (r == 0)
		r = size_check(m);

	for (uint32_t i = 0; r == 0 && i < m->y->file->components_count; i++)
		r = rule_add(m, i);
	for (uint32_t i = 0; r == 0 && i < m->y->file->groups_count; i++)
		r = group_add(m, i);
	if (r == 0)
		r = parts_make(m);
	if (r == 0)
		r = observers_make(m);
	return r < 0 ? r : issuer_make(m);
}

static int parse(const char *text, size_t len, const char *name, const char *dir,
	struct topology **ret, struct lp_err *err)
{
	_cleanup_(yaml_text_release) struct yaml_text y = {0};
	_cleanup_(topology_freep) struct topology *t = calloc(1, sizeof(*t));
	struct lp_err ignored = {0};
	struct maker m = {.t = t, .y = &y, .dir = dir, .err = err ? err : &ignored};
	int r = yaml_text_load(text, len, name, &y, m.err);

	if (r < 0)
		return r;
	if (!t || !(t->name = strdup(name)))
		return no_memory(&m);
	r = topology_make(&m);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(t);
	return 0;
}

int topology_parse(
	const char *text, size_t len, const char *name, struct topology **ret, struct lp_err *err)
{
	return parse(text, len, name, NULL, ret, err);
}

int topology_read(const char *path, struct topology **ret, struct lp_err *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *dir = strndup(path, (size_t)(path_basename(path) - path));
	size_t size;
	int r;

	if (!dir)
		return lp_err_sys(err, -ENOMEM, "cannot read %s", path);
	r = file_slurp(path, FILE_MAX_BYTES, &text, &size, err);
	return r < 0 ? r : parse(text, size, path, dir, ret, err);
}
