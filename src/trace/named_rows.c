#include "trace/named_rows.h"

#include "base/array.h"
#include "base/hash.h"
#include "trace/counted_row.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct row {
	char *name;
	struct counted_row place;
	int64_t now[NAMED_ROWS_COLUMNS_MAX], last[NAMED_ROWS_COLUMNS_MAX];
	uint32_t idle; /* periods */
};

struct named_rows {
	const char *observer;
	const struct lp_schema *schema;
	struct row *items;
	size_t n, cap, max;
	struct strmap names;
	uint32_t idle_periods;
};

struct named_rows *named_rows_new(
	const char *observer, const struct lp_schema *schema, size_t max, uint32_t idle_periods)
{
	struct named_rows *r = calloc(1, sizeof(*r));

	assert(schema->n_columns <= NAMED_ROWS_COLUMNS_MAX);
	if (!r)
		return NULL;
	r->observer = observer;
	r->schema = schema;
	r->max = max;
	r->idle_periods = idle_periods;
	return r;
}

void named_rows_free(struct named_rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		free(r->items[i].name);
	free(r->items);
	strmap_release(&r->names);
	free(r);
}

/* The row with this name, or "other" if there are too many; NULL: out of memory. */
static struct row *row_named(struct named_rows *r, const char *name)
{
	char *copy;
	uint32_t at;

	if (strmap_get(&r->names, name, &at))
		return &r->items[at];
	if (r->n >= r->max && strcmp(name, "other") != 0)
		return row_named(r, "other");
	copy = strdup(name);
	if (!copy || array_reserve(&r->items, &r->cap, r->n + 1, sizeof(*r->items)) < 0 ||
		strmap_put(&r->names, name, (uint32_t)r->n) < 0) {
		free(copy);
		return NULL;
	}
	r->items[r->n] = (struct row){.name = copy};
	return &r->items[r->n++];
}

int named_rows_add(struct named_rows *r, const char *name, const int64_t *growth)
{
	struct row *row = row_named(r, name);

	if (!row)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->schema->n_columns; i++)
		row->now[i] += growth[i];
	row->idle = 0;
	return 0;
}

void named_rows_tick(struct named_rows *r)
{
	for (size_t i = 0; i < r->n;) {
		struct row *row = &r->items[i];

		if (row->idle++ < r->idle_periods) {
			i++;
			continue;
		}
		strmap_remove(&r->names, row->name);
		free(row->name);
		*row = r->items[--r->n];
		if (i < r->n) /* it exists, so it needs no memory */
			strmap_put(&r->names, row->name, (uint32_t)i);
	}
}

int named_rows_fill(struct named_rows *r, struct collect_sink *sink, struct lp_err *err)
{
	bool behind = false;
	int got = 0;

	for (size_t i = 0; got == 0 && i < r->n; i++) {
		struct row *row = &r->items[i];

		got = counted_row_store(&row->place, sink, r->schema, r->observer, row->name,
			row->now, row->last, &behind, err);
	}
	return got < 0 ? got : behind;
}

void named_rows_each(const struct named_rows *r,
	void (*fn)(void *ctx, const char *name, const int64_t *values), void *ctx)
{
	for (size_t i = 0; i < r->n; i++)
		fn(ctx, r->items[i].name, r->items[i].now);
}
