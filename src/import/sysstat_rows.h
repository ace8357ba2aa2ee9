/* The components of a sysstat file and their rows in the current batch: finds the component of each
 * item of a record, and copies its fields.
 */
#ifndef IMPORT_SYSSTAT_ROWS_H
#define IMPORT_SYSSTAT_ROWS_H

#include "base/hash.h"
#include "import/sysstat_plan.h"

/* The item at one position of an activity's list; usually the next record has the same. */
struct sysstat_slot {
	uint8_t key[SYSSTAT_KEY_MAX]; /* as in the file */
	uint32_t id;
	bool used;
};

struct sysstat_rows {
	struct lp_catalogue *catalogue; /* not owned, as are the next three */
	const struct lp_select *select;
	const struct sysstat_plans *plans;
	const char *observer;
	struct sysstat_arch arch;
	struct sysstat_component *components; /* by their id in the catalogue */
	size_t cap_components;
	struct strmap ids[SYSSTAT_KINDS]; /* key as text -> id */
	struct sysstat_slot *slots[SYSSTAT_WANTED_MAX];
	size_t cap_slots[SYSSTAT_WANTED_MAX];
	size_t *cells; /* of the current items */
	size_t cap_cells;
	uint64_t sample; /* number of the current sample */
	uint32_t batch;	 /* number of the current batch */
	bool restarted;	 /* since the previous sample */
};

void sysstat_rows_release(struct sysstat_rows *rows);

/* Make a batch the current one; its rows are the carried ones. */
void sysstat_rows_bind(struct sysstat_rows *rows, const struct lp_batch *b);

/* A new sample was added to the batch. `restarted`: the counters were reset before it. */
void sysstat_rows_begin(struct sysstat_rows *rows, bool restarted);

/* Fill the current sample from the `n` items of activity `plan`. */
int sysstat_rows_take(struct sysstat_rows *rows, uint32_t plan, const uint8_t *items, uint32_t n,
	struct lp_batch *b, struct lp_err *err);

#endif
