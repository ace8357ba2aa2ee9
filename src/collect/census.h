/* The components that exist. Components that are missing for a horizon retire, and their ids are
 * reused. So the memory of a recorder is bounded by the components that exist or existed recently,
 * however many interfaces, addresses and processes come and go.
 */
#ifndef COLLECT_CENSUS_H
#define COLLECT_CENSUS_H

#include "collect/journal.h"
#include <limpet/batch.h>

/* A component retires when it is missing from this many samples in which others of its kind are
 * present: an hour at one sample per second. Neither a collector that fails nor a clock that jumps
 * makes components retire. */
#define CENSUS_HORIZON 3600

/* If more components than this are missing (for instance, with a hundred new interfaces per
 * second), those that have been missing longest retire earlier, so memory is bounded however fast
 * names change. */
#define CENSUS_MISSING_MAX 8192

struct census_slot {
	uint64_t seen; /* when it was last present, in samples of its kind */
	uint32_t schema;
	uint32_t tenancy; /* the number of components that have had this id */
	bool taken;
};

struct census_kind {
	uint64_t n_samples; /* in which any component of the kind was present */
};

/* Zero-initialise it. */
struct census {
	struct census_slot *slots; /* [id] */
	size_t n, cap;
	uint32_t *vacant; /* free ids; the array has room for all */
	size_t n_vacant, cap_vacant;
	struct census_kind *kinds; /* [schema] */
	size_t n_kinds, cap_kinds;
};

void census_release(struct census *s);

/* Take an id for a new component of a kind: a vacant one, or the next one after all others. 0 or
 * -ENOMEM. */
int census_take(struct census *s, uint32_t schema, uint32_t *ret_id);

/* Return an id that came from census_take(). */
void census_drop(struct census *s, uint32_t id);

/* Note which components are present in the samples of a batch, except the carried one. */
void census_note(struct census *s, const struct lp_batch *b);

/* Retire components from the catalogue that were not seen for CENSUS_HORIZON, or for less if more
 * than CENSUS_MISSING_MAX are missing, and record it in the journal. Do not call it while a batch
 * that contains them is being filled. */
void census_retire(struct census *s, struct lp_catalogue *c, struct journal *j);

#endif
