#include "detect/group/functions.h"

#include "base/cleanup.h"
#include "model/vector_view.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOINED_KIND "functions"
#define JOINED_NAME "all"

bool functions_joined(const struct lp_identity *component)
{
	return !strcmp(component->kind, JOINED_KIND) && !strcmp(component->name, JOINED_NAME);
}

/* Room for more rows; what is there stays good on failure. */
static int table_grow(struct lp_table *t, uint32_t n)
{
	size_t n_rows = (size_t)t->n_components + n;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_identity **components = reallocarray(t->components, n_rows, sizeof(*components));
	double *values;

	if (!components)
		return -ENOMEM;
	t->components = components;
	values = reallocarray(t->values, n_rows * t->n_slots + 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	t->values = values;
	return 0;
}

static int table_join(struct lp_table *t)
{
	_cleanup_(vector_view_release) struct vector_view view = {0};
	_cleanup_free_ double *totals = NULL;
	int r = vector_view_of_table(t, FUNCTION_KIND, &view);

	if (r < 0 || !view.n_members)
		return r;
	totals = calloc((size_t)view.n_members * t->n_slots + 1, sizeof(*totals));
	if (!totals)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < view.n_members; i++)
		r = vector_view_totals(&view, i, totals + (size_t)i * t->n_slots);
	if (r == 0)
		r = table_grow(t, view.n_members);
	for (uint32_t i = 0; r == 0 && i < view.n_members; i++) {
		struct lp_identity *component =
			lp_identity_new(view.members[i], JOINED_KIND, JOINED_NAME, NULL);

		if (!component)
			return -ENOMEM;
		memcpy(t->values + (size_t)t->n_components * t->n_slots,
			totals + (size_t)i * t->n_slots, t->n_slots * sizeof(*totals));
		t->components[t->n_components++] = component;
	}
	return r;
}

int functions_join(struct lp_table **tables, uint32_t n, struct lp_err *err)
{
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < n; i++)
		r = table_join(tables[i]);
	return r < 0 ? lp_err_sys(err, r, "cannot put functions together") : 0;
}
