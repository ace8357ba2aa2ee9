/* Arriving data, an engine, and the watermark: the common part of the live engine and of replays.
 *
 *     feed_read()     take in what has arrived
 *     feed_advance()  as far as observers have delivered (live), or to a given time (replay)
 *     feed_due()      has a window been completed since the last verdict?
 *     feed_verdict()  the verdict at the watermark
 *
 * No threads and no clocks: the caller provides the time, so that a replay does the same every
 * time. The verdict is the one that `limpet diagnose` gives for the same data and watermark.
 *
 * Clocks of servers that are wrong are corrected (clocks.h). `limpet diagnose` knows them from all
 * of the data; a feed finds them when a verdict would accuse a server.
 */
#ifndef SERVE_FEED_H
#define SERVE_FEED_H

#include "import/follow_data.h"
#include "serve/clocks.h"
#include "serve/observers.h"
#include <limpet/diagnose.h>

#define FEED_LATENESS_US INT64_C(60000000)
/* A feed that continues another one reads so much again: as much as a bounded engine keeps. */
#define FEED_LOOK_BACK_US INT64_C(86400000000)

struct feed_options {
	const char *dir;			    /* a directory that grows */
	struct lp_dataset *replay;		    /* or recordings, which are complete */
	const struct lp_diagnose_options *diagnose; /* the caller sets bounded and slice_us */
	/* Data that could not be written, see struct follow_options; may be NULL. */
	size_t (*peek)(void *ctx, const char *path, uint64_t offset, void *buf, size_t size);
	void *peek_ctx;
	int64_t from_us;     /* data that ends earlier is not read; 0: all data is read */
	int64_t lateness_us; /* how long to wait for late observers; 0: FEED_LATENESS_US */
	/* What is known of clocks, and what will be; it outlives the feed, for the next one. NULL:
	 * times are taken as recorded. */
	struct clocks *clocks;
	struct lp_warn *warn;
};

struct feed;

/* `options` and everything it points to must outlive the feed. */
int feed_new(const struct feed_options *options, struct feed **ret, struct lp_err *err);
void feed_free(struct feed *f);

/* Read all data that has arrived and begins up to `until_us`. Returns the number of batches.
 * -ESTALE: an observer has a longer interval than all others before. An engine must know this from
 * the start, so create another feed. */
int feed_read(struct feed *f, int64_t until_us, int64_t now_us, struct lp_err *err);

/* When the data that was held back begins; INT64_MAX: none was. */
int64_t feed_held_us(const struct feed *f);

/* The number of files with data that was held back. */
size_t feed_n_held(const struct feed *f);

/* Advance as far as observers have delivered, at `now_us`. */
int feed_advance(struct feed *f, int64_t now_us, struct lp_err *err);

/* Advance to a time; all data up to it was read. */
int feed_advance_to(struct feed *f, int64_t watermark_us, struct lp_err *err);

/* The time to which `limpet diagnose` would advance if this is all data; INT64_MAX: there is
 * more. */
int64_t feed_end_us(struct feed *f);

/* All data was read: advance to the same time as `limpet diagnose`. */
int feed_finish(struct feed *f, struct lp_err *err);

/* The watermark; INT64_MIN: nothing was compared so far. */
int64_t feed_watermark_us(const struct feed *f);

/* Has a window been completed since the last verdict? */
bool feed_due(const struct feed *f);

/* The time between complete windows: there is no new verdict sooner. */
int64_t feed_window_us(const struct feed *f);

/* The verdict at the watermark. -EAGAIN: it would accuse a server, but clocks turned out to be
 * wrong that were not known to be. Make another feed, which corrects them, and let it read the
 * same. */
int feed_verdict(struct feed *f, struct lp_verdict **ret, struct lp_err *err);

/* Live, after observers_rate(): does the arrival of data show that clocks are wrong? -EAGAIN as
 * above, or 0. */
int feed_check_arrival(struct feed *f, struct lp_err *err);

/* The observers: those that deliver, and those that are expected. */
struct observers *feed_observers(struct feed *f);

/* The topology; NULL: none. */
const struct topology *feed_topology(const struct feed *f);

/* The number of samples that came too late and were ignored. */
uint64_t feed_n_late(const struct feed *f);

#endif
