/* Changes of the sampling thread's catalogue. The writing thread applies them to its own, so that
 * handing over a catalogue costs only as much as it has changed.
 */
#ifndef COLLECT_JOURNAL_H
#define COLLECT_JOURNAL_H

#include "base/idmap.h"
#include <limpet/catalogue.h>

/* The new meaning of an id of the catalogue. */
struct journal_change {
	uint32_t id, schema;
	char *observer, *name, *labels; /* name NULL: no component */
};

/* Zero-initialise it. Only the last change of an id is kept, so that a journal that is not applied
 * for a long time does not grow beyond its catalogue. */
struct journal {
	const struct lp_schema **schemas; /* new ones, in order */
	size_t n_schemas, cap_schemas;
	struct journal_change *changes;
	size_t n, cap;
	struct idmap places; /* id -> change */
};

void journal_release(struct journal *j);

/* Make room for one more schema (0 or -ENOMEM), so that it can be added. The schema must outlive
 * the journal. */
int journal_reserve_schema(struct journal *j);
void journal_add_schema(struct journal *j, const struct lp_schema *schema);

/* Note that `id` is now this component; `name` NULL: it is free. 0, or -ENOMEM without a change. */
int journal_add(struct journal *j, uint32_t id, uint32_t schema, const char *observer,
	const char *name, const char *labels);

/* Apply the changes to `c`, and forget them. After a failure it can be called again. */
int journal_apply(struct journal *j, struct lp_catalogue *c, struct lp_err *err);

#endif
