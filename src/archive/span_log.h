/* The log "spans" of an archive: one record per span (model/span.h). Writers use trace_log.h, which
 * has it beside the logs of system calls.
 */
#ifndef ARCHIVE_SPAN_LOG_H
#define ARCHIVE_SPAN_LOG_H

#include "archive/log_gather.h"
#include "model/span.h"

/* Where spans are gathered, to begin with. */
struct log_gather span_log_gather(void);

/* Keep a span; 0 or -ENOMEM. Texts are copied, at most SPAN_TEXT_MAX bytes of them. */
int span_log_add(struct log_gather *g, const struct span *s);

/* Call `fn` for each record of a frame, which may come from anywhere: what is handed over ends not
 * before it begins, its operation is one of enum span_op, its sizes are not negative. Fields that
 * are missing are 0. Stops where `fn` returns non-zero and returns that. */
int span_log_take(const struct lp_log *log,
	int (*fn)(void *ctx, uint64_t record, const struct span *s), void *ctx, struct lp_err *err);

#endif
