/* The logs of a trace in an archive: "syscalls" and "descriptors", and "spans" of the I/O stack, as
 * log frames (limpet/log.h). */
#ifndef ARCHIVE_TRACE_LOG_H
#define ARCHIVE_TRACE_LOG_H

#include "model/span.h"
#include "model/trace_event.h"
#include <limpet/archive.h>
#include <limpet/log.h>

#define TRACE_LOG_SYSCALLS "syscalls"
#define TRACE_LOG_DESCRIPTORS "descriptors"
#define TRACE_LOG_SPANS "spans"

/* Limits of the values that readers get: times up to the year 2116, durations up to 73 years. A log
 * may contain any number; with these limits sums and differences cannot overflow. */
#define TRACE_LOG_TIME_MAX (INT64_C(1) << 62)
#define TRACE_LOG_DURATION_MAX (INT64_C(1) << 61)

/* Collects events until they are written. Times are since 1970 (struct trace_event). */
struct trace_log;
struct trace_log *trace_log_new(void); /* NULL: out of memory */
void trace_log_free(struct trace_log *l);

/* Add an event, a change of a descriptor, or a span; 0 or -ENOMEM. Copies everything that it points
 * to.
 */
int trace_log_add(struct trace_log *l, const struct trace_event *e);
int trace_log_add_descriptor(struct trace_log *l, const struct trace_descriptor *d);
int trace_log_add_span(struct trace_log *l, const struct span *s);

/* The approximate number of waiting bytes; the caller writes them when there are enough (4 MiB). */
size_t trace_log_waiting(const struct trace_log *l);

/* The number of waiting records. */
size_t trace_log_records(const struct trace_log *l);

/* Drop waiting records, which cannot be written. */
void trace_log_clear(struct trace_log *l);

/* Free the memory of records, if none are waiting. */
void trace_log_trim(struct trace_log *l);

/* Append the waiting records to the archive. Record numbers continue, even in a file that another
 * writer began. Records that could not be written stay for the next time. */
int trace_log_write(struct trace_log *l, struct lp_archive_writer *w, struct lp_err *err);

/* Read the logs, each in its order. The order between logs is not kept (sealing writes one after
 * the other). A reader that needs descriptors with calls reads the descriptors first, in a separate
 * pass, and compares `seq`. Frames are read whole, so a selection of times also returns records
 * before and after it. `record` is the number of the record in its log, from 0. Stops when a
 * function returns non-zero, and returns that value. Any function may be NULL. A log with
 * unexpected field types is refused with -EBADMSG and a description; unknown fields are ignored,
 * missing ones are 0. Calls get the numbers of this machine by their names. Texts have at most
 * TRACE_TEXT_MAX bytes; times and durations are from 0 to the limits above. The arguments are valid
 * during the call only. */
struct trace_log_reader {
	int (*event)(void *ctx, uint64_t record, const struct trace_event *e);
	int (*descriptor)(void *ctx, uint64_t record, const struct trace_descriptor *d);
	int (*span)(void *ctx, uint64_t record, const struct span *s);
	void *ctx;
};
int trace_log_read(
	const struct lp_source *source, const struct trace_log_reader *to, struct lp_err *err);

/* The same for the records of one frame of any log. */
int trace_log_take(const struct lp_log *log, const struct trace_log_reader *to, struct lp_err *err);

/* Does the archive have logs of system calls? */
bool trace_log_present(const struct lp_source *source);

/* Does it have a log of spans? */
bool trace_log_has_spans(const struct lp_source *source);

#endif
