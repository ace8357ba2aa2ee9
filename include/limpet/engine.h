/* The engine takes data as it arrives, is advanced to a watermark, and gives a verdict.
 *
 *     lp_engine_new()      from options and the interval of the samples
 *     lp_engine_feed()     batches of any observer, as they come; those of one observer in order
 *     lp_engine_feed_log() the same for records of system calls
 *     lp_engine_feed_remark() and for remarks of archives
 *     lp_engine_advance()  "everything up to this time is here": whole windows are compared, once
 *     lp_engine_verdict()  the verdict at the watermark
 *
 * A verdict depends on the options, on the data up to the watermark, and on the watermark. It does
 * not depend on how the data was cut into batches, on the order in which observers delivered, or on
 * how often and when the engine was advanced. lp_diagnose() feeds everything, advances once and
 * asks once; a service does the same with smaller steps. docs/engine.md says how it decides.
 *
 * An engine does not correct times. lp_diagnose() does, before it feeds the engine: it follows
 * clocks that were set, sets aside samples far from all others in time, and finds constant offsets
 * between observers. That needs all of the data at once, so a program that feeds an engine directly
 * must correct times itself: wall_us of all batches must come from one clock. lp_batch.mono_us,
 * which never steps, reports a clock that was set. An observer with a clock that is off by more
 * than a few seconds is compared at the wrong times, and may be accused of what its peers did at
 * another time; if its clock is ahead, lp_engine_ready() also treats its peers as late. A sample
 * that is years ahead cannot be undone.
 *
 * One engine is used by one thread at a time.
 */
#ifndef LIMPET_ENGINE_H
#define LIMPET_ENGINE_H

#include <limpet/diagnose.h>
#include <limpet/log.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct lp_engine;

/* Make an engine. `options` and everything it points to must outlive it; `interval_us` is the
 * nominal time between samples, the longest if observers differ. The file `state` of the options is
 * opened when a verdict is requested. */
int lp_engine_new(const struct lp_diagnose_options *options, int64_t interval_us,
	struct lp_engine **ret, struct lp_err *err);
void lp_engine_free(struct lp_engine *e);

/* Tell the engine which addresses an observer has ("10.0.0.7 fe80::7"). It uses them to pool
 * connections between observers. Call it before you feed data of that observer. */
int lp_engine_add_host(
	struct lp_engine *e, const char *observer, const char *addresses, struct lp_err *err);

/* Take over the samples of a batch. Batches of one observer come in chronological order; those of
 * different observers in any order. Samples that are not later than the watermark are too late:
 * they are ignored and counted. */
int lp_engine_feed(struct lp_engine *e, const struct lp_source *source,
	const struct lp_batch *batch, struct lp_err *err);

/* Take over records of a log, in the order of the observer's archive. */
int lp_engine_feed_log(
	struct lp_engine *e, const char *observer, const struct lp_log *log, struct lp_err *err);

/* Take over a remark of an observer's archive, as lp_archive_events() gives it. Remarks that
 * identify a program (its process, user and command line) are reported if that program runs on one
 * observer only; all others are ignored. */
int lp_engine_feed_remark(struct lp_engine *e, const char *observer, int64_t wall_us,
	const char *text, struct lp_err *err);

/* The data that batches must contain, for sources that can skip the rest. Valid as long as the
 * engine. */
const struct lp_select *lp_engine_select(const struct lp_engine *e);

/* The time up to which observers have delivered. An observer that is more than `lateness_us` behind
 * the most advanced one counts as silent and delays nothing. INT64_MIN: there is no data. */
int64_t lp_engine_ready(const struct lp_engine *e, int64_t lateness_us);

/* Declare that all data up to `watermark_us` that matters has arrived. The watermark never goes
 * back. With `slice_us` of the options some of the work may be left for later. */
int lp_engine_advance(struct lp_engine *e, int64_t watermark_us, struct lp_err *err);

/* The verdict at the watermark. The caller frees it with lp_verdict_free(). -ENOENT: there is
 * nothing to compare. */
int lp_engine_verdict(struct lp_engine *e, struct lp_verdict **ret, struct lp_err *err);

/* The number of samples that came too late so far. */
uint64_t lp_engine_n_late(const struct lp_engine *e);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
