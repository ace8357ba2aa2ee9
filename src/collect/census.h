/* Which components there are: those that were not seen for a horizon retire, and their ids go to
 * others. So a recorder's memory is that of what is there and of what was there a while ago,
 * however many interfaces, addresses and processes come and go in its life.
 */
#ifndef COLLECT_CENSUS_H
#define COLLECT_CENSUS_H

#include "collect/journal.h"
#include <limpet/batch.h>

/* A component retires when it is missing from so many samples in which others of its kind are
 * present: an hour where samples are taken every second. A collector that fails does not make what
 * it watches retire, nor does a clock that leaps. */
#define CENSUS_HORIZON 3600

/* Where more than so many are missing (a hundred new interfaces a second, say), those that have
 * been so for longest retire earlier: what is remembered has a limit, however fast names change. */
#define CENSUS_MISSING_MAX 8192

struct census_slot {
	uint64_t seen; /* when: in samples of its kind */
	uint32_t schema;
	uint32_t tenancy; /* which of the components that had this id has it now */
	bool taken;
};

struct census_kind {
	uint64_t n_samples; /* in which somebody of the kind was present */
};

/* Zero-initialise it. */
struct census {
	struct census_slot *slots; /* [id] */
	size_t n, cap;
	uint32_t *vacant; /* ids that are nobody's; there is room for all */
	size_t n_vacant, cap_vacant;
	struct census_kind *kinds; /* [schema] */
	size_t n_kinds, cap_kinds;
};

void census_release(struct census *s);

/* The id for a new component of that kind, taken from now on: one that is vacant, or the next after
 * all others. 0 or -ENOMEM. */
int census_take(struct census *s, uint32_t schema, uint32_t *ret_id);

/* Give an id back that came from census_take(). */
void census_drop(struct census *s, uint32_t id);

/* Note who is present in the samples of a batch, the carried one aside. */
void census_note(struct census *s, const struct lp_batch *b);

/* Retire from the catalogue who was not seen for CENSUS_HORIZON, or for less where more than
 * CENSUS_MISSING_MAX are missing, and write it down in the journal.
 * Not while a batch is being filled that has them. */
void census_retire(struct census *s, struct lp_catalogue *c, struct journal *j);

#endif
