/* Votes that were learnt from at an epoch. The next epoch learns from most of the same windows:
 * their votes are not computed again. */
#ifndef DETECT_COMPARE_KEPT_VOTES_H
#define DETECT_COMPARE_KEPT_VOTES_H

#include "base/hash.h"
#include <limpet/identity.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise it. */
struct kept_votes {
	struct strmap index; /* by metric and group */
	struct kept_votes_item *items;
	size_t n, cap;
	size_t bytes;
	uint64_t epoch;
};

/* Which votes: those of the members of a group on each other, in consecutive windows. The first
 * window is averaged without the slots before it, so its votes hold only while it is the first. */
struct kept_votes_of {
	const char *group, *metric;
	const struct lp_identity *const *members;
	uint32_t n_members;
	int64_t first; /* number of the first window */
	uint32_t n_windows;
};

void kept_votes_release(struct kept_votes *k);

/* Copy the known votes into votes[member * n_windows + window]. Those of the windows 1 up to, but
 * not including, the one returned are known (0: none are), and with `*ret_head` those of window 0.
 */
uint32_t kept_votes_get(
	const struct kept_votes *k, const struct kept_votes_of *of, double *votes, bool *ret_head);

/* Keep `votes`, which is taken over, if there is room for them. 0 or -ENOMEM. */
int kept_votes_put(struct kept_votes *k, const struct kept_votes_of *of, double *votes);

/* An epoch is over: forget what was not kept in it. */
int kept_votes_turn(struct kept_votes *k);

#endif
