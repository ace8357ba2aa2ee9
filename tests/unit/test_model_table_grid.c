#include "model/table_view.h"

#include "table_rig.h"
#include <errno.h>

static const struct lp_column real_column[] = {{"latency", "ms", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", real_column, 1};
static const char *const metrics[] = {"latency"};

static struct lp_table_options options = {
	.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};

/* Samples of a component in some slots. */
static void put(struct lp_table_builder *b, const char *name, int64_t first, int64_t end)
{
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, "a", name);
	for (int64_t s = first; s < end; s++) {
		rig_sample(&r, SEC(s), SEC(s));
		rig_set1(&r, id, lp_cell_from_real((double)s));
	}
	rig_add(b, &r);
}

/* Every slot has the value of its own time, whatever is left out between. */
static void test_cuts(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_part part = {.first = 640, .end = 60000, .align = 30, .margin = 100};
	_cleanup_(table_grid_release) struct table_grid g = {0};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_err err = {0};
	uint32_t left_out = 77;

	(void)state;
	part.seen_from = part.first;
	put(b, "sda", 650, 700);
	put(b, "sdb", 690, 730);
	put(b, "sda", 5000, 5010);
	put(b, "sdb", 5200, 5210);
	put(b, "sda", 50000, 50050);
	assert_int_equal(table_grid_make(b, &part, &g), 0);
	assert_int_equal(g.n_cuts, 3); /* also behind the last */
	for (uint32_t i = 0; i < g.n_cuts; i++)
		assert_int_equal(g.cuts[i].skipped % 30, 0);
	assert_int_equal(table_builder_view(b, &part, &t.tables, &t.n, &left_out, &err), 0);
	assert_int_equal(left_out, 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.tables[0]->n_slots, g.n_slots);
	assert_true(g.n_slots < 1500);
	for (int64_t s = 640; s < 60000; s++) {
		bool a = (s >= 650 && s < 700) || (s >= 5000 && s < 5010) ||
			(s >= 50000 && s < 50050);
		double value = rig_value(t.tables[0], "a/disk:sda", SEC(s));

		assert_true(a ? value == (double)s : isnan(value));
	}
	for (uint32_t s = 1; s < t.tables[0]->n_slots; s++) {
		int64_t time = lp_table_time(t.tables[0], s);

		assert_true(time > lp_table_time(t.tables[0], s - 1));
		assert_int_equal(lp_table_slot(t.tables[0], time), s);
		assert_int_equal(lp_table_slot(t.tables[0], time - 1), s - 1);
	}
	lp_table_builder_free(b);
}

/* Without an alignment nothing is left out. */
static void test_no_cuts(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_part part = {.first = 0, .end = 100000};
	_cleanup_(table_grid_release) struct table_grid g = {0};

	(void)state;
	put(b, "sda", 5, 6);
	assert_int_equal(table_grid_make(b, &part, &g), 0);
	assert_int_equal(g.n_slots, 100000);
	assert_int_equal(g.n_cuts, 0);
	lp_table_builder_free(b);
}

/* Components with next to no values are left out of tables that would be large and empty. */
static void test_few_values(void **state)
{
	struct lp_table_builder *b = rig_builder(&options);
	struct table_part part = {.first = 0, .end = 4000};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_err err = {0};
	uint32_t left_out = 0;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "d%d", i);
		put(b, name, i, i + 1);
	}
	for (int s = 0; s < 4000; s += RIG_SAMPLES)
		put(b, "sda", s, s + RIG_SAMPLES < 4000 ? s + RIG_SAMPLES : 4000);
	assert_int_equal(table_builder_view(b, &part, &t.tables, &t.n, &left_out, &err), 0);
	assert_int_equal(left_out, 4000);
	assert_int_equal(t.tables[0]->n_components, 1);
	assert_string_equal(t.tables[0]->components[0]->name, "sda");
	assert_int_equal(table_builder_next(b, 17), 17);
	assert_int_equal(table_builder_drop(b, 17, 100), 0);
	assert_int_equal(table_builder_next(b, 17), 100);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_no_cuts),
		cmocka_unit_test(test_few_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
