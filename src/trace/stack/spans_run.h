/* The instrument that runs a program with libraries loaded that record its calls (runtime/spans.h),
 * and takes what they recorded: each span into the log, and sums per layer as samples.
 */
#ifndef TRACE_SPANS_RUN_H
#define TRACE_SPANS_RUN_H

#include "collect/instrument.h"
#include "trace/stack/spans_reading.h"
#include "trace/stack/stack_config.h"

struct spans_run_config {
	const char *observer;
	const struct stack_config *stack; /* it outlives the instrument */
	const char *runtime;		  /* the directory of the libraries */
	const char *scratch;		  /* where programs leave spans; NULL: /dev/shm, or /tmp */
	char **command;			  /* NULL-terminated */
	int64_t wall_offset_ns;		  /* clock_wall_offset_ns() */
};

struct spans_run;

/* Prepare; the program starts when the loop begins. -ENOENT: a library that a layer needs is not
 * installed. */
int spans_run_new(
	const struct spans_run_config *config, struct spans_run **ret, struct lp_err *err);
void spans_run_free(struct spans_run *r);

/* For the loop: loop_instrument.config is the spans_run, which outlives the loop. */
extern const struct instrument instrument_spans;

const struct spans_totals *spans_run_totals(const struct spans_run *r);
int spans_run_status(const struct spans_run *r); /* wait status; -1: it runs */

#endif
