#include "model/batch_slice.h"

#include "base/array.h"
#include <errno.h>
#include <stdlib.h>

void batch_slice_release(struct batch_slice *s)
{
	free(s->kinds);
	free(s->columns);
	*s = (struct batch_slice){0};
}

static int room_make(struct batch_slice *s, const struct lp_batch *b)
{
	size_t n_columns = 0;

	for (uint32_t i = 0; i < b->n_kinds; i++)
		n_columns += b->kinds[i].n_columns;
	return array_reserve(&s->kinds, &s->cap_kinds, (size_t)b->n_kinds + 1, sizeof(*s->kinds)) <
				0 ||
			array_reserve(&s->columns, &s->cap_columns, n_columns + 1,
				sizeof(*s->columns)) < 0
		? -ENOMEM
		: 0;
}

int batch_slice_make(struct batch_slice *s, const struct lp_batch *b, uint32_t first, uint32_t end,
	const struct lp_batch **ret)
{
	uint32_t skip = first ? first - 1 : 0;
	size_t at = 0;

	if (first == (b->carry ? 1u : 0u) && end == b->n_samples) {
		*ret = b;
		return 0;
	}
	if (room_make(s, b) < 0)
		return -ENOMEM;
	s->batch = *b;
	s->batch.carry = first > 0;
	s->batch.n_samples = end - skip;
	s->batch.wall_us += skip;
	s->batch.mono_us += skip;
	s->batch.kinds = s->kinds;
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		struct lp_batch_kind *k = &s->kinds[i];

		*k = b->kinds[i];
		k->state += skip;
		k->columns = s->columns + at;
		for (uint32_t c = 0; c < k->n_columns; c++)
			k->columns[c] =
				b->kinds[i].columns[c] ? b->kinds[i].columns[c] + skip : NULL;
		at += k->n_columns;
	}
	*ret = &s->batch;
	return 0;
}
