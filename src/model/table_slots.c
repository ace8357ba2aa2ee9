#include "model/table_slots.h"

/* How many slots end at a time or before it. */
static uint32_t slots_until(const struct lp_table *t, int64_t time_us)
{
	int64_t ahead_us, n;

	if (t->step_us <= 0 || time_us < t->start_us)
		return 0;
	if (__builtin_sub_overflow(time_us, t->start_us, &ahead_us))
		return t->n_slots;
	n = lp_table_slot(t, time_us);
	return n >= t->n_slots ? t->n_slots : (uint32_t)n + 1;
}

void table_slots(const struct lp_table *t, int64_t first_us, int64_t last_us, uint32_t *ret_from,
	uint32_t *ret_end)
{
	uint32_t from = slots_until(t, first_us), end = slots_until(t, last_us);

	*ret_from = from < end ? from : 0;
	*ret_end = from < end ? end : 0;
}
