#include "model/table_grid.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Tables up to this size are made in any case. */
#define DENSE_BYTES (UINT64_C(64) << 20)

/* Slots first .. end - 1. */
struct stretch {
	int64_t first, end;
};

struct stretches {
	struct stretch *items;
	size_t n, cap;
};

void table_grid_release(struct table_grid *g)
{
	free(g->cuts);
	*g = (struct table_grid){0};
}

static int stretch_compare(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int stretches_add(struct stretches *s, int64_t first, int64_t end)
{
	if (array_reserve(&s->items, &s->cap, s->n + 1, sizeof(*s->items)) < 0)
		return -ENOMEM;
	s->items[s->n++] = (struct stretch){first, end};
	return 0;
}

/* The pages of a row, those that follow each other as one. */
static int row_stretches(
	const struct table_pages *p, const struct table_part *part, struct stretches *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n; i++) {
		int64_t first = p->items[i].number * TABLE_PAGE_SLOTS, end;

		while (i + 1 < p->n && p->items[i + 1].number == p->items[i].number + 1)
			i++;
		end = (p->items[i].number + 1) * TABLE_PAGE_SLOTS;
		if (first < part->end && end > part->first)
			r = stretches_add(ret, first, end);
	}
	return r;
}

/* When anybody has data, page by page, in the order of time and without overlaps. */
static int stretches_make(
	const struct lp_table_builder *b, const struct table_part *part, struct stretches *ret)
{
	size_t n = 0;
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++)
			r = row_stretches(&b->sets[s].rows[i].pages, part, ret);
	}
	if (ret->n)
		qsort(ret->items, ret->n, sizeof(*ret->items), stretch_compare);
	for (size_t i = 0; i < ret->n; i++) {
		if (!n || ret->items[i].first > ret->items[n - 1].end)
			ret->items[n++] = ret->items[i];
		else if (ret->items[i].end > ret->items[n - 1].end)
			ret->items[n - 1].end = ret->items[i].end;
	}
	ret->n = n;
	return r;
}

/* Cut out most of the slots from .. end - 1, none of which has data. */
static int grid_cut(
	struct table_grid *g, const struct table_part *part, int64_t from, int64_t end, size_t *cap)
{
	int64_t margins = 2 * (int64_t)part->margin, cut, before;

	if (end - from < margins + part->align)
		return 0;
	cut = (end - from - margins) / part->align * part->align;
	if (array_reserve(&g->cuts, cap, (size_t)g->n_cuts + 1, sizeof(*g->cuts)) < 0)
		return -ENOMEM;
	before = g->n_cuts ? g->cuts[g->n_cuts - 1].skipped : 0;
	g->cuts[g->n_cuts++] = (struct lp_table_cut){
		.slot = from + part->margin - part->first - before, .skipped = before + cut};
	g->n_slots -= (uint64_t)cut;
	return 0;
}

static void stretches_release(struct stretches *s)
{
	free(s->items);
}

int table_grid_make(
	const struct lp_table_builder *b, const struct table_part *part, struct table_grid *ret)
{
	_cleanup_(stretches_release) struct stretches s = {0};
	int64_t from = part->first;
	size_t cap = 0;
	int r;

	*ret = (struct table_grid){.first = part->first,
		.n_slots = (uint64_t)(part->end - part->first),
		.step_us = b->opt->step_us};
	if (!part->align)
		return 0;
	r = stretches_make(b, part, &s);
	for (size_t i = 0; r == 0 && i < s.n; i++) {
		r = grid_cut(ret, part, from, s.items[i].first, &cap);
		from = s.items[i].end > from ? s.items[i].end : from;
	}
	return r < 0 ? r : grid_cut(ret, part, from, part->end, &cap);
}

bool table_grid_fits(const struct table_grid *g, const struct lp_table_builder *b, uint64_t n_rows,
	uint64_t n_values)
{
	uint64_t slots_max = b->budget.max / sizeof(double) / (n_rows + 1);

	if (g->n_slots >= UINT32_MAX || g->n_slots > slots_max)
		return false;
	return g->n_slots * n_rows * sizeof(double) <= DENSE_BYTES ||
		g->n_slots * n_rows / TABLE_SLOTS_PER_VALUE <= n_values;
}

int64_t table_grid_slot(const struct table_grid *g, int64_t slot)
{
	uint32_t i = g->n_cuts;

	while (i && g->cuts[i - 1].slot > slot)
		i--;
	return g->first + slot + (i ? g->cuts[i - 1].skipped : 0);
}

int table_grid_apply(const struct table_grid *g, struct lp_table *t)
{
	t->step_us = g->step_us;
	t->start_us = g->first * g->step_us;
	t->n_slots = (uint32_t)g->n_slots;
	if (!g->n_cuts)
		return 0;
	t->cuts = calloc(g->n_cuts, sizeof(*t->cuts));
	if (!t->cuts)
		return -ENOMEM;
	memcpy(t->cuts, g->cuts, g->n_cuts * sizeof(*t->cuts));
	t->n_cuts = g->n_cuts;
	return 0;
}

void table_grid_copy(const struct table_grid *g, const struct table_pages *p, double *ret)
{
	int64_t slot = 0, skipped = 0;

	for (uint32_t i = 0; i <= g->n_cuts; i++) {
		int64_t end = i < g->n_cuts ? g->cuts[i].slot : (int64_t)g->n_slots;

		pages_copy(p, g->first + skipped + slot, (uint32_t)(end - slot), ret + slot);
		slot = end;
		skipped = i < g->n_cuts ? g->cuts[i].skipped : 0;
	}
}
