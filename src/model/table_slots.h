/* Which slots of a table belong to a stretch of time: slot i covers the step that ends at its time,
 * so a stretch from A to B has those that end after A and not after B. */
#ifndef MODEL_TABLE_SLOTS_H
#define MODEL_TABLE_SLOTS_H

#include <limpet/table.h>

/* The slots from .. end - 1 of the table that cover the time from `first_us` to `last_us`, which
 * may lie anywhere; from == end: none. */
void table_slots(const struct lp_table *t, int64_t first_us, int64_t last_us, uint32_t *ret_from,
	uint32_t *ret_end);

#endif
