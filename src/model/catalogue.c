#include "model/catalogue.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "model/identity.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lp_catalogue_index {
	struct strmap names; /* "schema/length/observer/name" -> id */
	size_t cap_schemas, cap_components;
};

struct lp_catalogue *lp_catalogue_new(void)
{
	static atomic_uint_least64_t serials;
	struct lp_catalogue *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->serial = atomic_fetch_add(&serials, 1) + 1;
	c->index = calloc(1, sizeof(*c->index));
	if (!c->index) {
		free(c);
		return NULL;
	}
	return c;
}

static void schema_release(struct lp_schema *s)
{
	for (uint32_t i = 0; s->columns && i < s->n_columns; i++) {
		free((char *)s->columns[i].name);
		free((char *)s->columns[i].unit);
	}
	free((struct lp_column *)s->columns);
	free((char *)s->kind);
}

static void component_release(struct lp_component *component)
{
	lp_identity_unref(component->identity);
	*component = (struct lp_component){0};
}

void lp_catalogue_free(struct lp_catalogue *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->n_schemas; i++)
		schema_release(&c->schemas[i]);
	for (uint32_t i = 0; i < c->n_components; i++)
		component_release(&c->components[i]);
	free(c->schemas);
	free(c->components);
	strmap_release(&c->index->names);
	free(c->index);
	free(c);
}

static bool schema_equal(const struct lp_schema *a, const struct lp_schema *b)
{
	if (strcmp(a->kind, b->kind) || a->n_columns != b->n_columns)
		return false;
	for (uint32_t i = 0; i < a->n_columns; i++) {
		const struct lp_column *x = &a->columns[i], *y = &b->columns[i];

		if (strcmp(x->name, y->name) || strcmp(x->unit, y->unit) || x->type != y->type ||
			x->bits != y->bits)
			return false;
	}
	return true;
}

static int schema_copy(const struct lp_schema *s, struct lp_schema *ret)
{
	struct lp_column *columns = calloc(s->n_columns + 1, sizeof(*columns));
	struct lp_schema copy = {.kind = strdup(s->kind), .columns = columns};
	bool ok = copy.kind && columns;

	for (uint32_t i = 0; ok && i < s->n_columns; i++) {
		columns[i] = s->columns[i];
		columns[i].name = strdup(s->columns[i].name);
		columns[i].unit = strdup(s->columns[i].unit);
		copy.n_columns = i + 1;
		ok = columns[i].name && columns[i].unit;
	}
	if (!ok) {
		schema_release(&copy);
		return -ENOMEM;
	}
	*ret = copy;
	return 0;
}

int lp_catalogue_add_schema(
	struct lp_catalogue *c, const struct lp_schema *s, uint32_t *ret_schema, struct lp_err *err)
{
	int r;

	if (s->n_columns > LP_COLUMNS_MAX)
		return lp_err_set(err, -E2BIG, "a %s has %u columns, more than the %d that fit",
			s->kind, s->n_columns, LP_COLUMNS_MAX);
	for (uint32_t i = 0; i < c->n_schemas; i++) {
		if (schema_equal(&c->schemas[i], s)) {
			*ret_schema = i;
			return 0;
		}
	}
	r = array_reserve(
		&c->schemas, &c->index->cap_schemas, (size_t)c->n_schemas + 1, sizeof(*c->schemas));
	if (r == 0)
		r = schema_copy(s, &c->schemas[c->n_schemas]);
	if (r < 0)
		return lp_err_sys(err, r, "cannot add kind %s", s->kind);
	*ret_schema = c->n_schemas++;
	c->changes++;
	return 0;
}

/* Make a component, which takes over a reference to its identity. */
static struct lp_component component_of(struct lp_identity *identity, uint32_t schema)
{
	return (struct lp_component){.observer = identity->observer,
		.name = identity->name,
		.labels = identity->labels,
		.schema = schema,
		.identity = identity};
}

static int component_relabel(struct lp_catalogue *c, uint32_t id, const char *labels)
{
	struct lp_component *component = &c->components[id];
	struct lp_identity *old = component->identity, *identity;

	if (!strcmp(component->labels, labels))
		return 0;
	identity = lp_identity_new(old->observer, old->kind, old->name, labels);
	if (!identity)
		return -ENOMEM;
	*component = component_of(identity, component->schema);
	lp_identity_unref(old);
	c->changes++;
	return 0;
}

/* The key of a component in the index. The length distinguishes a/b + c from a + b/c. NULL: out of
 * memory. */
static char *component_key(uint32_t schema, const char *observer, const char *name)
{
	char *key;

	return asprintf(&key, "%u/%zu/%s/%s", schema, strlen(observer), observer, name) < 0 ? NULL
											    : key;
}

static char *component_own_key(const struct lp_component *component)
{
	return component_key(component->schema, component->observer, component->name);
}

/* Remove the name of `id` from the index, unless it now belongs to another id. */
static void index_forget(struct lp_catalogue *c, uint32_t id, const char *key)
{
	uint32_t now;

	if (strmap_get(&c->index->names, key, &now) && now == id)
		strmap_remove(&c->index->names, key);
}

int catalogue_vacate(struct lp_catalogue *c, uint32_t id)
{
	_cleanup_free_ char *key = NULL;

	if (!c->components[id].name)
		return 0;
	key = component_own_key(&c->components[id]);
	if (!key)
		return -ENOMEM;
	index_forget(c, id, key);
	component_release(&c->components[id]);
	c->changes++;
	return 0;
}

static int component_place(struct lp_catalogue *c, uint32_t id, const char *key, uint32_t schema,
	const char *observer, const char *name, const char *labels)
{
	bool replaces = id < c->n_components && c->components[id].name;
	_cleanup_free_ char *old = replaces ? component_own_key(&c->components[id]) : NULL;
	struct lp_identity *identity;

	if ((replaces && !old) ||
		array_reserve(&c->components, &c->index->cap_components, (size_t)id + 1,
			sizeof(*c->components)) < 0)
		return -ENOMEM;
	identity = lp_identity_new(observer, c->schemas[schema].kind, name, labels);
	if (!identity || strmap_put(&c->index->names, key, id) < 0) {
		lp_identity_unref(identity);
		return -ENOMEM;
	}
	if (old && strcmp(old, key) != 0)
		index_forget(c, id, old);
	if (id < c->n_components)
		component_release(&c->components[id]);
	else
		c->n_components = id + 1;
	c->components[id] = component_of(identity, schema);
	c->changes++;
	return 0;
}

int catalogue_place(struct lp_catalogue *c, uint32_t id, uint32_t schema, const char *observer,
	const char *name, const char *labels, struct lp_err *err)
{
	_cleanup_free_ char *key = component_key(schema, observer, name);
	int r = key ? component_place(c, id, key, schema, observer, name, labels) : -ENOMEM;

	return r < 0 ? lp_err_sys(err, r, "cannot add component %s", name) : 0;
}

int catalogue_find(const struct lp_catalogue *c, uint32_t schema, const char *observer,
	const char *name, uint32_t *ret_id)
{
	_cleanup_free_ char *key = component_key(schema, observer, name);

	if (!key)
		return -ENOMEM;
	return strmap_get(&c->index->names, key, ret_id) ? 0 : -ENOENT;
}

int lp_catalogue_add_component(struct lp_catalogue *c, uint32_t schema, const char *observer,
	const char *name, const char *labels, uint32_t *ret_id, struct lp_err *err)
{
	_cleanup_free_ char *key = component_key(schema, observer, name);
	uint32_t id;
	int r;

	if (!key)
		return lp_err_sys(err, -ENOMEM, "cannot add component %s", name);
	if (strmap_get(&c->index->names, key, &id)) {
		r = labels ? component_relabel(c, id, labels) : 0;
	} else {
		id = c->n_components;
		r = component_place(c, id, key, schema, observer, name, labels ? labels : "");
	}
	if (r < 0)
		return lp_err_sys(err, r, "cannot add component %s", name);
	*ret_id = id;
	return 0;
}

int lp_schema_column(const struct lp_schema *s, const char *name)
{
	for (uint32_t i = 0; i < s->n_columns; i++) {
		if (!strcmp(s->columns[i].name, name))
			return (int)i;
	}
	return -1;
}

int lp_component_name(const struct lp_catalogue *c, uint32_t id, char *buf, size_t size)
{
	return snprintf(buf, size, "%s", c->components[id].identity->text);
}

bool lp_component_label(const struct lp_component *c, const char *key, char *buf, size_t size)
{
	return labels_get(c->labels, key, buf, size);
}

struct lp_catalogue *lp_catalogue_copy(const struct lp_catalogue *c)
{
	struct lp_catalogue *copy = lp_catalogue_new();
	uint32_t number;
	int r = copy ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < c->n_schemas; i++)
		r = lp_catalogue_add_schema(copy, &c->schemas[i], &number, NULL);
	for (uint32_t i = 0; r == 0 && i < c->n_components; i++) {
		const struct lp_component *comp = &c->components[i];

		if (comp->name)
			r = catalogue_place(copy, i, comp->schema, comp->observer, comp->name,
				comp->labels, NULL);
		else
			r = catalogue_place(copy, i, 0, "", "", "", NULL);
		if (r == 0 && !comp->name)
			r = catalogue_vacate(copy, i);
	}
	if (r < 0) {
		lp_catalogue_free(copy);
		return NULL;
	}
	return copy;
}
