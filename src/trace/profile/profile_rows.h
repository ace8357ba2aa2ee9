/* Converts samples to rows of the archive: kinds `function` (program, image and function), `stack`
 * (program and functions from the outermost on, if stacks are recorded) and `profile` (totals).
 */
#ifndef TRACE_PROFILE_ROWS_H
#define TRACE_PROFILE_ROWS_H

#include "collect/collector.h"

/* The limit of rows per kind; further ones are counted as "other". */
#define PROFILE_FUNCTIONS_MAX 16384
#define PROFILE_STACKS_MAX 8192
/* A row without samples in this many periods is removed. */
#define PROFILE_IDLE_PERIODS 60
#define PROFILE_NAME_MAX 320
#define PROFILE_STACK_NAME_MAX 800

enum profile_kind { PROFILE_FUNCTIONS = 0, PROFILE_STACKS, PROFILE_KINDS };

/* Sums since the beginning. */
struct profile_totals {
	uint64_t samples; /* of programs */
	uint64_t idle;	  /* samples of idle CPUs */
	uint64_t unknown; /* samples without a name */
	uint64_t lost;
	unsigned hz;
};

struct profile_rows;

struct profile_rows *profile_rows_new(const char *observer);
void profile_rows_free(struct profile_rows *r);

/* Count `n` samples for a row. 0 or -ENOMEM. */
int profile_rows_count(
	struct profile_rows *r, enum profile_kind kind, const char *name, uint64_t n);

/* A period is over: remove idle rows. */
void profile_rows_tick(struct profile_rows *r);

/* Fill the current sample of sink->batch. 1: some of it shows only in the next one. */
int profile_rows_fill(struct profile_rows *r, const struct profile_totals *totals,
	struct collect_sink *sink, struct lp_err *err);

/* Call `fn` for every row, with its samples so far. */
void profile_rows_each(const struct profile_rows *r, enum profile_kind kind,
	void (*fn)(void *ctx, const char *name, const int64_t *values), void *ctx);

#endif
