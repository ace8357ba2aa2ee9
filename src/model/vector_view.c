#include "model/vector_view.h"

#include "base/cleanup.h"
#include "base/fixed_sum.h"
#include "base/time.h"
#include <errno.h>
#include <math.h>
#include <string.h>

void vector_view_release(struct vector_view *v)
{
	dimensions_release(&v->dimensions);
	for (uint32_t i = 0; i < v->n_members; i++)
		free(v->members[i]);
	free(v->members);
	free(v->cells);
	free(v->first);
	free(v->off);
	*v = (struct vector_view){0};
}

static int by_member(const void *a, const void *b)
{
	const struct vector_row *const *x = a, *const *y = b;

	return strcmp((*x)->member, (*y)->member);
}

/* The rows sorted by member. */
static const struct vector_row **rows_sorted(const struct vector_row *rows, uint32_t n)
{
	/* NOLINTBEGIN(bugprone-sizeof-expression): this is an array of pointers */
	const struct vector_row **sorted = calloc((size_t)n + 1, sizeof(*sorted));

	for (uint32_t i = 0; sorted && i < n; i++)
		sorted[i] = &rows[i];
	if (sorted && n)
		qsort(sorted, n, sizeof(*sorted), by_member);
	/* NOLINTEND(bugprone-sizeof-expression) */
	return sorted;
}

static int member_begin(struct vector_view *v, const char *name, uint32_t cell)
{
	v->members[v->n_members] = strdup(name);
	if (!v->members[v->n_members])
		return -ENOMEM;
	v->first[v->n_members++] = cell;
	return 0;
}

static int view_fill(struct vector_view *v, const struct vector_row *const *sorted, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		int r = 0;

		if (!i || strcmp(sorted[i]->member, sorted[i - 1]->member) != 0)
			r = member_begin(v, sorted[i]->member, i);
		if (r == 0)
			r = dimensions_intern(
				&v->dimensions, sorted[i]->dimension, &v->cells[i].dimension);
		if (r < 0)
			return r;
		v->cells[i].values = sorted[i]->values;
	}
	v->first[v->n_members] = n;
	return 0;
}

static int off_find(struct vector_view *v, uint32_t n_cells)
{
	v->off = calloc((size_t)v->dimensions.n + 1, sizeof(*v->off));
	if (!v->off)
		return -ENOMEM;
	for (uint32_t d = 0; d < v->dimensions.n; d++)
		v->off[d] = (struct vector_off){UINT32_MAX, 0};
	for (uint32_t c = 0; c < n_cells; c++) {
		struct vector_off *off = &v->off[v->cells[c].dimension];

		for (uint32_t s = 0; s < v->n_slots; s++) {
			if (v->cells[c].values[s] != VECTOR_OFF)
				continue;
			off->from = s < off->from ? s : off->from;
			off->to = s > off->to ? s : off->to;
		}
	}
	return 0;
}

/* Is it switched off on any server in these slots? */
static bool is_off(const struct vector_view *v, uint32_t dimension, uint32_t first, uint32_t n)
{
	const struct vector_off *off = &v->off[dimension];

	return off->from <= off->to && off->from < first + n && off->to >= first;
}

int vector_view_make(const struct vector_row *rows, uint32_t n, uint32_t n_slots, double factor,
	struct vector_view *ret)
{
	_cleanup_(vector_view_release) struct vector_view v = {
		.n_slots = n_slots, .factor = factor};
	_cleanup_free_ const struct vector_row **sorted = rows_sorted(rows, n);

	v.members = calloc((size_t)n + 1, sizeof(*v.members));
	v.cells = calloc((size_t)n + 1, sizeof(*v.cells));
	v.first = calloc((size_t)n + 1, sizeof(*v.first));
	if (!sorted || !v.members || !v.cells || !v.first || view_fill(&v, sorted, n) < 0 ||
		off_find(&v, n) < 0)
		return -ENOMEM;
	*ret = v;
	v = (struct vector_view){0};
	return 0;
}

/* "1/s" and "ms/s" are rates. */
static double amount_factor(const struct lp_table *t)
{
	size_t len = strlen(t->unit);

	return len >= 2 && !strcmp(t->unit + len - 2, "/s") ? (double)t->step_us / US_PER_SEC : 1;
}

int vector_view_of_table(const struct lp_table *t, const char *kind, struct vector_view *ret)
{
	_cleanup_free_ struct vector_row *rows = calloc((size_t)t->n_components + 1, sizeof(*rows));
	uint32_t n = 0;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_components; i++) {
		const struct lp_identity *c = t->components[i];

		if (!strcmp(c->kind, kind))
			rows[n++] = (struct vector_row){
				c->observer, c->name, t->values + (size_t)i * t->n_slots};
	}
	return vector_view_make(rows, n, t->n_slots, amount_factor(t), ret);
}

static bool usable(double value)
{
	return fabs(value) <= VECTOR_VALUE_MAX;
}

/* The number of slots, out of n, with any measurement. */
static uint32_t slots_measured(
	const struct vector_view *v, uint32_t member, uint32_t first, uint32_t n)
{
	uint32_t found = 0;

	for (uint32_t s = first; s < first + n; s++) {
		uint32_t c = v->first[member];

		while (c < v->first[member + 1] && !usable(v->cells[c].values[s]))
			c++;
		found += c < v->first[member + 1];
	}
	return found;
}

static double cell_sum(const struct vector_cell *c, uint32_t first, uint32_t n)
{
	double sum = 0;

	for (uint32_t s = first; s < first + n; s++)
		sum += usable(c->values[s]) ? c->values[s] : 0;
	return sum;
}

int vector_view_window(const struct vector_view *v, uint32_t member, uint32_t first, uint32_t n,
	struct vector *ret)
{
	uint32_t found = slots_measured(v, member, first, n);

	vector_clear(ret);
	if (found == 0 || found < n - found)
		return 0;
	for (uint32_t c = v->first[member]; c < v->first[member + 1]; c++) {
		double sum = cell_sum(&v->cells[c], first, n) * v->factor;

		if (is_off(v, v->cells[c].dimension, first, n))
			continue;
		if (vector_add(ret, v->cells[c].dimension, sum) < 0)
			return -ENOMEM;
	}
	vector_finish(ret);
	if (found < n)
		vector_scale(ret, (double)n / found);
	return 1;
}

int vector_view_totals(const struct vector_view *v, uint32_t member, double *ret)
{
	uint32_t n_cells = v->first[member + 1] - v->first[member];
	_cleanup_free_ double *values = calloc((size_t)n_cells + 1, sizeof(*values));

	if (!values)
		return -ENOMEM;
	for (uint32_t s = 0; s < v->n_slots; s++) {
		uint32_t n = 0;

		for (uint32_t c = v->first[member]; c < v->first[member + 1]; c++) {
			values[n] = v->cells[c].values[s];
			n += usable(values[n]);
		}
		ret[s] = n ? fixed_sum_of(values, n) : NAN;
	}
	return 0;
}
