#include "model/table_row.h"

#include "base/array.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void table_row_release(struct table_row *row)
{
	free(row->values);
	free(row->name);
	*row = (struct table_row){0};
}

/* Room in a row for `slot`, which it does not have yet; slots that nothing is known of are NaN. */
static int row_grow(struct table_row *row, int64_t slot, struct table_budget *budget)
{
	int64_t end = row->first + (int64_t)row->n;
	int64_t first = row->n && row->first < slot ? row->first : slot;
	int64_t last = row->n && end - 1 > slot ? end - 1 : slot;
	uint64_t need = (uint64_t)last - (uint64_t)first + 1;
	size_t cap = row->cap, shift = row->n ? (size_t)(row->first - first) : 0;

	if (need > budget->max / sizeof(double) ||
		(need > cap && budget->used + (need - cap) * sizeof(double) > budget->max)) {
		budget->first = first;
		budget->last = last;
		return -EFBIG;
	}
	if (array_reserve(&row->values, &row->cap, need, sizeof(double)) < 0)
		return -ENOMEM;
	budget->used += (row->cap - cap) * sizeof(double);
	if (shift)
		memmove(row->values + shift, row->values, row->n * sizeof(double));
	for (size_t i = 0; i < shift; i++)
		row->values[i] = NAN;
	for (size_t i = row->n + shift; i < need; i++)
		row->values[i] = NAN;
	row->first = first;
	row->n = need;
	return 0;
}

/* Put the value of the slot at hand into the row. */
static inline int row_put(
	struct table_row *row, const struct bind *bind, struct table_budget *budget)
{
	int64_t at = row->slot - row->first;

	if (!row->open || !row->acc.n)
		return 0;
	if (row->n && at == (int64_t)row->n && row->n < row->cap) {
		row->n++; /* the next one: the usual case */
	} else if (!row->n || at < 0 || at >= (int64_t)row->n) {
		int r = row_grow(row, row->slot, budget);

		if (r < 0)
			return r;
		at = row->slot - row->first;
	}
	row->values[at] = bind_value(bind, &row->acc);
	return 0;
}

/* Make `slot` the one at hand. */
static inline int row_turn(
	struct table_row *row, const struct bind *bind, int64_t slot, struct table_budget *budget)
{
	int r = row_put(row, bind, budget);

	/* Also where the slot is the same: a repeat begins it anew, and the later wins if it has a
	 * value. */
	row->acc = (struct bind_acc){0};
	row->slot = slot;
	row->open = true;
	return r;
}

/* What was gathered through a binding of another meaning cannot go on: it is in its place already,
 * and the slot begins anew. */
static void row_bind(struct table_row *row, const struct bind *bind)
{
	uint32_t shape = bind_shape(bind);

	if (row->metric == bind->metric && row->shape == shape)
		return;
	row->metric = bind->metric;
	row->shape = shape;
	row->open = false;
	row->acc = (struct bind_acc){0};
}

/* Is there a difference to take between sample s and the one before it? */
static inline bool has_predecessor(
	const struct table_times *times, const uint8_t *state, uint32_t s)
{
	return s > 0 && state[s - 1] & LP_PRESENT && !(state[s] & LP_FRESH) && times->dt_s[s] > 0;
}

int table_row_add(struct table_row *row, const struct table_times *times, const struct bind *bind,
	const struct lp_batch_kind *kind, uint32_t at, struct table_budget *budget)
{
	size_t base = (size_t)at * times->batch->cap_samples;
	const uint8_t *state = kind->state + base;

	row_bind(row, bind);
	for (uint32_t s = 0; s < times->batch->n_samples; s++) {
		int64_t slot = times->slots[s], wall = times->batch->wall_us[s];

		if (!(state[s] & LP_PRESENT) || !times->wanted[s] ||
			(bind->absolute && state[s] & LP_RELATIVE) ||
			(bind->has_counters && !has_predecessor(times, state, s)))
			continue;
		if (!row->open || slot != row->slot ||
			(wall <= row->last_wall && !times->forever)) {
			int r = row_turn(row, bind, slot, budget);

			if (r < 0)
				return r;
		}
		row->last_wall = wall;
		bind_add(bind, kind->columns, base + s, times->dt_s[s], &row->acc);
	}
	/* The slot may go on in the next batch, unless that is of another schema or source: its
	 * value is put in place now, and again when it has grown. */
	return row_put(row, bind, budget);
}
