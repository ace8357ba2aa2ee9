/* Requests over the network: combines the messages that the kernel delivers (bpf/stack.h) into
 * requests with their answers, for all protocols.
 */
#ifndef TRACE_KERNEL_REQUESTS_H
#define TRACE_KERNEL_REQUESTS_H

#include "trace/stack/kernel_spans.h"

struct kernel_requests;
struct stack_message;

/* `give` gets each request when its answer is complete, and its layer. `wall_offset_ns` converts
 * CLOCK_MONOTONIC to time since 1970. NULL: there is no memory. */
struct kernel_requests *kernel_requests_new(
	int64_t wall_offset_ns, int (*give)(void *ctx, unsigned layer, struct span *s), void *ctx);
void kernel_requests_free(struct kernel_requests *q);

/* Take a message; count it in `totals` if it makes no sense, or if its request was not seen. 0,
 * -ENOMEM, or what `give` returned. */
int kernel_requests_take(struct kernel_requests *q, const struct stack_message *m,
	struct kernel_spans_totals *totals);

/* At the end: pass on the requests that have no answer yet. */
int kernel_requests_end(struct kernel_requests *q, int64_t now_ns);

#endif
