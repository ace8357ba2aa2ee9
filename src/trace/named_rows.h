/* Rows of an archive that count by name, up to a limit. */
#ifndef TRACE_NAMED_ROWS_H
#define TRACE_NAMED_ROWS_H

#include "collect/collector.h"

#define NAMED_ROWS_COLUMNS_MAX 8

struct named_rows;

/* Create rows with this schema, which has only counters. There are at most `max` rows; further
 * names are counted as "other". A row that does not grow in `idle_periods` is removed. The strings
 * must outlive the rows. NULL: out of memory. */
struct named_rows *named_rows_new(
	const char *observer, const struct lp_schema *schema, size_t max, uint32_t idle_periods);
void named_rows_free(struct named_rows *r);

/* Add to each column of a row. 0 or -ENOMEM. */
int named_rows_add(struct named_rows *r, const char *name, const int64_t *growth);

/* A period is over: remove idle rows. */
void named_rows_tick(struct named_rows *r);

/* Fill the current sample of sink->batch. 1: some of it shows only in the next one. */
int named_rows_fill(struct named_rows *r, struct collect_sink *sink, struct lp_err *err);

/* Call `fn` for every row, with its counts so far. */
void named_rows_each(const struct named_rows *r,
	void (*fn)(void *ctx, const char *name, const int64_t *values), void *ctx);

#endif
