/* The live engine: a thread that follows the archives, keeps an engine and its incidents up to
 * date, and publishes a snapshot after every verdict.
 *
 * It can also replay recordings, with a clock that begins with the data and runs `speed` times as
 * fast.
 */
#ifndef SERVE_LIVE_H
#define SERVE_LIVE_H

#include "serve/feed.h"
#include "serve/incidents.h"
#include "serve/snapshot.h"

struct live_options {
	const char *dir;	       /* of archives */
	struct lp_dataset *replay;     /* or recordings */
	double speed;		       /* of a replay */
	const char *topology, *expect; /* files, or NULL */
	struct incidents *store;       /* outlives the thread */
	int64_t look_back_us; /* how much is read again at the start; 0: FEED_LOOK_BACK_US */
	struct lp_warn *warn; /* called by the thread */
	/* Called by the thread after a verdict, and every 15 s if there is none (with the same
	 * snapshot twice). `before` is the last snapshot. May be NULL. */
	void (*judged)(void *ctx, const struct snapshot *now, const struct snapshot *before);
	/* Can the collector write no data at the moment (a full disk)? Then no server is to blame
	 * for being silent. May be NULL. */
	bool (*is_blind)(void *ctx);
	void *ctx;
	/* The data that it cannot write, see struct follow_options; may be NULL. */
	size_t (*peek)(void *ctx, const char *path, uint64_t offset, void *buf, size_t size);
	void *peek_ctx;
};

struct live;

/* Start the thread. `options` is copied; everything it points to must outlive the thread. */
int live_start(const struct live_options *options, struct live **ret, struct lp_err *err);
void live_stop(struct live *l);

/* There is new data: do not wait. */
void live_poke(struct live *l);

/* The last snapshot; never NULL. The caller calls snapshot_unref(). */
struct snapshot *live_snapshot(struct live *l);

struct incidents *live_incidents(struct live *l);

/* The current time: that of the system, or of the replay. */
int64_t live_now_us(struct live *l);

/* How far the clocks of most servers are ahead of the collector's, if that is more than the
 * lateness. */
int64_t live_ahead_us(struct live *l);

/* Has all data that existed at the start been read? For a replay: is it over? */
bool live_is_ready(struct live *l);

/* The last failure of the engine or the store, in `buf`; "": none. */
const char *live_trouble(struct live *l, char *buf, size_t size);

#endif
