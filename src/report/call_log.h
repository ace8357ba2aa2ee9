/* `limpet show --calls` and `--descriptors`: the logs of traces, filtered, as text or JSON. */
#ifndef REPORT_CALL_LOG_H
#define REPORT_CALL_LOG_H

#include "model/trace_event.h"
#include <limpet/dataset.h>
#include <stdio.h>

/* The records to print. Empty lists select everything. Lost events are always printed. */
struct call_log_filter {
	bool calls, descriptors; /* which logs */
	bool json;		 /* one object per line */
	int64_t from_us, to_us;	 /* since 1970; 0: no end */
	const int32_t *pids;	 /* or threads */
	unsigned n_pids;
	const char *const *names; /* of system calls */
	unsigned n_names;
	uint32_t classes;  /* bits of enum trace_call; 0: all */
	const int *errnos; /* only calls that failed with one of these */
	unsigned n_errnos;
	bool failed;	   /* only calls that failed, and processes that a signal killed */
	bool fold;	   /* in text, failures of one process with the same call and error are one
			    * line */
	int64_t slower_ns; /* only calls that took at least this long; 0: all */
};

/* Would this event be printed? */
bool call_log_wants(const struct call_log_filter *f, const struct trace_event *e);

/* Print the logs of all archives of a dataset, in chronological order if there are several.
 * -ENOENT: there are none. On -EBADMSG (damage, reported through `warn`) the intact records were
 * printed. */
int call_log_print(FILE *out, struct lp_dataset *ds, const struct call_log_filter *f,
	struct lp_warn *warn, struct lp_err *err);

#endif
