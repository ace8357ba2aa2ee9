/* Samples of one fake disk, for the tests of the spool. */
#ifndef SPOOL_UTIL_H
#define SPOOL_UTIL_H

#include "collect/collector.h"
#include "collect/spool.h"
#include "collect_util.h"

static const struct lp_column fake_columns[] = {
	{"rd_ios", "requests", LP_COUNTER, 64},
	{"wr_ios", "requests", LP_COUNTER, 64},
};
static const struct lp_schema fake_schema = {"disk", fake_columns, 2};

static inline struct lp_catalogue *fake_catalogue(void)
{
	struct lp_catalogue *c = lp_catalogue_new();
	struct lp_err err = {0};
	uint32_t schema, id;

	assert_non_null(c);
	assert_int_equal(lp_catalogue_add_schema(c, &fake_schema, &schema, &err), 0);
	assert_int_equal(lp_catalogue_add_component(c, schema, "h", "sda", "", &id, &err), 0);
	return c;
}

/* Describe component 0 to a spool. */
static inline void fake_journal(struct spool *s)
{
	struct journal *j = spool_journal(s);

	assert_int_equal(journal_reserve_schema(j), 0);
	journal_add_schema(j, &fake_schema);
	assert_int_equal(journal_add(j, 0, 0, "h", "sda", ""), 0);
}

/* One more sample of component 0. */
static inline void fake_sample(struct lp_batch *b, int64_t wall_us)
{
	struct lp_batch_kind *k;
	size_t cell;
	uint32_t row;

	assert_int_equal(lp_batch_add_sample(b, wall_us, wall_us), 0);
	assert_int_equal(lp_batch_kind_get(b, 0, 2, NULL, &k), 0);
	if (!k->n_components)
		assert_int_equal(lp_batch_add_component(b, k, 0, &row), 0);
	cell = b->n_samples - 1;
	k->state[cell] = LP_PRESENT;
	k->columns[0][cell] = wall_us / 1000; /* 1000 reads per second */
	k->columns[1][cell] = 0;
}

#endif
