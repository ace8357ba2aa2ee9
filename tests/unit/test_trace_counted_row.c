#include "trace/counted_row.h"

#include "unit.h"

static const struct lp_column columns[] = {{"n", "calls", LP_COUNTER, 64}};
static const struct lp_schema schema = {"thing", columns, 1};

struct desk {
	struct collect_sink sink;
	struct lp_batch *batch;
	int64_t now_us;
};

static void desk_open(struct desk *d)
{
	*d = (struct desk){.batch = lp_batch_new(8), .now_us = 1000000};
	d->sink.catalogue = lp_catalogue_new();
	d->sink.batch = d->batch;
	assert_true(d->batch && d->sink.catalogue);
}

static void desk_close(struct desk *d)
{
	lp_batch_free(d->batch);
	lp_catalogue_free(d->sink.catalogue);
}

static bool desk_sample(struct desk *d, struct counted_row *row, int64_t value, int64_t *last)
{
	bool behind = false;

	d->now_us += 1000000;
	assert_int_equal(lp_batch_add_sample(d->batch, d->now_us, d->now_us), 0);
	if (value >= 0)
		assert_int_equal(counted_row_store(row, &d->sink, &schema, "s1", "x", &value, last,
					 &behind, NULL),
			0);
	return behind;
}

static int64_t cell(const struct desk *d, uint32_t sample)
{
	return d->batch->kinds[0].columns[0][sample];
}

/* A row that comes later has a sample of 0 before its first. */
static void test_later(void **state)
{
	struct counted_row row = {0};
	int64_t last = 0;
	struct desk d;

	(void)state;
	desk_open(&d);
	assert_false(desk_sample(&d, &row, -1, &last));
	assert_false(desk_sample(&d, &row, 7, &last));
	assert_false(desk_sample(&d, &row, 9, &last));
	assert_int_equal(cell(&d, 0), 0);
	assert_int_equal(d.batch->kinds[0].state[0], LP_PRESENT | LP_FRESH);
	assert_int_equal(cell(&d, 1), 7);
	assert_int_equal(d.batch->kinds[0].state[1], LP_PRESENT);
	assert_int_equal(cell(&d, 2), 9);
	assert_int_equal(last, 9);
	desk_close(&d);
}

/* In the very first sample there is none before: what was counted shows in the next one. */
static void test_first(void **state)
{
	struct counted_row row = {0};
	int64_t last = 0;
	struct desk d;

	(void)state;
	desk_open(&d);
	assert_true(desk_sample(&d, &row, 7, &last));
	assert_int_equal(cell(&d, 0), 0);
	assert_false(desk_sample(&d, &row, 7, &last));
	assert_int_equal(cell(&d, 1), 7);
	desk_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
