/* The log "spans" of an archive: one record per span (model/span.h). Writers use trace_log.h, which
 * combines it with the logs of system calls.
 */
#ifndef ARCHIVE_SPAN_LOG_H
#define ARCHIVE_SPAN_LOG_H

#include "archive/log_gather.h"
#include "model/span.h"

/* An empty gatherer for spans. */
struct log_gather span_log_gather(void);

/* Add a span; 0 or -ENOMEM. Copies its texts, at most SPAN_TEXT_MAX bytes of each. */
int span_log_add(struct log_gather *g, const struct span *s);

/* Call `fn` for each record of a frame. The file may be hostile, so records are corrected: a span
 * does not end before it begins, its operation is one of enum span_op, and its sizes are not
 * negative. Missing fields are 0. Stops when `fn` returns non-zero, and returns that value. */
int span_log_take(const struct lp_log *log,
	int (*fn)(void *ctx, uint64_t record, const struct span *s), void *ctx, struct lp_err *err);

#endif
