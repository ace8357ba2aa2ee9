/* Processes that do one piece of work together: mpirun has started them, all with the same
 * arguments. Each does a share of the work and hands its results to the others, so that all know
 * the same afterwards and take the same decisions.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include "base/bytes.h"
#include "base/strbuf.h"
#include <limpet/err.h>

struct team {
	int rank, size; /* of this process; 0 is the first one */
	void *ctx;
	/* All processes call it, with data of their own, and get the data of all, in the order of
	 * the ranks, for the caller to free, and its sizes [size]. 0 or a negative errno. */
	int (*share)(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes);
	/* The same, but only the first process gets anything. */
	int (*gather)(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes);
	struct lp_err failure; /* of any of them: they are no longer together */
};

/* What all have handed over. */
struct team_parcels {
	void *data;
	struct cursor *of; /* [rank] */
};

void team_parcels_release(struct team_parcels *p);

/* Is this process the one that does piece of work number `i`? NULL: it is alone and does all. */
bool team_mine(const struct team *t, uint64_t i);

/* Begin what will be handed over. Numbers and structs are put in as they are in memory: all
 * processes are of one build, on machines of one kind. */
void parcel_begin(struct strbuf *sb);

/* Hand `mine` over, and get what all have handed over. `mine->failed` counts as a failure. The
 * failure of any process is the failure of all, then and in all later calls: the first one's error
 * is returned. */
int team_share(
	struct team *t, const struct strbuf *mine, struct team_parcels *ret, struct lp_err *err);

/* The work of this process has ended with `r`, described in `err`. Returns the failure of the first
 * process that has one, or 0. A process that fails calls it instead of whatever the others share
 * next; none has to wait for another that has given up. NULL: returns `r`. */
int team_agree(struct team *t, int r, struct lp_err *err);

/* Take over the `n` bytes of the first process. */
int team_follow(struct team *t, void *data, size_t n, struct lp_err *err);

/* Put a number, or a text, into what will be handed over; take it out again. */
void parcel_u64(struct strbuf *sb, uint64_t v);
void parcel_text(struct strbuf *sb, const char *text); /* NULL stays NULL */
/* For the caller to free; -EBADMSG or -ENOMEM. */
int parcel_take_text(struct cursor *c, char **ret);

#endif
