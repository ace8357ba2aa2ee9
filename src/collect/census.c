#include "collect/census.h"

#include "base/array.h"
#include "model/catalogue.h"
#include <errno.h>
#include <stdlib.h>

void census_release(struct census *s)
{
	free(s->slots);
	free(s->vacant);
	free(s->kinds);
	*s = (struct census){0};
}

/* Allocate the entry of a kind. */
static int reserve_kind(struct census *s, uint32_t schema)
{
	if (array_reserve(&s->kinds, &s->cap_kinds, (size_t)schema + 1, sizeof(*s->kinds)) < 0)
		return -ENOMEM;
	while (s->n_kinds <= schema)
		s->kinds[s->n_kinds++] = (struct census_kind){0};
	return 0;
}

int census_take(struct census *s, uint32_t schema, uint32_t *ret_id)
{
	uint32_t id = s->n_vacant ? s->vacant[s->n_vacant - 1] : (uint32_t)s->n;

	if (reserve_kind(s, schema) < 0 ||
		array_reserve(&s->slots, &s->cap, (size_t)id + 1, sizeof(*s->slots)) < 0 ||
		array_reserve(&s->vacant, &s->cap_vacant, (size_t)id + 1, sizeof(*s->vacant)) < 0)
		return -ENOMEM;
	if (id == s->n)
		s->slots[s->n++] = (struct census_slot){0};
	else
		s->n_vacant--;
	s->slots[id].schema = schema;
	s->slots[id].seen = s->kinds[schema].n_samples;
	s->slots[id].taken = true;
	*ret_id = id;
	return 0;
}

void census_drop(struct census *s, uint32_t id)
{
	s->slots[id].taken = false;
	s->slots[id].tenancy++;
	s->vacant[s->n_vacant++] = id;
}

/* Is the row present in one of the samples of the batch, except the carried one? Components that
 * stay are in the last one. */
static bool is_present(const struct lp_batch *b, const struct lp_batch_kind *k, uint32_t row)
{
	const uint8_t *state = k->state + (size_t)row * b->cap_samples;

	for (uint32_t i = b->n_samples; i-- > (b->carry ? 1 : 0);) {
		if (state[i] & LP_PRESENT)
			return true;
	}
	return false;
}

static void note_kind(struct census *s, const struct lp_batch *b, const struct lp_batch_kind *k)
{
	struct census_kind *kind = &s->kinds[k->schema];
	bool any = false;

	for (uint32_t row = 0; row < k->n_components && !any; row++)
		any = is_present(b, k, row);
	if (!any)
		return;
	kind->n_samples += b->n_samples - (b->carry ? 1 : 0);
	for (uint32_t row = 0; row < k->n_components; row++) {
		if (k->ids[row] < s->n && is_present(b, k, row))
			s->slots[k->ids[row]].seen = kind->n_samples;
	}
}

void census_note(struct census *s, const struct lp_batch *b)
{
	for (uint32_t i = 0; b->n_samples && i < b->n_kinds; i++) {
		if (b->kinds[i].schema < s->n_kinds)
			note_kind(s, b, &b->kinds[i]);
	}
}

/* Was it missing for more samples than `horizon`? */
static bool is_over(const struct census *s, const struct census_slot *slot, uint64_t horizon)
{
	return slot->taken && s->kinds[slot->schema].n_samples - slot->seen > horizon;
}

/* The number of missing components that would not retire. */
static size_t count_missing(const struct census *s, uint64_t horizon)
{
	size_t n = 0;

	for (size_t id = 0; id < s->n; id++)
		n += is_over(s, &s->slots[id], 0) && !is_over(s, &s->slots[id], horizon);
	return n;
}

void census_retire(struct census *s, struct lp_catalogue *c, struct journal *j)
{
	uint64_t horizon = CENSUS_HORIZON;

	while (horizon && count_missing(s, horizon) > CENSUS_MISSING_MAX)
		horizon /= 2;
	for (uint32_t id = 0; id < s->n; id++) {
		if (!is_over(s, &s->slots[id], horizon))
			continue;
		if (catalogue_vacate(c, id) < 0)
			return; /* until there is memory for it */
		census_drop(s, id);
		/* A reader that does not know this yet keeps the old component until the id is
		 * reused. */
		journal_add(j, id, 0, NULL, NULL, NULL);
	}
}
