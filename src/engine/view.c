#include "engine/view.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "detect/detect.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void view_release(struct view *view)
{
	lp_verdict_free(view->v);
	free(view->observer);
	free(view->last);
	*view = (struct view){0};
}

/* Number the observers of the components. */
static int observers_number(struct view *view, uint32_t *ret_n)
{
	_cleanup_(strmap_release) struct strmap names = {0};
	uint32_t n = 0;
	int r = 0;

	view->observer = calloc((size_t)view->v->n_components + 1, sizeof(*view->observer));
	if (!view->observer)
		return -ENOMEM;
	for (uint32_t c = 0; r == 0 && c < view->v->n_components; c++) {
		const char *observer = view->v->components[c]->observer;

		if (strmap_get(&names, observer, &view->observer[c]))
			continue;
		view->observer[c] = n++;
		r = strmap_put(&names, observer, view->observer[c]);
	}
	*ret_n = n;
	return r;
}

/* Note the slots in which a component has a value. */
static void presence_note(struct view *view, uint32_t table, uint32_t component, uint32_t n_slots)
{
	const struct lp_table *t = view->v->tables[table];
	uint32_t row = view->v->row_of[table][component];
	int32_t *last = view->last + (size_t)view->observer[component] * n_slots;

	for (uint32_t s = 0; row != UINT32_MAX && s < n_slots; s++) {
		if (last[s] < 0 && !isnan(t->values[(size_t)row * t->n_slots + s]))
			last[s] = (int32_t)s;
	}
}

static int presence_make(struct view *view)
{
	const struct lp_verdict *v = view->v;
	uint32_t n_slots = v->n_tables ? v->tables[0]->n_slots : 0, n = 0;
	int r = observers_number(view, &n);

	view->last = calloc((size_t)n * n_slots + 1, sizeof(*view->last));
	if (r < 0 || !view->last)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)n * n_slots; i++)
		view->last[i] = -1;
	for (uint32_t t = 0; t < v->n_tables; t++) {
		for (uint32_t c = 0; c < v->n_components; c++)
			presence_note(view, t, c, n_slots);
	}
	for (uint32_t o = 0; o < n; o++) {
		for (uint32_t s = 1; s < n_slots; s++) {
			int32_t *last = &view->last[(size_t)o * n_slots + s];

			*last = *last < 0 ? last[-1] : *last;
		}
	}
	view->presence = (struct presence){.observer = view->observer,
		.last = view->last,
		.n_slots = n_slots,
		.lateness = v->n_tables ? (uint32_t)(VIEW_LATENESS_US / v->tables[0]->step_us) : 0};
	return 0;
}

int view_make(const struct lp_table_builder *b, const struct table_part *part,
	const struct hosts *hosts, struct view *ret, struct lp_err *err)
{
	_cleanup_(view_release) struct view view = {.v = calloc(1, sizeof(*view.v))};
	struct lp_table **tables = NULL;
	uint32_t n = 0;
	int r;

	if (!view.v)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	r = table_builder_view(b, part, &tables, &n, &view.left_out, err);
	if (r == 0)
		r = verdict_take_tables(view.v, tables, n, hosts, err);
	if (r < 0)
		return r;
	if (presence_make(&view) < 0)
		return lp_err_sys(err, -ENOMEM, "cannot compare");
	*ret = view;
	view = (struct view){0};
	return 0;
}
