#include "trace/profile/profile_rows.h"

#include "base/array.h"
#include "base/hash.h"
#include "trace/counted_row.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct row {
	char *name;
	struct counted_row place;
	int64_t n, last;
	uint32_t idle; /* periods */
};

struct rows {
	struct row *items;
	size_t n, cap, max;
	struct strmap names;
};

enum { TOTAL_SAMPLES = 0, TOTAL_IDLE, TOTAL_UNKNOWN, TOTAL_LOST, TOTAL_HZ, TOTAL_COLUMNS };

struct profile_rows {
	char *observer;
	struct rows kinds[PROFILE_KINDS];
	struct counted_row total;
	int64_t last_total[TOTAL_COLUMNS];
};

static const struct lp_column count_columns[] = {{"samples", "samples", LP_COUNTER, 64}};

static const struct lp_column total_columns[TOTAL_COLUMNS] = {
	[TOTAL_SAMPLES] = {"samples", "samples", LP_COUNTER, 64},
	[TOTAL_IDLE] = {"idle", "samples", LP_COUNTER, 64},
	[TOTAL_UNKNOWN] = {"unknown", "samples", LP_COUNTER, 64},
	[TOTAL_LOST] = {"lost", "samples", LP_COUNTER, 64},
	[TOTAL_HZ] = {"hz", "1/s", LP_GAUGE, 0},
};

static const struct lp_schema schemas[PROFILE_KINDS] = {
	[PROFILE_FUNCTIONS] = {"function", count_columns, ARRAY_SIZE(count_columns)},
	[PROFILE_STACKS] = {"stack", count_columns, ARRAY_SIZE(count_columns)},
};

static const struct lp_schema total_schema = {"profile", total_columns, TOTAL_COLUMNS};

struct profile_rows *profile_rows_new(const char *observer)
{
	struct profile_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->kinds[PROFILE_FUNCTIONS].max = PROFILE_FUNCTIONS_MAX;
	r->kinds[PROFILE_STACKS].max = PROFILE_STACKS_MAX;
	r->observer = strdup(observer);
	if (!r->observer) {
		free(r);
		return NULL;
	}
	return r;
}

void profile_rows_free(struct profile_rows *r)
{
	if (!r)
		return;
	for (size_t k = 0; k < PROFILE_KINDS; k++) {
		for (size_t i = 0; i < r->kinds[k].n; i++)
			free(r->kinds[k].items[i].name);
		free(r->kinds[k].items);
		strmap_release(&r->kinds[k].names);
	}
	free(r->observer);
	free(r);
}

/* The row of that name, or "other" where there are too many; NULL: out of memory. */
static struct row *row_named(struct rows *rows, const char *name)
{
	char *copy;
	uint32_t at;

	if (strmap_get(&rows->names, name, &at))
		return &rows->items[at];
	if (rows->n >= rows->max && strcmp(name, "other") != 0)
		return row_named(rows, "other");
	copy = strdup(name);
	if (!copy ||
		array_reserve(&rows->items, &rows->cap, rows->n + 1, sizeof(*rows->items)) < 0 ||
		strmap_put(&rows->names, name, (uint32_t)rows->n) < 0) {
		free(copy);
		return NULL;
	}
	rows->items[rows->n] = (struct row){.name = copy};
	return &rows->items[rows->n++];
}

int profile_rows_count(struct profile_rows *r, enum profile_kind kind, const char *name, uint64_t n)
{
	struct row *row = row_named(&r->kinds[kind], name);

	if (!row)
		return -ENOMEM;
	row->n += (int64_t)n;
	row->idle = 0;
	return 0;
}

void profile_rows_tick(struct profile_rows *r)
{
	for (size_t k = 0; k < PROFILE_KINDS; k++) {
		struct rows *rows = &r->kinds[k];

		for (size_t i = 0; i < rows->n;) {
			struct row *row = &rows->items[i];

			if (row->idle++ < PROFILE_IDLE_PERIODS) {
				i++;
				continue;
			}
			strmap_remove(&rows->names, row->name);
			free(row->name);
			*row = rows->items[--rows->n];
			if (i < rows->n) /* it is there, so it takes no room */
				strmap_put(&rows->names, row->name, (uint32_t)i);
		}
	}
}

static int fill_kind(struct profile_rows *r, enum profile_kind kind, struct collect_sink *sink,
	bool *behind, struct lp_err *err)
{
	int got = 0;

	for (size_t i = 0; got == 0 && i < r->kinds[kind].n; i++) {
		struct row *row = &r->kinds[kind].items[i];

		got = counted_row_store(&row->place, sink, &schemas[kind], r->observer, row->name,
			&row->n, &row->last, behind, err);
	}
	return got;
}

int profile_rows_fill(struct profile_rows *r, const struct profile_totals *totals,
	struct collect_sink *sink, struct lp_err *err)
{
	const int64_t values[TOTAL_COLUMNS] = {[TOTAL_SAMPLES] = (int64_t)totals->samples,
		[TOTAL_IDLE] = (int64_t)totals->idle,
		[TOTAL_UNKNOWN] = (int64_t)totals->unknown,
		[TOTAL_LOST] = (int64_t)totals->lost,
		[TOTAL_HZ] = totals->hz};
	bool behind = false;
	int got;

	r->last_total[TOTAL_HZ] = totals->hz;
	got = counted_row_store(&r->total, sink, &total_schema, r->observer, "cpu", values,
		r->last_total, &behind, err);
	for (unsigned k = 0; got == 0 && k < PROFILE_KINDS; k++)
		got = fill_kind(r, k, sink, &behind, err);
	return got < 0 ? got : behind;
}

void profile_rows_each(const struct profile_rows *r, enum profile_kind kind,
	void (*fn)(void *ctx, const char *name, uint64_t n), void *ctx)
{
	for (size_t i = 0; i < r->kinds[kind].n; i++)
		fn(ctx, r->kinds[kind].items[i].name, (uint64_t)r->kinds[kind].items[i].n);
}
