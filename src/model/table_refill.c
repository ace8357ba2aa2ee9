#include "model/table_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* With this many values or more, threads share the copying, because tables are refilled often. */
#define REFILL_MANY 65536

void table_refill_release(struct table_refill *r)
{
	free(r->rows);
	*r = (struct table_refill){0};
}

int table_refill_find(
	const struct lp_table_builder *b, const struct lp_table *t, struct table_refill *ret)
{
	struct table_refill found = {0};
	const struct column_set *s;
	uint32_t number;

	if (!strmap_get(&b->set_index, t->metric, &found.set) || t->n_cuts)
		return -ENOENT;
	s = &b->sets[found.set];
	if (s->remade || s->n_rows != t->n_components)
		return -ENOENT;
	found.rows = calloc((size_t)t->n_components + 1, sizeof(*found.rows));
	if (!found.rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_components; i++) {
		if (!strmap_get(&b->numbers, t->components[i]->text, &number) ||
			number >= s->n_numbers || s->row_of[number] == NO_ROW) {
			table_refill_release(&found);
			return -ENOENT;
		}
		found.rows[i] = s->row_of[number];
	}
	*ret = found;
	return 0;
}

uint32_t table_refill_count(const struct lp_table_builder *b)
{
	uint32_t n = 0;

	for (size_t s = 0; s < b->n_sets; s++)
		n += b->sets[s].n_rows && peak_fits(b->sets[s].name, b->opt->step_us);
	return n;
}

int table_refill_part(const struct lp_table_builder *b, const struct table_refill *r,
	const struct table_part *part, struct lp_table *t)
{
	const struct table_row *rows = b->sets[r->set].rows;
	uint32_t n_slots = (uint32_t)(part->end - part->first);
	size_t n_cells = (size_t)t->n_components * n_slots;
	int64_t span_us = peak_span_us(t->metric);

	if (n_slots != t->n_slots) {
		double *values = reallocarray(t->values, n_cells + 1, sizeof(*values));

		if (!values)
			return -ENOMEM;
		t->values = values;
		t->n_slots = n_slots;
	}
	t->start_us = part->first * t->step_us;
	if (t->lazy) {
		t->lazy->first = part->first;
		memset(t->lazy->read, 0, t->n_components * sizeof(*t->lazy->read));
		return 0;
	}
#pragma omp parallel for schedule(static) if (n_cells >= REFILL_MANY)
	for (uint32_t i = 0; i < t->n_components; i++) {
		pages_copy(&rows[r->rows[i]].pages, part->first, n_slots,
			t->values + (size_t)i * n_slots);
		if (span_us && rows[r->rows[i]].metric)
			peak_row(t, i, span_us);
	}
	return 0;
}
