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

/* What readers get: times up to the year 2116, durations up to 73 years. A log may say anything,
 * and whoever adds and subtracts them must not have to think of that. */
#define TRACE_LOG_TIME_MAX (INT64_C(1) << 62)
#define TRACE_LOG_DURATION_MAX (INT64_C(1) << 61)

/* Gathers events until they are written. Times are since 1970 (struct trace_event). */
struct trace_log;
struct trace_log *trace_log_new(void); /* NULL: out of memory */
void trace_log_free(struct trace_log *l);

/* Keep an event, a change of a descriptor, or a span; 0 or -ENOMEM. What they point to is copied.
 */
int trace_log_add(struct trace_log *l, const struct trace_event *e);
int trace_log_add_descriptor(struct trace_log *l, const struct trace_descriptor *d);
int trace_log_add_span(struct trace_log *l, const struct span *s);

/* Bytes that are waiting, about; whoever gathers writes when it is enough (4 MiB). */
size_t trace_log_waiting(const struct trace_log *l);

/* Records that are waiting. */
size_t trace_log_records(const struct trace_log *l);

/* Forget them: they cannot be written. */
void trace_log_clear(struct trace_log *l);

/* Give back the memory that records took, of a log that has none waiting. */
void trace_log_trim(struct trace_log *l);

/* Append what was gathered to the archive and begin anew; record numbers go on, also those of a
 * file that somebody else began. What could not be written stays for the next time. */
int trace_log_write(struct trace_log *l, struct lp_archive_writer *w, struct lp_err *err);

/* Read them back, each log in its order. How the logs lie to each other is not kept (sealing
 * puts one behind the other): whoever needs descriptors with calls reads the descriptors first, in
 * a pass of their own, and goes by `seq`. Frames are read whole: where times were selected, there
 * are records before and after them. `record` is the number of the record in its log, from 0. Stops
 * where a function returns non-zero and returns that. Any function may be NULL. A log whose
 * fields are other than expected is refused with -EBADMSG and what it has; fields that are not
 * known are ignored, those that are missing are 0. Calls get this machine's numbers by their names;
 * texts are at most TRACE_TEXT_MAX bytes long, times and durations from 0 to the limits above. What
 * is handed over is good during the call only. */
struct trace_log_reader {
	int (*event)(void *ctx, uint64_t record, const struct trace_event *e);
	int (*descriptor)(void *ctx, uint64_t record, const struct trace_descriptor *d);
	int (*span)(void *ctx, uint64_t record, const struct span *s);
	void *ctx;
};
int trace_log_read(
	const struct lp_source *source, const struct trace_log_reader *to, struct lp_err *err);

/* The same for the records of one frame, which may be of any log. */
int trace_log_take(const struct lp_log *log, const struct trace_log_reader *to, struct lp_err *err);

/* Has the archive logs of system calls? */
bool trace_log_present(const struct lp_source *source);

/* Has it one of spans? */
bool trace_log_has_spans(const struct lp_source *source);

#endif
