/* What has changed in the sampling thread's catalogue, for the writing thread to do the same in its
 * own: the costs of handing a catalogue over are those of what is new in it.
 */
#ifndef COLLECT_JOURNAL_H
#define COLLECT_JOURNAL_H

#include "base/idmap.h"
#include <limpet/catalogue.h>

/* What an id of the catalogue means from now on. */
struct journal_change {
	uint32_t id, schema;
	char *observer, *name, *labels; /* name NULL: nobody */
};

/* Zero-initialise it. Of an id only the last change is kept, so that a journal that nobody takes
 * for a long time does not grow beyond its catalogue. */
struct journal {
	const struct lp_schema **schemas; /* new ones, in order */
	size_t n_schemas, cap_schemas;
	struct journal_change *changes;
	size_t n, cap;
	struct idmap places; /* id -> change */
};

void journal_release(struct journal *j);

/* Make room for one more schema (0 or -ENOMEM); then it can be added. It outlives the journal. */
int journal_reserve_schema(struct journal *j);
void journal_add_schema(struct journal *j, const struct lp_schema *schema);

/* `id` has become that component; `name` NULL: nobody. 0 or -ENOMEM, and nothing has changed. */
int journal_add(struct journal *j, uint32_t id, uint32_t schema, const char *observer,
	const char *name, const char *labels);

/* Do the same in `c`, and forget it. After a failure it can be tried again. */
int journal_apply(struct journal *j, struct lp_catalogue *c, struct lp_err *err);

#endif
