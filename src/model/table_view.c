#include "model/table_view.h"

#include "base/cleanup.h"
#include "model/table_peak.h"
#include <errno.h>
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* From so many values on, threads share the copying. */
#define COPY_MANY 1048576

static int no_memory(struct lp_err *err)
{
	return lp_err_sys(err, -ENOMEM, "cannot build a table");
}

/* Does the row have a value in the slots from .. end - 1? Most have one at the end. */
static bool row_seen(const struct table_row *row, int64_t from, int64_t end)
{
	int64_t first = row->first > from ? row->first : from;
	int64_t behind = row->first + (int64_t)row->n;

	for (int64_t slot = behind < end ? behind : end; slot-- > first;) {
		if (table_value_set(row->values[slot - row->first]))
			return true;
	}
	return false;
}

static int row_compare(const void *a, const void *b)
{
	const struct table_row *const *x = a, *const *y = b;

	return strcmp((*x)->component->text, (*y)->component->text);
}

/* The rows of a set that belong to the part, by name. */
static const struct table_row **set_rows(
	const struct column_set *s, const struct table_part *part, uint32_t *ret_n)
{
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	const struct table_row **rows = calloc(s->n_rows + 1, sizeof(*rows));
	uint32_t n = 0;
	bool sorted = true;

	for (size_t i = 0; rows && i < s->n_rows; i++) {
		if (!row_seen(&s->rows[i], part->seen_from, part->end))
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

static void row_copy(const struct table_row *row, const struct table_part *part, double *ret)
{
	uint32_t n = (uint32_t)(part->end - part->first);

	for (uint32_t i = 0; i < n; i++) {
		int64_t at = part->first + i - row->first;

		ret[i] = at >= 0 && at < (int64_t)row->n && table_value_set(row->values[at])
			? row->values[at]
			: NAN;
	}
}

static int table_fill(struct lp_table *t, const struct table_row **rows, uint32_t n,
	const struct table_part *part)
{
	int64_t span_us = peak_span_us(t->metric);
	int r = 0;

	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	t->components = calloc((size_t)n + 1, sizeof(*t->components));
	t->values = malloc(((size_t)n * t->n_slots + 1) * sizeof(*t->values));
	if (!t->components || !t->values)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		t->components[t->n_components++] = lp_identity_ref(rows[i]->component);
#pragma omp parallel for schedule(static) if ((size_t)n * t->n_slots >= COPY_MANY)
	for (uint32_t i = 0; i < n; i++)
		row_copy(rows[i], part, t->values + (size_t)i * t->n_slots);
	for (uint32_t i = 0; span_us && r == 0 && i < n; i++)
		r = rows[i]->metric ? peak_row(t, i, span_us) : 0;
	return r;
}

/* NULL: out of memory. */
static struct lp_table *table_of(const struct lp_table_builder *b, const struct column_set *s,
	const struct table_row **rows, uint32_t n, const struct table_part *part)
{
	struct lp_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->metric = strdup(s->name);
	t->unit = strdup(s->unit);
	t->step_us = b->opt->step_us;
	t->start_us = part->first * t->step_us;
	t->n_slots = (uint32_t)(part->end - part->first);
	if (!t->metric || !t->unit || table_fill(t, rows, n, part) < 0) {
		lp_table_free(t);
		return NULL;
	}
	return t;
}

/* The place of a metric: that in the list of those that were asked for, else that in the catalogue,
 * then those that it does not know. */
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
	const struct column_set *set;
};

static int placed_compare(const void *a, const void *b)
{
	const struct placed_set *x = a, *y = b;

	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return strcmp(x->set->name, y->set->name);
}

static struct placed_set *sets_sorted(const struct lp_table_builder *b)
{
	struct placed_set *sets = calloc(b->n_sets + 1, sizeof(*sets));

	for (size_t i = 0; sets && i < b->n_sets; i++)
		sets[i] = (struct placed_set){set_place(b, &b->sets[i]), &b->sets[i]};
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

/* Would all tables fit into the memory that the builder may take? */
static bool part_fits(const struct lp_table_builder *b, const struct table_part *part)
{
	uint64_t rows = 1, n_slots = (uint64_t)(part->end - part->first);

	for (size_t s = 0; s < b->n_sets; s++)
		rows += b->sets[s].n_rows;
	return n_slots < UINT32_MAX && n_slots <= b->budget.max / sizeof(double) / rows;
}

int table_builder_view(const struct lp_table_builder *b, const struct table_part *part,
	struct lp_table ***ret_tables, uint32_t *ret_n, struct lp_err *err)
{
	_cleanup_free_ struct placed_set *sets = sets_sorted(b);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	struct lp_table **tables = calloc(b->n_sets + 1, sizeof(*tables));
	uint32_t n = 0;
	bool ok = sets && tables;

	if (ok && !part_fits(b, part)) {
		free(tables);
		return table_refuse(b, part->first, part->end - 1, "the data", err);
	}
	for (size_t s = 0; ok && s < b->n_sets; s++) {
		uint32_t n_rows;
		_cleanup_free_ const struct table_row **rows = NULL;

		if (!peak_fits(sets[s].set->name, b->opt->step_us))
			continue;
		rows = set_rows(sets[s].set, part, &n_rows);
		ok = rows != NULL;
		if (!ok || !n_rows)
			continue;
		tables[n] = table_of(b, sets[s].set, rows, n_rows, part);
		ok = tables[n] != NULL;
		n += ok;
	}
	if (!ok) {
		if (tables)
			tables_free(tables, n);
		return no_memory(err);
	}
	*ret_tables = tables;
	*ret_n = n;
	return 0;
}

bool table_builder_span(const struct lp_table_builder *b, int64_t *ret_first, int64_t *ret_end)
{
	bool any = false;

	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++) {
			const struct table_row *row = &b->sets[s].rows[i];
			int64_t end = row->first + (int64_t)row->n;

			if (!row->n)
				continue;
			if (!any || row->first < *ret_first)
				*ret_first = row->first;
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
			if (row_seen(&b->sets[s].rows[i], from, end))
				return true;
		}
	}
	return false;
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

/* Drop the values before a slot; the memory stays, for those to come. */
static void row_trim(struct table_row *row, int64_t before)
{
	int64_t drop = before - row->first;

	if (drop <= 0 || !row->n)
		return;
	if (drop > (int64_t)row->n)
		drop = (int64_t)row->n;
	row->n -= (size_t)drop;
	row->first += drop;
	memmove(row->values, row->values + drop, row->n * sizeof(*row->values));
}

/* Has it nothing left? */
static bool row_gone(const struct table_row *row, int64_t before)
{
	return !row->n && (!row->open || row->slot < before);
}

int table_builder_trim(struct lp_table_builder *b, int64_t before)
{
	for (size_t s = 0; s < b->n_sets; s++) {
		for (size_t i = 0; i < b->sets[s].n_rows; i++)
			row_trim(&b->sets[s].rows[i], before);
	}
	return table_rows_retire(b, row_gone, before);
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
