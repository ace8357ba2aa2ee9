/* The calls of a program or a job as sums per layer and operation: kept instead of
 * single records by `limpet stack run --summary`. In archives each is a remark.
 */
#ifndef TRACE_STACK_JOB_SUMS_H
#define TRACE_STACK_JOB_SUMS_H

#include "model/span.h"
#include "runtime/spans_file.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define JOB_SUMS_LAYERS 16
#define JOB_SUM_TEXT 256

struct job_sums {
	struct spans_sum items[JOB_SUMS_LAYERS][SPAN_OPS]; /* by place in layers[] */
	uint32_t n_ranks; /* ranks that it includes, 0: it is not a job */
	bool any;
};

/* Add those of a process, as runtime/spans.c has them. */
void job_sums_add(struct job_sums *to, unsigned layer, unsigned op, const struct spans_sum *s);

/* One of them as a remark: "kind=stack-sum layer=posix operation=write calls=3 ...". */
void job_sum_format(
	const struct job_sums *sums, unsigned layer, unsigned op, char buf[JOB_SUM_TEXT]);
/* Add the sum that a remark contains. Other texts are ignored. */
void job_sums_take(struct job_sums *to, const char *remark);

/* Print them as a table. */
void job_sums_print(FILE *out, const struct job_sums *sums);
json_t *job_sums_json(const struct job_sums *sums);

#endif
