/* Votes from which an epoch learnt thresholds. The next epoch learns from mostly the same windows,
 * so it does not compute their votes again. */
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

/* Which votes: those of the members of a group against each other, in consecutive windows. The
 * first window is averaged without the slots before it, so its votes are valid only while it is the
 * first. */
struct kept_votes_of {
	const char *group, *metric;
	const struct lp_identity *const *members;
	uint32_t n_members;
	int64_t first; /* number of the first window */
	uint32_t n_windows;
};

void kept_votes_release(struct kept_votes *k);

/* Copy the known votes into votes[member * n_windows + window]. Returns n if the votes of the
 * windows 1 .. n - 1 are known (0: none are); `*ret_head`: those of window 0 are known, too.
 */
uint32_t kept_votes_get(
	const struct kept_votes *k, const struct kept_votes_of *of, double *votes, bool *ret_head);

/* Keep `votes` if there is room, and take ownership of them. 0 or -ENOMEM. */
int kept_votes_put(struct kept_votes *k, const struct kept_votes_of *of, double *votes);

/* An epoch is over: forget votes that were not kept in it. */
int kept_votes_turn(struct kept_votes *k);

#endif
