/* The logs of system calls, read once, as they come.
 *
 * Whoever owns a reader feeds it with events, changes of descriptors and samples of any observer,
 * advances it to a watermark, and asks it for the verdict. Records of one observer come in their
 * order; how observers are interleaved, and when the reader is advanced, changes nothing: a verdict
 * depends on the options, the records up to the watermark, and the watermark. Records are kept
 * until their turn comes, which is when the watermark reaches them (an event is known when it
 * ends).
 *
 * The reader looks back 10 minutes at least (4 times hang_after_us if that is longer). What is over
 * since before that is given back, and findings are kept: at fixed times, multiples of that span,
 * so that nobody's watermark matters.
 */
#ifndef EXPLAIN_SEMANTIC_READER_H
#define EXPLAIN_SEMANTIC_READER_H

#include "base/cleanup.h"
#include "explain/semantic.h"
#include "model/trace_event.h"
#include <limpet/batch.h>
#include <limpet/catalogue.h>
#include <limpet/log.h>

/* `addresses` (may be NULL) says whose they are; it outlives the reader and may grow, as may not
 * what `options` points to. With `learn`, it keeps which calls fail for training, and everything
 * else. NULL: out of memory. */
struct semantic_reader;
struct semantic_reader *semantic_reader_new(
	const struct semantic_options *options, const struct hosts *addresses, bool learn);
void semantic_reader_free(struct semantic_reader *r);
DEFINE_CLEANUP(struct semantic_reader *, semantic_reader_free);

/* Feed it. What comes at or before the watermark comes too late: it is counted, and reported. 0 or
 * -ENOMEM. */
int semantic_reader_event(
	struct semantic_reader *r, const char *observer, const struct trace_event *e);
int semantic_reader_descriptor(
	struct semantic_reader *r, const char *observer, const struct trace_descriptor *d);

/* The same for records of a log, which may be of any: those that are not about system calls are
 * passed over. -EBADMSG: its fields are other than expected. */
int semantic_reader_log(struct semantic_reader *r, const char *observer, const struct lp_log *log,
	struct lp_err *err);

/* The samples of a batch that are about traced programs and their peers (kinds sys, peer, call,
 * errno); of all others only that there were some. */
int semantic_reader_batch(
	struct semantic_reader *r, const struct lp_catalogue *c, const struct lp_batch *b);

/* There is a log of the observer, or any data, at that time, even if nothing is fed. */
int semantic_reader_presence(
	struct semantic_reader *r, const char *observer, int64_t at_us, bool traced);

/* Take everything up to that time, which is never earlier than before; or all that was fed. */
int semantic_reader_advance(struct semantic_reader *r, int64_t watermark_us);
int semantic_reader_finish(struct semantic_reader *r);

/* What speaks against whom, as of the watermark. Zero-initialise `ret`; release it also after a
 * failure. 0 or -ENOMEM. */
int semantic_reader_verdict(struct semantic_reader *r, struct semantic *ret);

/* What it knows, with who serves; good until it is fed or advanced. NULL: out of memory. */
const struct traces *semantic_reader_traces(struct semantic_reader *r);

/* Were there logs of system calls up to the watermark? */
bool semantic_reader_any(const struct semantic_reader *r);

/* How many things it keeps: records that wait, processes, calls, connections, ... */
size_t semantic_reader_kept(const struct semantic_reader *r);

/* Of rows, as semantic_reader_batch() takes them apart. */
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
