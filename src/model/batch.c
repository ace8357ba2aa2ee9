#include <errno.h>
#include <limpet/batch.h>
#include <limpet/source.h>
#include <stdlib.h>
#include <string.h>

/* Memory for this many components is never freed. */
#define SPARE_COMPONENTS 64

struct lp_batch *lp_batch_new(uint32_t cap_samples)
{
	struct lp_batch *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->cap_samples = cap_samples;
	b->wall_us = calloc(cap_samples, sizeof(*b->wall_us));
	b->mono_us = calloc(cap_samples, sizeof(*b->mono_us));
	if (!b->wall_us || !b->mono_us) {
		lp_batch_free(b);
		return NULL;
	}
	return b;
}

static void kind_release(struct lp_batch_kind *k)
{
	for (uint32_t i = 0; k->columns && i < k->n_columns; i++)
		free(k->columns[i]);
	free(k->columns);
	free(k->ids);
	free(k->state);
}

void lp_batch_free(struct lp_batch *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->n_kinds; i++)
		kind_release(&b->kinds[i]);
	free(b->kinds);
	free(b->wall_us);
	free(b->mono_us);
	free(b);
}

void lp_batch_clear(struct lp_batch *b)
{
	b->n_samples = 0;
	b->carry = false;
	for (uint32_t i = 0; i < b->n_kinds; i++)
		b->kinds[i].n_components = 0;
}

int lp_batch_add_sample(struct lp_batch *b, int64_t wall_us, int64_t mono_us)
{
	uint32_t s = b->n_samples;

	if (s >= b->cap_samples)
		return -ENOSPC;
	b->wall_us[s] = wall_us;
	b->mono_us[s] = mono_us;
	for (uint32_t i = 0; i < b->n_kinds; i++) {
		struct lp_batch_kind *k = &b->kinds[i];

		for (uint32_t row = 0; row < k->n_components; row++)
			k->state[(size_t)row * b->cap_samples + s] = LP_ABSENT;
	}
	b->n_samples = s + 1;
	return 0;
}

/* Make room for `cap` components; the columns in use keep their values. */
static int kind_reserve(struct lp_batch *b, struct lp_batch_kind *k, uint32_t cap)
{
	size_t cells = (size_t)cap * b->cap_samples;
	void *grown;

	grown = reallocarray(k->ids, cap, sizeof(*k->ids));
	if (!grown)
		return -ENOMEM;
	k->ids = grown;
	grown = realloc(k->state, cells ? cells : 1);
	if (!grown)
		return -ENOMEM;
	k->state = grown;
	for (uint32_t i = 0; i < k->n_columns; i++) {
		if (!k->columns[i])
			continue;
		grown = reallocarray(k->columns[i], cells ? cells : 1, sizeof(**k->columns));
		if (!grown)
			return -ENOMEM;
		k->columns[i] = grown;
	}
	k->cap_components = cap;
	return 0;
}

/* Allocate an array for every selected column. */
static int kind_init(struct lp_batch *b, struct lp_batch_kind *k, uint32_t schema,
	uint32_t n_columns, const uint64_t *columns)
{
	*k = (struct lp_batch_kind){.schema = schema, .n_columns = n_columns};
	k->columns = calloc(n_columns + 1, sizeof(*k->columns));
	if (!k->columns)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_columns; i++) {
		if (columns && !(columns[i / 64] >> (i % 64) & 1))
			continue;
		k->columns[i] = malloc(sizeof(**k->columns));
		if (!k->columns[i])
			return -ENOMEM;
	}
	return kind_reserve(b, k, 8);
}

int lp_batch_kind_get(struct lp_batch *b, uint32_t schema, uint32_t n_columns,
	const uint64_t *columns, struct lp_batch_kind **ret_kind)
{
	struct lp_batch_kind *grown;
	int r;

	for (uint32_t i = 0; i < b->n_kinds; i++) {
		if (b->kinds[i].schema == schema) {
			*ret_kind = &b->kinds[i];
			return 0;
		}
	}
	grown = reallocarray(b->kinds, b->n_kinds + 1, sizeof(*b->kinds));
	if (!grown)
		return -ENOMEM;
	b->kinds = grown;
	r = kind_init(b, &grown[b->n_kinds], schema, n_columns, columns);
	if (r < 0) {
		kind_release(&grown[b->n_kinds]);
		return r;
	}
	*ret_kind = &grown[b->n_kinds++];
	return 0;
}

int lp_batch_add_component(
	struct lp_batch *b, struct lp_batch_kind *k, uint32_t id, uint32_t *ret_row)
{
	uint32_t row = k->n_components;

	if (row >= k->cap_components) {
		int r = kind_reserve(b, k, k->cap_components * 2);

		if (r < 0)
			return r;
	}
	k->ids[row] = id;
	memset(k->state + (size_t)row * b->cap_samples, LP_ABSENT, b->n_samples);
	k->n_components = row + 1;
	*ret_row = row;
	return 0;
}

/* A bit mask of the columns of a kind. */
static void kind_mask(const struct lp_batch_kind *k, uint64_t mask[LP_COLUMNS_MAX / 64])
{
	memset(mask, 0, LP_COLUMNS_MAX / 8);
	for (uint32_t i = 0; i < k->n_columns; i++) {
		if (k->columns[i])
			mask[i / 64] |= UINT64_C(1) << (i % 64);
	}
}

/* Does a kind have far more memory than this many components need? Memory for components that are
 * gone is freed. */
static bool is_wasted(const struct lp_batch_kind *k, uint32_t n_components)
{
	return k->cap_components / 4 > n_components + SPARE_COMPONENTS;
}

static int kind_carry(struct lp_batch *to, const struct lp_batch *from, uint32_t kind)
{
	const struct lp_batch_kind *src = &from->kinds[kind];
	uint64_t mask[LP_COLUMNS_MAX / 64];
	struct lp_batch_kind *dst;
	int r;

	kind_mask(src, mask);
	r = lp_batch_kind_get(to, src->schema, src->n_columns, mask, &dst);
	if (r == 0 && is_wasted(dst, src->n_components))
		r = kind_reserve(to, dst, src->n_components + SPARE_COMPONENTS);
	if (r == 0 && dst->cap_components < src->n_components)
		r = kind_reserve(to, dst, src->n_components);
	if (r < 0)
		return r;
	for (uint32_t row = 0; row < src->n_components; row++) {
		size_t last = (size_t)row * from->cap_samples + from->n_samples - 1;
		size_t first = (size_t)dst->n_components * to->cap_samples;

		if (!(src->state[last] & LP_PRESENT))
			continue;
		dst->ids[dst->n_components++] = src->ids[row];
		dst->state[first] = src->state[last] & (LP_PRESENT | LP_RELATIVE);
		for (uint32_t c = 0; c < src->n_columns; c++) {
			if (src->columns[c] && dst->columns[c])
				dst->columns[c][first] = src->columns[c][last];
		}
	}
	return 0;
}

int lp_batch_carry(struct lp_batch *to, const struct lp_batch *from)
{
	int r;

	lp_batch_clear(to);
	if (!from->n_samples)
		return 0;
	for (uint32_t i = 0; i < from->n_kinds; i++) {
		r = kind_carry(to, from, i);
		if (r < 0)
			return r;
	}
	to->wall_us[0] = from->wall_us[from->n_samples - 1];
	to->mono_us[0] = from->mono_us[from->n_samples - 1];
	to->n_samples = 1;
	to->carry = true;
	return 0;
}

bool lp_batch_continues(const struct lp_batch *b, const struct lp_batch *next)
{
	uint32_t last = b->n_samples - 1;

	return b->n_samples && next->carry && next->wall_us[0] == b->wall_us[last] &&
		next->mono_us[0] == b->mono_us[last];
}

/* Find the row of component `id`: at its old index `hint`, elsewhere, or a new one. */
static int kind_row(
	struct lp_batch *b, struct lp_batch_kind *k, uint32_t id, uint32_t hint, uint32_t *ret_row)
{
	if (hint < k->n_components && k->ids[hint] == id) {
		*ret_row = hint;
		return 0;
	}
	for (uint32_t row = 0; row < k->n_components; row++) {
		if (k->ids[row] == id) {
			*ret_row = row;
			return 0;
		}
	}
	return lp_batch_add_component(b, k, id, ret_row);
}

/* Copy samples `skip`.. of one kind to samples `at`.. of the same kind in `b`. */
static int kind_append(struct lp_batch *b, uint32_t at, const struct lp_batch *from,
	const struct lp_batch_kind *src, uint32_t skip)
{
	uint64_t mask[LP_COLUMNS_MAX / 64];
	struct lp_batch_kind *dst;
	uint32_t n = from->n_samples - skip, row;
	int r;

	kind_mask(src, mask);
	r = lp_batch_kind_get(b, src->schema, src->n_columns, mask, &dst);
	for (uint32_t i = 0; r == 0 && i < src->n_components; i++) {
		size_t to_cell, from_cell = (size_t)i * from->cap_samples + skip;

		r = kind_row(b, dst, src->ids[i], i, &row);
		if (r < 0)
			break;
		to_cell = (size_t)row * b->cap_samples + at;
		memcpy(dst->state + to_cell, src->state + from_cell, n);
		for (uint32_t c = 0; c < src->n_columns; c++) {
			if (src->columns[c] && dst->columns[c])
				memcpy(dst->columns[c] + to_cell, src->columns[c] + from_cell,
					n * sizeof(int64_t));
		}
	}
	return r;
}

int lp_batch_append(struct lp_batch *b, const struct lp_batch *from)
{
	uint32_t skip = b->n_samples && from->carry ? 1 : 0, at = b->n_samples;
	int r = 0;

	if (from->n_samples - skip > b->cap_samples - b->n_samples)
		return -ENOSPC;
	if (!b->n_samples)
		b->carry = from->carry;
	for (uint32_t s = skip; s < from->n_samples; s++)
		lp_batch_add_sample(b, from->wall_us[s], from->mono_us[s]);
	for (uint32_t i = 0; r == 0 && i < from->n_kinds; i++)
		r = kind_append(b, at, from, &from->kinds[i], skip);
	return r;
}

int lp_source_next(struct lp_source *s, struct lp_batch **ret_batch, struct lp_err *err)
{
	return s->ops->next(s, ret_batch, err);
}

void lp_source_close(struct lp_source *s)
{
	if (s)
		s->ops->close(s);
}
