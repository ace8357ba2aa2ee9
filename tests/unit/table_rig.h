/* Sources made of a few lines, for tests of values that are computed from batches. */
#ifndef TABLE_RIG_H
#define TABLE_RIG_H

#include "base/array.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "unit.h"
#include <limpet/table.h>
#include <math.h>
#include <string.h>

#define T0 (INT64_C(1300000000) * US_PER_SEC) /* a Sunday */
#define SEC(s) ((int64_t)((s)*1e6))
#define RIG_SAMPLES 4000

/* Random numbers; a test sets the state to its seed. */
static uint64_t random_state;

static inline uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(random_state >> 33) % n;
}

/* A source with batches that the test fills. */
struct rig {
	struct lp_source source;
	struct lp_batch *batch;
};

static inline void rig_init(struct rig *r, int64_t interval_us)
{
	*r = (struct rig){.batch = lp_batch_new(RIG_SAMPLES)};
	r->source.catalogue = lp_catalogue_new();
	r->source.path = "rig";
	r->source.interval_us = interval_us;
	assert_non_null(r->batch);
	assert_non_null(r->source.catalogue);
}

static inline void rig_release(struct rig *r)
{
	lp_batch_free(r->batch);
	lp_catalogue_free(r->source.catalogue);
}

/* Add a component with these columns. */
static inline uint32_t rig_component(
	struct rig *r, const struct lp_schema *s, const char *observer, const char *name)
{
	struct lp_err err;
	uint32_t schema, id;

	assert_int_equal(lp_catalogue_add_schema(r->source.catalogue, s, &schema, &err), 0);
	assert_int_equal(lp_catalogue_add_component(
				 r->source.catalogue, schema, observer, name, "", &id, &err),
		0);
	return id;
}

/* Begin a sample. */
static inline void rig_sample(struct rig *r, int64_t wall_us, int64_t mono_us)
{
	assert_int_equal(lp_batch_add_sample(r->batch, wall_us, mono_us), 0);
}

/* Set all columns of a component in the current sample to `values`. */
static inline void rig_set(struct rig *r, uint32_t id, uint8_t state, const int64_t *values)
{
	const struct lp_catalogue *c = r->source.catalogue;
	uint32_t schema = c->components[id].schema, row;
	struct lp_batch_kind *k;
	size_t cell;

	assert_int_equal(
		lp_batch_kind_get(r->batch, schema, c->schemas[schema].n_columns, NULL, &k), 0);
	for (row = 0; row < k->n_components && k->ids[row] != id; row++)
		;
	if (row == k->n_components)
		assert_int_equal(lp_batch_add_component(r->batch, k, id, &row), 0);
	cell = (size_t)row * r->batch->cap_samples + r->batch->n_samples - 1;
	k->state[cell] = state;
	for (uint32_t i = 0; i < k->n_columns; i++)
		k->columns[i][cell] = values[i];
}

/* One component, one column. */
static inline void rig_set1(struct rig *r, uint32_t id, int64_t value)
{
	rig_set(r, id, LP_PRESENT, &value);
}

/* Begin the next batch; it carries the last sample of this one. */
static inline void rig_next_batch(struct rig *r)
{
	struct lp_batch *next = lp_batch_new(RIG_SAMPLES);

	assert_non_null(next);
	assert_int_equal(lp_batch_carry(next, r->batch), 0);
	lp_batch_free(r->batch);
	r->batch = next;
}

/* The tables of a run. */
struct rig_tables {
	struct lp_table **tables;
	uint32_t n;
};

static inline void rig_tables_release(struct rig_tables *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		lp_table_free(t->tables[i]);
	free(t->tables);
}

static inline struct lp_table_builder *rig_builder(const struct lp_table_options *opt)
{
	struct lp_table_builder *b = NULL;
	struct lp_err err;

	assert_int_equal(lp_table_builder_new(opt, &b, &err), 0);
	return b;
}

static inline void rig_add(struct lp_table_builder *b, struct rig *r)
{
	struct lp_err err;

	assert_int_equal(lp_table_builder_add(b, &r->source, r->batch, &err), 0);
}

static inline void rig_finish(struct lp_table_builder *b, struct rig_tables *ret)
{
	struct lp_err err;

	assert_int_equal(lp_table_builder_finish(b, &ret->tables, &ret->n, &err), 0);
	lp_table_builder_free(b);
}

/* The tables of one source's batch. */
static inline void rig_run(
	const struct lp_table_options *opt, struct rig *r, struct rig_tables *ret)
{
	struct lp_table_builder *b = rig_builder(opt);

	rig_add(b, r);
	rig_finish(b, ret);
}

/* The value of a component at a time; NaN if the table does not have it. */
static inline double rig_value(const struct lp_table *t, const char *component, int64_t wall_us)
{
	for (uint32_t i = 0; i < t->n_components; i++) {
		int64_t slot = lp_table_slot(t, wall_us);

		if (strcmp(t->components[i]->text, component))
			continue;
		assert_int_equal((wall_us - t->start_us) % t->step_us, 0);
		if (slot < 0 || slot >= t->n_slots || lp_table_time(t, slot) != wall_us)
			return NAN;
		return t->values[(size_t)i * t->n_slots + (size_t)slot];
	}
	return NAN;
}

#endif
