/* Processes that work together: mpirun has started them, all with the same arguments. Each does a
 * part of the work and shares its results with the others, so that all have the same data
 * afterwards and make the same decisions.
 */
#ifndef BASE_TEAM_H
#define BASE_TEAM_H

#include "base/bytes.h"
#include "base/strbuf.h"
#include <limpet/err.h>

struct team {
	int rank, size; /* of this process; 0 is the first one */
	void *ctx;
	/* All processes call it, each with its own data, and get the data of all, in the order of
	 * the ranks, and the sizes. The caller frees both. 0 or a negative errno. */
	int (*share)(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes);
	/* The same, but only the first process gets the data. */
	int (*gather)(void *ctx, const void *data, uint64_t n, void **ret, uint64_t *ret_sizes);
	struct lp_err failure; /* the failure of any process: they no longer work together */
};

/* The data that all processes have shared. */
struct team_parcels {
	void *data;
	struct cursor *of; /* [rank] */
};

void team_parcels_release(struct team_parcels *p);

/* Does this process do part `i` of the work? NULL: it is alone and does everything. */
bool team_mine(const struct team *t, uint64_t i);

/* Begin a parcel. Numbers and structs are copied as they are in memory: all processes run the same
 * build, on machines of the same kind. */
void parcel_begin(struct strbuf *sb);

/* Share `mine`, and get the data of all. `mine->failed` counts as a failure. If any process fails,
 * all fail, in this and in all later calls, and the error of the first one is returned. */
int team_share(
	struct team *t, const struct strbuf *mine, struct team_parcels *ret, struct lp_err *err);

/* The work of this process has ended with `r`, described in `err`. Returns the failure of the first
 * process that has one, or 0. A process that fails calls it instead of the next team_share() of the
 * others, so no process waits for one that has given up. NULL: returns `r`. */
int team_agree(struct team *t, int r, struct lp_err *err);

/* Get the `n` bytes of the first process. */
int team_follow(struct team *t, void *data, size_t n, struct lp_err *err);

/* Add a number or a text to a parcel, and read it from one. */
void parcel_u64(struct strbuf *sb, uint64_t v);
void parcel_text(struct strbuf *sb, const char *text); /* NULL stays NULL */
/* The caller frees the result; -EBADMSG or -ENOMEM. */
int parcel_take_text(struct cursor *c, char **ret);

#endif
