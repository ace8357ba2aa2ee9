#include "model/table_view.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/slices.h"
#include "model/identity.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tables up to this size are always made. */
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

/* The pages of a row; consecutive pages are one stretch. */
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

/* The times in which any component has data, by page, in order and without overlaps. */
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

/* Cut out most of the slots from .. end - 1, which have no data. */
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

bool table_grid_fits(
	const struct table_grid *g, uint64_t bytes_max, uint64_t n_rows, uint64_t n_values)
{
	uint64_t slots_max = bytes_max / sizeof(double) / (n_rows + 1);

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

/* A peak over less than this many samples is hardly more than a value. */
#define PEAK_SAMPLES_LEAST 5

int64_t peak_span_us(const char *metric)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if ((*m)->peak_s && !strcmp((*m)->name, metric))
			return (int64_t)(*m)->peak_s * 1000000;
	}
	return 0;
}

bool peak_fits(const char *metric, int64_t step_us)
{
	int64_t span = peak_span_us(metric);

	return !span || span / PEAK_SAMPLES_LEAST >= step_us;
}

/* In place, from the end to the beginning: each value depends only on earlier ones, which have not
 * changed yet. Each pass doubles the range that a value covers. */
void peak_apply(double *values, uint32_t n, uint32_t width)
{
	uint32_t covered = 1;

	while (covered < width) {
		uint32_t by = width - covered < covered ? width - covered : covered;

		for (uint32_t i = n; i-- > by;)
			values[i] = fmax(values[i], values[i - by]);
		covered += by;
	}
}

void peak_row(struct lp_table *t, uint32_t row, int64_t span_us)
{
	peak_apply(
		t->values + (size_t)row * t->n_slots, t->n_slots, (uint32_t)(span_us / t->step_us));
}

/* The number of slots that end at or before a time. */
static uint32_t slots_until(const struct lp_table *t, int64_t time_us)
{
	int64_t ahead_us, n;

	if (t->step_us <= 0 || time_us < t->start_us)
		return 0;
	if (__builtin_sub_overflow(time_us, t->start_us, &ahead_us))
		return t->n_slots;
	n = lp_table_slot(t, time_us);
	return n >= t->n_slots ? t->n_slots : (uint32_t)n + 1;
}

void table_slots(const struct lp_table *t, int64_t first_us, int64_t last_us, uint32_t *ret_from,
	uint32_t *ret_end)
{
	uint32_t from = slots_until(t, first_us), end = slots_until(t, last_us);

	*ret_from = from < end ? from : 0;
	*ret_end = from < end ? end : 0;
}

/* With this many values or more, threads share the copying. */
#define COPY_MANY 1048576

static int no_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot build a table");
}

static int row_compare(const void *a, const void *b)
{
	const struct table_row *const *x = a, *const *y = b;

	return strcmp((*x)->component->text, (*y)->component->text);
}

/* Does a row belong to the part? `least`: the number of values that it must have there. */
static bool row_belongs(const struct table_row *row, const struct table_part *part, uint64_t least)
{
	return pages_any(&row->pages, part->seen_from, part->end) &&
		(!least || pages_count(&row->pages, part->first, part->end) >= least);
}

/* The rows of a set that belong to the part, sorted by name. */
static const struct table_row **set_rows(
	const struct column_set *s, const struct table_part *part, uint64_t least, uint32_t *ret_n)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	const struct table_row **rows = calloc(s->n_rows + 1, sizeof(*rows));
	uint32_t n = 0;
	bool sorted = true;

	for (size_t i = 0; rows && i < s->n_rows; i++) {
		if (!row_belongs(&s->rows[i], part, least))
			continue;
		sorted = sorted &&
			(!n ||
				strcmp(rows[n - 1]->component->text, s->rows[i].component->text) <
					0);
		rows[n++] = &s->rows[i];
	}
	if (rows && !sorted)
		/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
		qsort(rows, n, sizeof(*rows), row_compare);
	*ret_n = n;
	return rows;
}

void table_lazy_free(struct table_lazy *l)
{
	if (!l)
		return;
	free(l->rows);
	free(l->read);
	free(l);
}

/* Let `t` read from `rows` of a set, from slot `first` on. It already has its components and the
 * memory for values. */
static int table_lazy_set(struct lp_table *t, const struct lp_table_builder *b,
	const struct column_set *s, const struct table_row *const *rows, int64_t first)
{
	struct table_lazy *l = calloc(1, sizeof(*l));
	size_t n = t->n_components;

	if (!l)
		return -ENOMEM;
	l->b = b;
	l->set = (uint32_t)(s - b->sets);
	l->first = first;
	l->peak = (uint32_t)(peak_span_us(t->metric) / t->step_us);
	l->rows = calloc(n + 1, sizeof(*l->rows));
	l->read = calloc(n + 1, sizeof(*l->read));
	if (!l->rows || !l->read) {
		table_lazy_free(l);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		l->rows[i] = (uint32_t)(rows[i] - s->rows);
	t->lazy = l;
	return 0;
}

static void lazy_copy(const struct lp_table *t, uint32_t row, double *ret)
{
	const struct table_lazy *l = t->lazy;
	const struct table_row *from = &l->b->sets[l->set].rows[l->rows[row]];

	pages_copy(&from->pages, l->first, t->n_slots, ret);
	if (l->peak && from->metric)
		peak_apply(ret, t->n_slots, l->peak);
}

const double *table_values(const struct lp_table *t, uint32_t row)
{
	double *values = t->values + (size_t)row * t->n_slots;

	if (t->lazy && !t->lazy->read[row]) {
		lazy_copy(t, row, values);
		t->lazy->read[row] = true;
	}
	return values;
}

const double *table_values_peek(const struct lp_table *t, uint32_t row, double *room)
{
	if (!t->lazy || t->lazy->read[row])
		return t->values + (size_t)row * t->n_slots;
	lazy_copy(t, row, room);
	return room;
}

const double *table_values_peek_part(
	const struct lp_table *t, uint32_t row, uint32_t first, uint32_t end, double *room)
{
	const struct table_lazy *l = t->lazy;

	if (!l || l->read[row] || l->peak)
		return table_values_peek(t, row, room);
	pages_copy(&l->b->sets[l->set].rows[l->rows[row]].pages, l->first + first, end - first,
		room + first);
	return room;
}

void table_row_span(const struct lp_table *t, uint32_t row, uint32_t *ret_first, uint32_t *ret_end)
{
	const struct table_lazy *l = t->lazy;
	const double *values = t->values + (size_t)row * t->n_slots;
	uint32_t first = 0, end = t->n_slots;

	if (l && !l->read[row] && !l->peak) {
		pages_span_in(&l->b->sets[l->set].rows[l->rows[row]].pages, l->first, t->n_slots,
			ret_first, ret_end);
		return;
	}
	if (l)
		values = table_values(t, row);
	while (first < end && isnan(values[first]))
		first++;
	while (end > first && isnan(values[end - 1]))
		end--;
	*ret_first = first;
	*ret_end = end;
}

void table_clip(struct lp_table *t, uint32_t n)
{
	uint32_t left = t->n_slots - n;

	for (uint32_t i = 0; !t->lazy && i < t->n_components; i++)
		memmove(t->values + (size_t)i * left, t->values + (size_t)i * t->n_slots + n,
			left * sizeof(*t->values));
	if (t->lazy) {
		t->lazy->first += n;
		memset(t->lazy->read, 0, t->n_components * sizeof(*t->lazy->read));
	}
	t->start_us += (int64_t)n * t->step_us;
	t->n_slots = left;
	for (uint32_t i = 0; i < t->n_cuts; i++)
		t->cuts[i].slot -= n;
}

/* Copy all values. */
static void table_fill(struct lp_table *t, const struct table_row **rows, uint32_t n,
	const struct table_grid *grid)
{
	int64_t span_us = peak_span_us(t->metric);

#pragma omp parallel for schedule(static) if ((size_t)n * t->n_slots >= COPY_MANY)
	for (uint32_t i = 0; i < n; i++) {
		table_grid_copy(grid, &rows[i]->pages, t->values + (size_t)i * t->n_slots);
		if (span_us && rows[i]->metric)
			peak_row(t, i, span_us);
	}
}

static int table_alloc(struct lp_table *t, const struct table_row **rows, uint32_t n)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	t->components = calloc((size_t)n + 1, sizeof(*t->components));
	t->values = malloc(((size_t)n * t->n_slots + 1) * sizeof(*t->values));
	if (!t->components || !t->values)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		t->components[t->n_components++] = lp_identity_ref(rows[i]->component);
	return 0;
}

/* Is it a metric of a kind whose tables are rearranged? */
static bool metric_is_remade(const char *name)
{
	for (const struct lp_metric *const *m = lp_metric_all(); *m; m++) {
		if (!strcmp((*m)->name, name) && kind_find((*m)->kind)->remade)
			return true;
	}
	return false;
}

/* Tables that are rearranged, or that leave out slots, need all values at once. */
static bool table_may_wait(const struct column_set *s, const struct table_grid *grid)
{
	return !s->remade && !metric_is_remade(s->name) && !grid->n_cuts;
}

/* The table of a set; NULL: out of memory. */
static struct lp_table *table_of(const struct lp_table_builder *b, const struct column_set *s,
	const struct table_row **rows, uint32_t n, const struct table_grid *grid, bool lazy)
{
	struct lp_table *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return NULL;
	t->metric = strdup(s->name);
	t->unit = strdup(s->unit);
	t->beside = s->beside;
	r = t->metric && t->unit ? table_grid_apply(grid, t) : -ENOMEM;
	if (r == 0)
		r = table_alloc(t, rows, n);
	if (r == 0 && lazy && table_may_wait(s, grid))
		r = table_lazy_set(t, b, s, rows, grid->first);
	else if (r == 0)
		table_fill(t, rows, n, grid);
	if (r < 0) {
		lp_table_free(t);
		return NULL;
	}
	return t;
}

/* The order of a metric: by the list of selected metrics, else by the catalogue; unknown metrics
 * come last. */
static size_t set_place(const struct lp_table_builder *b, const struct column_set *s)
{
	const struct lp_metric *const *all = lp_metric_all();
	size_t place = 0;

	for (uint32_t i = 0; i < b->opt->n_metrics; i++) {
		if (!strcmp(b->opt->metrics[i], s->name))
			return i;
	}
	for (; all[place]; place++) {
		if (!strcmp(all[place]->name, s->name))
			break;
	}
	return b->opt->n_metrics + place;
}

struct placed_set {
	size_t place;
	const char *name;
	uint32_t set; /* its number */
};

static int placed_compare(const void *a, const void *b)
{
	const struct placed_set *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct placed_set *sets_sorted(const struct lp_table_builder *b)
{
	struct placed_set *sets = calloc(b->n_sets + 1, sizeof(*sets));

	for (uint32_t i = 0; sets && i < b->n_sets; i++)
		sets[i] = (struct placed_set){set_place(b, &b->sets[i]), b->sets[i].name, i};
	if (sets)
		qsort(sets, b->n_sets, sizeof(*sets), placed_compare);
	return sets;
}

static void tables_free(struct lp_table **tables, uint32_t n)
{
	while (n)
		lp_table_free(tables[--n]);
	free(tables);
}

/* Rows of the part, by their number of values. */
struct counts {
	uint64_t *items;
	size_t n, cap;
	uint64_t sum;
};

static void counts_release(struct counts *c)
{
	free(c->items);
}

static int counts_make(
	const struct lp_table_builder *b, const struct table_part *part, struct counts *ret)
{
	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			const struct table_row *row = &b->sets[s].rows[i];

			if (!row_belongs(row, part, 0))
				continue;
			if (array_reserve(&ret->items, &ret->cap, ret->n + 1, sizeof(*ret->items)) <
				0)
				return -ENOMEM;
			ret->items[ret->n] = pages_count(&row->pages, part->first, part->end);
			ret->sum += ret->items[ret->n++];
		}
	}
	return 0;
}

static int count_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

/* The number of values that a row needs so that tables of all such rows have a reasonable size.
 * Usually all rows fit: 0. */
static int rows_choose(const struct lp_table_builder *b, const struct table_part *part,
	const struct table_grid *grid, uint64_t *ret_least, uint32_t *ret_left_out)
{
	_cleanup_(counts_release) struct counts c = {0};
	/* Rows that are read on demand take hardly any memory. */
	uint64_t sum = 0, bytes_max = part->lazy ? UINT64_MAX : b->budget.max;
	size_t n = 0;

	*ret_least = *ret_left_out = 0;
	if (counts_make(b, part, &c) < 0)
		return -ENOMEM;
	if (table_grid_fits(grid, bytes_max, c.n, c.sum))
		return 0;
	if (!c.items) /* there are no rows to leave out: the grid itself is too large */
		return -E2BIG;
	qsort(c.items, c.n, sizeof(*c.items), count_compare);
	while (n < c.n && table_grid_fits(grid, bytes_max, n + 1, sum + c.items[n]))
		sum += c.items[n++];
	*ret_least = c.items[n] + 1;
	while (n && c.items[n - 1] < *ret_least)
		n--;
	*ret_left_out = (uint32_t)(c.n - n);
	return 0;
}

static int tables_make(const struct lp_table_builder *b, const struct table_part *part,
	const struct table_grid *grid, uint64_t least, struct lp_table **tables, uint32_t *n)
{
	_cleanup_free_ struct placed_set *sets = sets_sorted(b);
	size_t n_sets = b->n_sets; /* more may be added while this sleeps */

	for (size_t s = 0; sets && s < n_sets; s++) {
		_cleanup_free_ const struct table_row **rows = NULL;
		const struct column_set *set;
		uint32_t n_rows;

		if (!peak_fits(sets[s].name, b->opt->step_us))
			continue;
		slices_rest();
		set = &b->sets[sets[s].set];
		rows = set_rows(set, part, least, &n_rows);
		if (!rows)
			return -ENOMEM;
		if (!n_rows)
			continue;
		tables[*n] = table_of(b, set, rows, n_rows, grid, part->lazy);
		if (!tables[*n])
			return -ENOMEM;
		++*n;
	}
	return sets ? 0 : -ENOMEM;
}

int table_builder_view(const struct lp_table_builder *b, const struct table_part *part,
	struct lp_table ***ret_tables, uint32_t *ret_n, uint32_t *ret_left_out, struct lp_err *err)
{
	_cleanup_(table_grid_release) struct table_grid grid = {0};
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(b->n_sets + 1, sizeof(*tables));
	uint32_t n = 0, left_out = 0;
	uint64_t least = 0;
	int r = tables ? table_grid_make(b, part, &grid) : -ENOMEM;

	if (r == 0)
		r = rows_choose(b, part, &grid, &least, &left_out);
	if (r == 0)
		r = tables_make(b, part, &grid, least, tables, &n);
	if (r < 0) {
		if (tables)
			tables_free(tables, n);
		return r == -EFBIG ? table_refuse(b, part->first, part->end - 1, "the data", err)
				   : no_memory(err);
	}
	*ret_tables = tables;
	*ret_n = n;
	*ret_left_out = left_out;
	return 0;
}

bool table_builder_span(const struct lp_table_builder *b, int64_t *ret_first, int64_t *ret_end)
{
	bool any = false;

	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			int64_t first, end;

			if (!pages_span(&b->sets[s].rows[i].pages, &first, &end))
				continue;
			if (!any || first < *ret_first)
				*ret_first = first;
			if (!any || end > *ret_end)
				*ret_end = end;
			any = true;
		}
	}
	return any;
}

bool table_builder_any(const struct lp_table_builder *b, int64_t from, int64_t end)
{
	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			if (pages_any(&b->sets[s].rows[i].pages, from, end))
				return true;
		}
	}
	return false;
}

int64_t table_builder_next(const struct lp_table_builder *b, int64_t from)
{
	int64_t next = INT64_MAX;

	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			int64_t slot = pages_next(&b->sets[s].rows[i].pages, from);

			next = slot < next ? slot : next;
		}
	}
	return next;
}

uint64_t table_builder_count(const struct lp_table_builder *b, int64_t from, int64_t end)
{
	uint64_t n = 0;

	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++)
			n += pages_count(&b->sets[s].rows[i].pages, from, end);
	}
	return n;
}

bool table_builder_born(const struct lp_table_builder *b, int64_t from, int64_t end)
{
	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			const struct table_head *head = &b->sets[s].rows[i].head;

			if (head->state != HEAD_NONE && head->slot >= from && head->slot < end)
				return true;
		}
	}
	return false;
}

/* Does a row have no values left? */
static bool row_gone(const struct table_row *row, int64_t before)
{
	return !row->pages.n && (!row->open || row->slot < before);
}

int table_builder_trim(struct lp_table_builder *b, int64_t before)
{
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++) {
			slices_rest_at((uint32_t)i);
			r = pages_drop(&b->sets[s].rows[i].pages, INT64_MIN, before, &b->budget);
		}
	}
	return r < 0 ? r : table_rows_retire(b, row_gone, before);
}

int table_builder_drop(struct lp_table_builder *b, int64_t from, int64_t end)
{
	int r = 0;

	for (size_t s = 0; r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++)
			r = table_row_drop(
				&b->sets[s].rows[i], from, end, b->opt->step_us, &b->budget);
	}
	return r < 0 ? r : table_rows_retire(b, row_gone, INT64_MIN);
}

int table_builder_move(
	struct lp_table_builder *b, const char *observer, int64_t from, int64_t end, int64_t by)
{
	int r = 0;

	for (size_t s = 0; by && r == 0 && s < b->n_sets; s++) {
		for (size_t i = 0; r == 0 && i < b->sets[s].n_rows; i++) {
			struct table_row *row = &b->sets[s].rows[i];

			if (!strcmp(row->component->observer, observer))
				r = table_row_move(row, from, end, by, b->opt->step_us, &b->budget);
		}
	}
	return r;
}

void table_builder_last(const struct lp_table_builder *b,
	void (*fn)(void *ctx, const struct lp_identity *component, int64_t last_us), void *ctx)
{
	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			const struct table_row *row = &b->sets[s].rows[i];

			if (row->last_wall > INT64_MIN)
				fn(ctx, row->component, row->last_wall);
		}
	}
}
