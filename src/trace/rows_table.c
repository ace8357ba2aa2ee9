#include "trace/rows_table.h"

#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "other"

void rows_table_release(struct rows_table *t)
{
	free(t->items);
	strmap_release(&t->names);
}

static bool is_other(const struct row *row)
{
	return !strcmp(row->name, OTHER);
}

/* The row that has been unused for the longest time, or NULL if none was unused for long enough. */
static struct row *find_quiet(struct rows_table *t)
{
	struct row *best = NULL;

	for (size_t i = 0; i < t->n; i++) {
		struct row *row = &t->items[i];

		if (row->n_users || row->present || is_other(row) ||
			t->sample - row->used < TRACE_ROWS_QUIET)
			continue;
		if (!best || row->used < best->used)
			best = row;
	}
	if (!best)
		t->full = t->sample + 1;
	return best;
}

/* Only one search per sample is needed. */
static bool has_place(struct rows_table *t)
{
	return t->n < t->max || (t->full != t->sample + 1 && find_quiet(t));
}

/* A free place; NULL: out of memory. */
static struct row *take_place(struct rows_table *t)
{
	struct row *row;

	if (t->n < t->max || t->full == t->sample + 1) {
		if (array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items)) < 0)
			return NULL;
		return &t->items[t->n++];
	}
	row = find_quiet(t);
	strmap_remove(&t->names, row->name);
	t->past_calls += row->values[SYS_CALLS];
	t->past_errors += row->values[SYS_ERRORS];
	return row;
}

uint32_t rows_table_find(struct rows_table *t, const char *name)
{
	struct row *row;
	uint32_t at;

	if (strmap_get(&t->names, name, &at))
		return at + 1;
	if (!has_place(t) && strcmp(name, OTHER) != 0) {
		t->folded = true;
		return rows_table_find(t, OTHER);
	}
	row = take_place(t);
	if (!row)
		return 0;
	*row = (struct row){.used = t->sample};
	snprintf(row->name, sizeof(row->name), "%s", name);
	at = (uint32_t)(row - t->items);
	return strmap_put(&t->names, row->name, at) < 0 ? 0 : at + 1;
}

bool rows_table_moves(struct rows_table *t, uint32_t row)
{
	return row && t->folded && is_other(&t->items[row - 1]) && has_place(t);
}

void rows_table_use(struct rows_table *t, uint32_t *user, uint32_t row)
{
	if (*user)
		t->items[*user - 1].n_users--;
	if (row)
		t->items[row - 1].n_users++;
	*user = row;
}

struct row *rows_table_at(struct rows_table *t, uint32_t row)
{
	t->items[row - 1].used = t->sample;
	return &t->items[row - 1];
}
