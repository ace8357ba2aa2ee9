/* What is to be sent by remote write: samples of series, made of batches, named as Prometheus names
 * things (import/remote/own_names.c), until they become messages.
 */
#ifndef SERVE_PUSH_SERIES_H
#define SERVE_PUSH_SERIES_H

#include "base/hash.h"
#include "import/remote/mapping.h"
#include "import/remote/write_request.h"
#include <limpet/batch.h>

#define PUSH_JOB "limpet"

/* What columns are called. Zero-initialise it. */
struct push_names {
	struct mapping own;
	struct strmap by_column; /* of a kind and a column: the group and its column */
};

int push_names_load(struct push_names *n, struct lp_err *err);
void push_names_release(struct push_names *n);

/* What the columns of a schema are called; NULL for those that none of limpet's own collectors
 * records. 0 or -ENOMEM. */
int push_names_find(const struct push_names *n, const struct lp_schema *schema,
	const struct mapping_column *ret[LP_COLUMNS_MAX]);

/* Samples of one series, one after the other. */
struct push_run {
	size_t labels, labels_len; /* in the arena */
	size_t first, n;	   /* in the samples */
};

/* Zero-initialise it. */
struct push_series {
	struct strbuf labels; /* of all runs, as messages have them */
	struct strbuf tail;   /* those of a component without the metric, while it is added */
	struct write_sample *samples;
	size_t n, cap;
	struct push_run *runs;
	size_t n_runs, cap_runs;
	uint64_t n_expired; /* samples that were too old */
};

void push_series_reset(struct push_series *s); /* empty it, keep the memory */
void push_series_release(struct push_series *s);

/* Add the columns that have names, of row `row` of a kind of a batch, of samples behind `after_us`;
 * those up to `oldest_us` are only counted. The carried sample is not added. A component that goes
 * gets a last value that says so. 0 or -ENOMEM. */
int push_series_add(struct push_series *s, const struct mapping_column *const *names,
	const struct lp_catalogue *catalogue, const struct lp_batch *b, uint32_t kind, uint32_t row,
	int64_t after_us, int64_t oldest_us);

/* The first and the last time; false if there is nothing. */
bool push_series_span(const struct push_series *s, int64_t *ret_first_ms, int64_t *ret_last_ms);

/* A part of them: runs, and of these the samples from `from_ms` up to, but not including, `to_ms`.
 */
struct push_part {
	size_t first_run, end_run;
	int64_t from_ms, to_ms;
};

/* Replace what is in `message` by a part. Returns the number of its samples. */
size_t push_series_message(
	const struct push_series *s, const struct push_part *part, struct strbuf *message);

#endif
