/* The logs of system calls, read once, as they arrive.
 *
 * The owner of a reader feeds it events, changes of descriptors and samples of any observer,
 * advances it to a watermark, and requests the verdict. Records of one observer must come in order.
 * The result does not depend on how observers are interleaved, or when the reader is advanced: a
 * verdict depends on the options, the records up to the watermark, and the watermark. Records are
 * kept until the watermark reaches them (an event is known when it ends).
 *
 * The reader looks back at least 10 minutes (4 times hang_after_us if that is longer). It frees
 * older state and keeps findings. It does so at multiples of that span, so the result does not
 * depend on the steps of the watermark.
 */
#ifndef EXPLAIN_SEMANTIC_READER_H
#define EXPLAIN_SEMANTIC_READER_H

#include "base/cleanup.h"
#include "explain/semantic.h"
#include "model/trace_event.h"
#include <limpet/batch.h>
#include <limpet/catalogue.h>
#include <limpet/log.h>

/* Create a reader. `addresses` (may be NULL) has the addresses of observers; it must outlive the
 * reader and may grow. The targets of pointers in `options` must not change. `learn`: also remember
 * which calls fail, for training. NULL: out of memory. */
struct semantic_reader;
struct semantic_reader *semantic_reader_new(
	const struct semantic_options *options, const struct hosts *addresses, bool learn);
void semantic_reader_free(struct semantic_reader *r);
DEFINE_CLEANUP(struct semantic_reader *, semantic_reader_free);

/* Feed the reader. Records at or before the watermark are too late; they are counted and reported.
 * 0 or -ENOMEM. */
int semantic_reader_event(
	struct semantic_reader *r, const char *observer, const struct trace_event *e);
int semantic_reader_descriptor(
	struct semantic_reader *r, const char *observer, const struct trace_descriptor *d);

/* The same for records of any log. Logs that are not about system calls are ignored. -EBADMSG:
 * unexpected fields. */
int semantic_reader_log(struct semantic_reader *r, const char *observer, const struct lp_log *log,
	struct lp_err *err);

/* Feed the samples of a batch about traced programs and their peers (kinds sys, peer, call, errno).
 * Of all other kinds only the presence counts. */
int semantic_reader_batch(
	struct semantic_reader *r, const struct lp_catalogue *c, const struct lp_batch *b);

/* When an observer was last present, INT64_MIN at first; NULL: out of memory. The value changes
 * when records are added. The pointer is valid until the reader advances. */
const int64_t *semantic_reader_seen_us(struct semantic_reader *r, const char *observer);

/* Note that there is a log, or any other data, of the observer at that time, even if none is
 * fed. */
int semantic_reader_presence(
	struct semantic_reader *r, const char *observer, int64_t at_us, bool traced);

/* Process everything up to a time, which must not be earlier than before; or everything that was
 * fed. */
int semantic_reader_advance(struct semantic_reader *r, int64_t watermark_us);
int semantic_reader_finish(struct semantic_reader *r);

/* The findings as of the watermark. Zero-initialise `ret`; release it even after a failure. 0 or
 * -ENOMEM. */
int semantic_reader_verdict(struct semantic_reader *r, struct semantic *ret);

/* The traces of the reader, including which programs serve; valid until it is fed or advanced.
 * NULL: out of memory. */
const struct traces *semantic_reader_traces(struct semantic_reader *r);

/* Were there logs of system calls up to the watermark? */
bool semantic_reader_any(const struct semantic_reader *r);

/* The number of items in memory: waiting records, processes, calls, connections, ... */
size_t semantic_reader_kept(const struct semantic_reader *r);

/* Feed data from rows, as semantic_reader_batch() splits them. */
int reader_process(struct semantic_reader *r, const char *observer, int64_t at_us, int32_t pid,
	const char *comm, bool talks);
int reader_program(struct semantic_reader *r, const char *observer, int64_t at_us, const char *comm,
	bool serves, bool active);
int reader_peer(struct semantic_reader *r, const char *observer, int64_t at_us, const char *name,
	const int64_t values[3]);
int reader_tally(struct semantic_reader *r, const char *observer, int64_t at_us, const char *name,
	int64_t value);

/* Keep findings that began before that time, and add them to those of a later verdict. 0 or
 * -ENOMEM. */
int semantic_keep(struct semantic *kept, const struct semantic *page, int64_t before_us);
int semantic_recall(const struct semantic *kept, struct semantic *ret);

#endif
