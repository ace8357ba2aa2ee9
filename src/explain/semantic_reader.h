/* The logs of system calls, read once, as they arrive.
 *
 * The owner of a reader feeds it with events, changes of descriptors and samples of any observer,
 * advances it to a watermark, and asks it for the verdict. Records of one observer come in their
 * order; how observers are interleaved, and when the reader is advanced, changes nothing: a verdict
 * depends on the options, the records up to the watermark, and the watermark. Records are kept
 * until the watermark reaches them (an event is known when it ends).
 *
 * The reader looks back at least 10 minutes (4 times hang_after_us if that is longer). State that
 * is older is freed, and findings are kept: at fixed times, multiples of that span, so that the
 * result does not depend on the steps of the watermark.
 */
#ifndef EXPLAIN_SEMANTIC_READER_H
#define EXPLAIN_SEMANTIC_READER_H

#include "base/cleanup.h"
#include "explain/semantic.h"
#include "model/trace_event.h"
#include <limpet/batch.h>
#include <limpet/catalogue.h>
#include <limpet/log.h>

/* `addresses` (may be NULL) has the observers' addresses; it outlives the reader and may grow. What
 * `options` points to must not change. With `learn`, it also keeps which calls fail, for training.
 * NULL: out of memory. */
struct semantic_reader;
struct semantic_reader *semantic_reader_new(
	const struct semantic_options *options, const struct hosts *addresses, bool learn);
void semantic_reader_free(struct semantic_reader *r);
DEFINE_CLEANUP(struct semantic_reader *, semantic_reader_free);

/* Feed it. Records at or before the watermark are too late: they are counted, and reported. 0 or
 * -ENOMEM. */
int semantic_reader_event(
	struct semantic_reader *r, const char *observer, const struct trace_event *e);
int semantic_reader_descriptor(
	struct semantic_reader *r, const char *observer, const struct trace_descriptor *d);

/* The same for records of any log: those that are not about system calls are ignored. -EBADMSG: its
 * fields are other than expected. */
int semantic_reader_log(struct semantic_reader *r, const char *observer, const struct lp_log *log,
	struct lp_err *err);

/* The samples of a batch about traced programs and their peers (kinds sys, peer, call, errno); of
 * all others only their presence. */
int semantic_reader_batch(
	struct semantic_reader *r, const struct lp_catalogue *c, const struct lp_batch *b);

/* When an observer was last present, INT64_MIN at first; NULL: out of memory. It changes as records
 * are added, and is valid until the reader advances. */
const int64_t *semantic_reader_seen_us(struct semantic_reader *r, const char *observer);

/* There is a log of the observer, or any data, at that time, even if nothing is fed. */
int semantic_reader_presence(
	struct semantic_reader *r, const char *observer, int64_t at_us, bool traced);

/* Process everything up to that time, which is never earlier than before; or everything that was
 * fed. */
int semantic_reader_advance(struct semantic_reader *r, int64_t watermark_us);
int semantic_reader_finish(struct semantic_reader *r);

/* The findings as of the watermark. Zero-initialise `ret`; release it also after a failure. 0 or
 * -ENOMEM. */
int semantic_reader_verdict(struct semantic_reader *r, struct semantic *ret);

/* Its knowledge, including which programs serve; valid until it is fed or advanced. NULL: out of
 * memory. */
const struct traces *semantic_reader_traces(struct semantic_reader *r);

/* Were there logs of system calls up to the watermark? */
bool semantic_reader_any(const struct semantic_reader *r);

/* The number of things it keeps: waiting records, processes, calls, connections, ... */
size_t semantic_reader_kept(const struct semantic_reader *r);

/* From rows, as semantic_reader_batch() splits them. */
int reader_process(struct semantic_reader *r, const char *observer, int64_t at_us, int32_t pid,
	const char *comm, bool talks);
int reader_program(struct semantic_reader *r, const char *observer, int64_t at_us, const char *comm,
	bool serves, bool active);
int reader_peer(struct semantic_reader *r, const char *observer, int64_t at_us, const char *name,
	const int64_t values[3]);
int reader_tally(struct semantic_reader *r, const char *observer, int64_t at_us, const char *name,
	int64_t value);

/* Findings that began before that time are kept, and added to those of a later verdict. 0 or
 * -ENOMEM. */
int semantic_keep(struct semantic *kept, const struct semantic *page, int64_t before_us);
int semantic_recall(const struct semantic *kept, struct semantic *ret);

#endif
