/* Replays recordings as if they arrived now, to find the incidents that would have been opened, and
 * when. */
#ifndef SERVE_BACKTEST_H
#define SERVE_BACKTEST_H

#include "serve/feed.h"
#include "serve/incidents.h"

struct backtest_options {
	const struct lp_diagnose_options *diagnose; /* the caller sets `bounded` */
	int64_t every_us;    /* the time between verdicts; 0: after every complete window */
	int64_t lateness_us; /* 0: FEED_LATENESS_US */
	struct lp_warn *warn;
	void (*progress)(void *ctx, const char *what, double done); /* may be NULL */
	void *progress_ctx;
};

/* Replay all of `ds` into the store. `*ret_first_us` and `*ret_last_us` are the time range that was
 * replayed; 0: none. */
int backtest_run(struct lp_dataset *ds, const struct backtest_options *options,
	struct incidents *store, int64_t *ret_first_us, int64_t *ret_last_us, struct lp_err *err);

/* Replay a feed up to a time: read and advance, but not beyond the end of the data. */
int backtest_step(struct feed *f, int64_t at_us, struct lp_err *err);

/* Clocks turned out to be wrong: replace a feed of recordings by one that corrects them, and play
 * it up to the same time. `*how` is what the feed was made with. The feed may be NULL after a
 * failure.
 */
int backtest_again(struct feed **f, struct feed_options *how, int64_t at_us, struct lp_err *err);

/* Ask the feed for a verdict and update the store with it. The caller frees the verdict, also if
 * the store fails (a full disk); NULL: there is none, since there is nothing to judge yet. -EAGAIN:
 * see feed_verdict(). */
int backtest_judge(struct feed *f, struct incidents *store, int64_t lateness_us, int64_t now_us,
	struct lp_verdict **ret, struct lp_err *err);

#endif
