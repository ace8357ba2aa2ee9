#include "detect/group/verdict_tables.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/idmap.h"
#include <errno.h>
#include <stdlib.h>

/* The numbers of components: tables that were made together share their identities, and need no
 * look at the text. */
struct component_numbers {
	struct strmap by_text;
	struct idmap by_identity;
	size_t cap;
};

static void numbers_release(struct component_numbers *n)
{
	strmap_release(&n->by_text);
	idmap_release(&n->by_identity);
}

static uint64_t identity_key(const struct lp_identity *component)
{
	return (uint64_t)(uintptr_t)component;
}

/* Add a component that has no number yet. */
static int component_add(struct lp_verdict *v, const struct lp_identity *component,
	struct component_numbers *numbers)
{
	if (array_reserve(&v->components, &numbers->cap, (size_t)v->n_components + 1,
		    sizeof(struct lp_identity *)) < 0 ||
		strmap_put(&numbers->by_text, component->text, v->n_components) < 0)
		return -ENOMEM;
	v->components[v->n_components++] = lp_identity_ref(component);
	return 0;
}

/* Give every component of a table a number. */
static int components_number(
	struct lp_verdict *v, const struct lp_table *t, struct component_numbers *numbers)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		const struct lp_identity *component = t->components[i];
		uint32_t number = v->n_components;

		if (idmap_get(&numbers->by_identity, identity_key(component), &number))
			continue;
		if (!strmap_get(&numbers->by_text, component->text, &number) &&
			component_add(v, component, numbers) < 0)
			return -ENOMEM;
		if (idmap_put(&numbers->by_identity, identity_key(component), number) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t *rows_find(const struct lp_verdict *v, const struct lp_table *t,
	const struct component_numbers *numbers)
{
	uint32_t *rows = calloc((size_t)v->n_components + 1, sizeof(*rows)), number;

	if (!rows)
		return NULL;
	for (uint32_t i = 0; i < v->n_components; i++)
		rows[i] = UINT32_MAX;
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (idmap_get(&numbers->by_identity, identity_key(t->components[i]), &number))
			rows[number] = i;
	}
	return rows;
}

int verdict_own_tables(
	struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables, struct lp_err *err)
{
	_cleanup_(numbers_release) struct component_numbers numbers = {0};
	int r = 0;

	v->tables = tables;
	v->n_tables = n_tables;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	v->row_of = calloc((size_t)n_tables + 1, sizeof(*v->row_of));
	if (!v->row_of)
		r = -ENOMEM;
	for (uint32_t t = 0; r == 0 && t < n_tables; t++)
		r = components_number(v, tables[t], &numbers);
	for (uint32_t t = 0; r == 0 && t < n_tables; t++) {
		v->row_of[t] = rows_find(v, tables[t], &numbers);
		r = v->row_of[t] ? 0 : -ENOMEM;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot take over the tables") : 0;
}
