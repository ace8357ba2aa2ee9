/* Events of a trace and changes of descriptors, one line each, in the form of strace. */
#ifndef REPORT_CALLS_H
#define REPORT_CALLS_H

#include "report/call_args.h"
#include <jansson.h>

/* "14:03:12.123456 812/815 ": its beginning (UTC), process and thread; with an observer (not NULL),
 * "14:03:12.123456 s3 812/815 ". */
void calls_add_head(struct strbuf *out, const struct trace_event *e, const char *observer);

/* "pwrite64(9</data/brick/x>, 0x7f01, 4096, 8192)"; for other events the whole text: "--- SIGXFSZ
 * ---", "+++ killed by SIGABRT +++", "17 events lost here". `names` (may be NULL) has the names of
 * descriptors at the beginning of the call. */
void calls_add_call(struct strbuf *out, const struct trace_event *e, const struct fd_names *names);

/* " = -1 ENOSPC (No space left on device) <0.000123>"; nothing for other events. `names` has the
 * names of descriptors after the call. */
void calls_add_result(
	struct strbuf *out, const struct trace_event *e, const struct fd_names *names);

/* "14:03:12.123456 812 open 9 storage /data/brick/x". */
void calls_add_descriptor(
	struct strbuf *out, const struct trace_descriptor *d, const char *observer);

/* The same as JSON objects. `name` is that of the event's descriptor, or NULL. NULL: out of
 * memory. */
json_t *calls_json(
	const struct trace_event *e, uint64_t record, const char *name, const char *observer);
json_t *calls_descriptor_json(
	const struct trace_descriptor *d, uint64_t record, const char *observer);

#endif
