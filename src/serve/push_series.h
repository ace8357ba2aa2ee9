/* Samples to send by remote write: series made from batches, with names for Prometheus
 * (import/remote/own_names.c), until they become messages.
 */
#ifndef SERVE_PUSH_SERIES_H
#define SERVE_PUSH_SERIES_H

#include "base/hash.h"
#include "import/remote/mapping.h"
#include "import/remote/write_request.h"
#include <limpet/batch.h>

#define PUSH_JOB "limpet"

/* The names of columns. Zero-initialise it. */
struct push_names {
	struct mapping own;
	struct strmap by_column; /* kind and column -> group and its column */
};

int push_names_load(struct push_names *n, struct lp_err *err);
void push_names_release(struct push_names *n);

/* The names of the columns of a schema; NULL for those that no collector of limpet records. 0 or
 * -ENOMEM. */
int push_names_find(const struct push_names *n, const struct lp_schema *schema,
	const struct mapping_column *ret[LP_COLUMNS_MAX]);

/* Consecutive samples of one series. */
struct push_run {
	size_t labels, labels_len; /* in `labels` of struct push_series */
	size_t first, n;	   /* in its samples */
};

/* Zero-initialise it. */
struct push_series {
	struct strbuf labels; /* of all runs, in the format of messages */
	struct strbuf tail;   /* the labels of the current component, without the metric */
	struct write_sample *samples;
	size_t n, cap;
	struct push_run *runs;
	size_t n_runs, cap_runs;
	uint64_t n_expired; /* samples that were too old */
};

void push_series_reset(struct push_series *s); /* empty it, keep the memory */
void push_series_release(struct push_series *s);

/* Add the named columns of row `row` of a kind of a batch, for samples after `after_us`; those up
 * to `oldest_us` are only counted. The carried sample is not added. If a component disappears, its
 * series end with WRITE_STALE. 0 or -ENOMEM. */
int push_series_add(struct push_series *s, const struct mapping_column *const *names,
	const struct lp_catalogue *catalogue, const struct lp_batch *b, uint32_t kind, uint32_t row,
	int64_t after_us, int64_t oldest_us);

/* The first and the last time; false if there are no samples. */
bool push_series_span(const struct push_series *s, int64_t *ret_first_ms, int64_t *ret_last_ms);

/* A part of the samples: some runs, and their samples from `from_ms` to before `to_ms`.
 */
struct push_part {
	size_t first_run, end_run;
	int64_t from_ms, to_ms;
};

/* Replace the contents of `message` by a part. Returns the number of its samples. */
size_t push_series_message(
	const struct push_series *s, const struct push_part *part, struct strbuf *message);

#endif
