#include "detect/group/verdict_tables.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Give every component of a table a number. */
static int components_number(
	struct lp_verdict *v, const struct lp_table *t, struct strmap *numbers, size_t *cap)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		uint32_t ignored;
		char *name;

		if (strmap_get(numbers, t->components[i], &ignored))
			continue;
		name = strdup(t->components[i]);
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
		if (!name ||
			array_reserve(&v->components, cap, (size_t)v->n_components + 1,
				sizeof(*v->components)) < 0) {
			free(name);
			return -ENOMEM;
		}
		v->components[v->n_components] = name;
		if (strmap_put(numbers, name, v->n_components++) < 0)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t *rows_find(
	const struct lp_verdict *v, const struct lp_table *t, const struct strmap *numbers)
{
	uint32_t *rows = calloc((size_t)v->n_components + 1, sizeof(*rows)), number;

	if (!rows)
		return NULL;
	for (uint32_t i = 0; i < v->n_components; i++)
		rows[i] = UINT32_MAX;
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (strmap_get(numbers, t->components[i], &number))
			rows[number] = i;
	}
	return rows;
}

int verdict_own_tables(
	struct lp_verdict *v, struct lp_table **tables, uint32_t n_tables, struct lp_err *err)
{
	_cleanup_(strmap_release) struct strmap numbers = {0};
	size_t cap = 0;
	int r = 0;

	v->tables = tables;
	v->n_tables = n_tables;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	v->row_of = calloc((size_t)n_tables + 1, sizeof(*v->row_of));
	if (!v->row_of)
		r = -ENOMEM;
	for (uint32_t t = 0; r == 0 && t < n_tables; t++)
		r = components_number(v, tables[t], &numbers, &cap);
	for (uint32_t t = 0; r == 0 && t < n_tables; t++) {
		v->row_of[t] = rows_find(v, tables[t], &numbers);
		r = v->row_of[t] ? 0 : -ENOMEM;
	}
	return r < 0 ? lp_err_sys(err, r, "cannot take over the tables") : 0;
}
