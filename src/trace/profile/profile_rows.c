#include "trace/profile/profile_rows.h"

#include "base/array.h"
#include "trace/counted_row.h"
#include "trace/named_rows.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TOTAL_SAMPLES = 0, TOTAL_IDLE, TOTAL_UNKNOWN, TOTAL_LOST, TOTAL_HZ, TOTAL_COLUMNS };

struct profile_rows {
	char *observer;
	struct named_rows *kinds[PROFILE_KINDS];
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
	static const size_t max[PROFILE_KINDS] = {
		[PROFILE_FUNCTIONS] = PROFILE_FUNCTIONS_MAX, [PROFILE_STACKS] = PROFILE_STACKS_MAX};
	struct profile_rows *r = calloc(1, sizeof(*r));
	bool whole = r && (r->observer = strdup(observer));

	for (size_t k = 0; whole && k < PROFILE_KINDS; k++) {
		r->kinds[k] =
			named_rows_new(r->observer, &schemas[k], max[k], PROFILE_IDLE_PERIODS);
		whole = r->kinds[k] != NULL;
	}
	if (whole)
		return r;
	profile_rows_free(r);
	return NULL;
}

void profile_rows_free(struct profile_rows *r)
{
	if (!r)
		return;
	for (size_t k = 0; k < PROFILE_KINDS; k++)
		named_rows_free(r->kinds[k]);
	free(r->observer);
	free(r);
}

int profile_rows_count(struct profile_rows *r, enum profile_kind kind, const char *name, uint64_t n)
{
	return named_rows_add(r->kinds[kind], name, &(int64_t){(int64_t)n});
}

void profile_rows_tick(struct profile_rows *r)
{
	for (size_t k = 0; k < PROFILE_KINDS; k++)
		named_rows_tick(r->kinds[k]);
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
	for (unsigned k = 0; got == 0 && k < PROFILE_KINDS; k++) {
		got = named_rows_fill(r->kinds[k], sink, err);
		behind |= got > 0;
		got = got < 0 ? got : 0;
	}
	return got < 0 ? got : behind;
}

void profile_rows_each(const struct profile_rows *r, enum profile_kind kind,
	void (*fn)(void *ctx, const char *name, const int64_t *values), void *ctx)
{
	named_rows_each(r->kinds[kind], fn, ctx);
}
