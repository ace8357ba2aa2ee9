/* What `limpet stack show` prints of the metrics: as text, JSON, CSV, and for trace viewers. */
#ifndef TRACE_STACK_REPORT_H
#define TRACE_STACK_REPORT_H

#include "base/strbuf.h"
#include "trace/stack/stack_metrics.h"

#include <jansson.h>
#include <stdio.h>

/* The layers, the regions, and the `slowest` calls that took longest. */
void stack_text_print(FILE *out, const struct stack_metrics *m, size_t slowest);

/* One call and all spans that it caused, each as a bar on the call's time. */
void stack_text_waterfall(FILE *out, const struct stack_metrics *m, const struct stack_call *call);

/* Everything, with the `n_calls` slowest calls (SIZE_MAX: all, in time order). NULL: out of
 * memory. */
json_t *stack_json_make(const struct stack_metrics *m, size_t n_calls);

/* A call with all its parts. */
json_t *stack_json_call(const struct stack_metrics *m, const struct stack_call *call);

/* One line per call. */
void stack_csv_print(FILE *out, const struct stack_metrics *m);

/* One line per span of any layer, with the spans that it belongs to: SPAN:BYTES. 0 or -ENOMEM. */
int stack_joins_print(FILE *out, const struct stack_metrics *m);

/* How the clocks of the hosts differed, one line per host. */
void stack_clocks_print(FILE *out, const struct spans *s);
json_t *stack_clocks_json(const struct spans *s);

/* All spans in the trace event format that Perfetto and Chromium's about:tracing read. 0 or
 * -ENOMEM. */
int stack_chrome_print(FILE *out, const struct stack_metrics *m);

/* One page with all of it, which needs nothing else. 0, -ENOMEM, -EIO. */
int stack_html_print(FILE *out, const struct stack_metrics *m);

/* Add what a call waited for: "call 16 of rank 2 waited 11.2 of 12.0 s for s3's disk", or in which
 * layer it spent most. */
void stack_add_wait(
	struct strbuf *sb, const struct stack_metrics *m, const struct stack_call *call);
/* Add how long a call waited for one server, or for the network to it. */
void stack_add_wait_for(struct strbuf *sb, const struct stack_metrics *m,
	const struct stack_share *share, bool network);
/* Add the same for the slowest call. */
void stack_add_headline(struct strbuf *sb, const struct stack_metrics *m);
/* The server that a call waited for longest; NULL: none. */
const struct stack_share *stack_call_slowest(
	const struct stack_metrics *m, const struct stack_call *call);

/* The slowest calls first, as places in m->calls, for the caller to free. NULL: out of memory. */
uint32_t *stack_slowest(const struct stack_metrics *m);

#endif
