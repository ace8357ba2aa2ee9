/* The clocks of servers that differ from those of most, and batches with times that are corrected.
 *
 * A server's clock may be set while it records, which its archive shows, or be off all the time,
 * which only its load or the arrival of its data shows. Both are corrected before an engine is fed.
 * What is known outlives a feed, so that data can be read again with it.
 */
#ifndef SERVE_CLOCKS_H
#define SERVE_CLOCKS_H

#include "base/hash.h"
#include "import/dataset_clocks.h"
#include <limpet/source.h>

struct server_clock {
	char *name;
	struct data_clock steps; /* how it was set, if its archives show that */
	int64_t ahead_us;	 /* of the clocks of most, besides that */
	bool by_load;		 /* its load shows that */
	unsigned n_changes;	 /* so often it turned out to be off by another time */
};

/* Zero-initialise it. */
struct clocks {
	struct server_clock *items;
	size_t n, cap;
	struct strmap index;
	/* The batch that is made for a part of the servers. */
	struct lp_batch part;
	struct lp_batch_kind *kinds;
	uint8_t *states;
	int64_t *walls;
	size_t cap_kinds, cap_states, cap_walls;
};

void clocks_release(struct clocks *c);

/* The right times of samples of an archive: as if the clock had never been set, and not ahead. 1:
 * the clock was set just now, and clocks_trust() can still undo that; 0: it was not; or -ENOMEM. */
int clocks_track(
	struct clocks *c, const char *observer, const struct lp_batch *batch, int64_t *ret_walls);

/* The last setting was right: times from it on are as recorded, unless the clock is ahead. */
void clocks_trust(struct clocks *c, const char *observer);

/* How far the times that a server records are ahead of the right ones, now. */
int64_t clocks_ahead_us(const struct clocks *c, const char *observer);

/* The same, of the one that is most ahead by all that is known but its archives; at least 0. */
int64_t clocks_most_ahead_us(const struct clocks *c);

/* A server's clock is ahead by that much more than was known (`by_load`: as its load shows). 1:
 * times are corrected in another way from now on; 0: they are not, because that changed too often;
 * or -ENOMEM. */
int clocks_adjust(struct clocks *c, const char *observer, int64_t by_us, bool by_load);

/* Call `fn` with a batch of several servers: once for each server whose clock is ahead, and once
 * for all others. Those that a part is not about are absent in it. Stops if `fn` returns less than
 * 0, and returns that. */
int clocks_split(struct clocks *c, const struct lp_source *source, const struct lp_batch *batch,
	int (*fn)(void *ctx, const struct lp_batch *part), void *ctx);

#endif
