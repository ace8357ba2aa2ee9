/* The clocks of servers that differ from those of most others, and batches with corrected times.
 *
 * A server's clock may be set while the server records: its archive shows that. Or it may be wrong
 * all the time: only the server's load or the arrival of its data shows that. Times are corrected
 * before the engine gets them. This object outlives a feed, so that data can be read again with
 * better knowledge.
 */
#ifndef SERVE_CLOCKS_H
#define SERVE_CLOCKS_H

#include "base/hash.h"
#include "import/dataset_clocks.h"
#include <limpet/source.h>

struct server_clock {
	char *name;
	struct data_clock steps; /* how it was set, if its archives show that */
	int64_t ahead_us;	 /* of the clocks of most servers, in addition */
	bool by_load;		 /* its load shows that */
	unsigned n_changes;	 /* how often another offset was found */
};

/* Zero-initialise it. */
struct clocks {
	struct server_clock *items;
	size_t n, cap;
	struct strmap index;
	/* The batch for some of the servers. */
	struct lp_batch part;
	struct lp_batch_kind *kinds;
	uint8_t *states;
	int64_t *walls;
	size_t cap_kinds, cap_states, cap_walls;
};

void clocks_release(struct clocks *c);

/* Compute the right times of the samples of an archive: those of a clock that was never set and is
 * not ahead. 1: the clock was set in this batch, and clocks_trust() can still take that correction
 * back; 0: it was not; or -ENOMEM. */
int clocks_track(
	struct clocks *c, const char *observer, const struct lp_batch *batch, int64_t *ret_walls);

/* The last change of the clock was right: later times are not corrected for it. */
void clocks_trust(struct clocks *c, const char *observer);

/* How far the times that a server records now are ahead of the right ones. */
int64_t clocks_ahead_us(const struct clocks *c, const char *observer);

/* The largest such offset of all servers, not counting what archives show; at least 0. */
int64_t clocks_most_ahead_us(const struct clocks *c);

/* A server's clock is ahead by `by_us` more than was known (`by_load`: its load shows that). 1: its
 * times are corrected by the new offset from now on; 0: they are not, because the offset has
 * changed too often; or -ENOMEM. */
int clocks_adjust(struct clocks *c, const char *observer, int64_t by_us, bool by_load);

/* Split a batch of several servers: call `fn` once for each server whose clock is ahead, and once
 * for all others. In each part the other servers are absent. Stops if `fn` returns a negative
 * number, and returns that. */
int clocks_split(struct clocks *c, const struct lp_source *source, const struct lp_batch *batch,
	int (*fn)(void *ctx, const struct lp_batch *part), void *ctx);

#endif
