/* Tables at the edges: no data, one slot, too much, times at the end of integers. */
#include <limpet/table.h>

#include "table_steady.h"
#include <errno.h>

static void test_one_slot(void **state)
{
	struct lp_table_options opt = OPTIONS(rxbyt, LP_TABLE_FOREVER);
	struct lp_table_builder *b = rig_builder(&opt);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig known, unknown;
	uint32_t id;

	(void)state;
	/* Sources with and without an interval, times before and after 1970, a step back: one slot.
	 */
	rig_init(&known, US_PER_SEC);
	rig_init(&unknown, 0);
	id = rig_component(&known, &net, "a", "eth0");
	for (int i = 0; i < 5; i++) {
		rig_sample(&known, T0 + (i < 3 ? i : i - 3) * US_PER_SEC, i * US_PER_SEC);
		rig_set1(&known, id, i * i);
	}
	add_steady(&unknown, rig_component(&unknown, &net, "b", "eth0"), -SEC(2), US_PER_SEC, 5, 3);
	rig_add(b, &known);
	rig_add(b, &unknown);
	rig_finish(b, &t);
	assert_int_equal(t.tables[0]->n_slots, 1);
	assert_true(t.tables[0]->values[0] == 16.0 / 4);
	assert_true(t.tables[0]->values[1] == 3);
}

static void test_no_metric_no_table(void **state)
{
	static const char *const names[] = {"nosuch", "rxbyt", "rxbyt"};
	struct lp_table_options opt = OPTIONS(names, US_PER_SEC), none = OPTIONS(names, 0);
	struct lp_table_builder *never = NULL;
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r;
	struct lp_err err = {0};

	(void)state;
	rig_init(&r, US_PER_SEC);
	add_steady(&r, rig_component(&r, &net, "a", "eth0"), T0, US_PER_SEC, 3, 4);
	rig_run(&opt, &r, &t);
	assert_int_equal(t.n, 1); /* once, though it was asked for twice */
	assert_string_equal(t.tables[0]->metric, "rxbyt");
	assert_int_equal(lp_table_builder_new(&none, &never, &err), -EINVAL);
	assert_null(never);
}

/* 1970 and 2099 in one row: what is between takes no memory, and times are right. */
static void test_ages_in_a_row(void **state)
{
	struct lp_table_options opt = OPTIONS(latency, US_PER_SEC);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_table_builder *b;
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	opt.bytes_max = 1 << 20;
	b = rig_builder(&opt);
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &csv_disk, "a", "sda");
	rig_sample(&r, 0, 0);
	rig_set1(&r, id, lp_cell_from_real(1));
	rig_sample(&r, SEC(4070908800.0), 1);
	rig_set1(&r, id, lp_cell_from_real(2));
	rig_add(b, &r);
	rig_finish(b, &t);
	assert_int_equal(t.tables[0]->n_cuts, 1);
	assert_true(t.tables[0]->n_slots < 4096);
	assert_true(rig_value(t.tables[0], "a/disk:sda", 0) == 1);
	assert_true(isnan(rig_value(t.tables[0], "a/disk:sda", SEC(1))));
	assert_true(isnan(rig_value(t.tables[0], "a/disk:sda", SEC(2000000000.0))));
	assert_true(rig_value(t.tables[0], "a/disk:sda", SEC(4070908800.0)) == 2);
	assert_int_equal(lp_table_time(t.tables[0], t.tables[0]->n_slots - 1), SEC(4070908800.0));
}

/* A row that asks for more pages than the budget has is refused, and the file is named. */
static void test_beyond_the_budget(void **state)
{
	struct lp_table_options opt = OPTIONS(latency, US_PER_SEC);
	struct lp_table_builder *b;
	_cleanup_(rig_release) struct rig r;
	struct lp_err err = {0};
	uint32_t id;

	(void)state;
	opt.bytes_max = 1024;
	b = rig_builder(&opt);
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &csv_disk, "a", "sda");
	for (int i = 0; i < 3; i++) {
		rig_sample(&r, i * SEC(2000000000.0), i);
		rig_set1(&r, id, lp_cell_from_real(1));
	}
	assert_int_equal(lp_table_builder_add(b, &r.source, r.batch, &err), -EFBIG);
	assert_non_null(strstr(err.text, "rig"));
	assert_non_null(strstr(err.text, "1970-01-01"));
	lp_table_builder_free(b);
}

/* Many components of one sample each, all at other times. A table of all of them would be empty
 * except for its diagonal. */
static void test_large_and_empty(void **state)
{
	struct lp_table_options opt = OPTIONS(latency, US_PER_SEC);
	struct lp_table_builder *b = rig_builder(&opt);
	struct lp_table **tables = NULL;
	struct lp_err err = {0};
	uint32_t n = 77;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		_cleanup_(rig_release) struct rig r;
		char name[16];

		snprintf(name, sizeof(name), "d%d", i);
		rig_init(&r, US_PER_SEC);
		rig_sample(&r, T0 + SEC(i), SEC(i));
		rig_set1(&r, rig_component(&r, &csv_disk, "a", name), lp_cell_from_real(1));
		rig_add(b, &r);
	}
	assert_int_equal(lp_table_builder_finish(b, &tables, &n, &err), -EFBIG);
	assert_null(tables);
	assert_int_equal(n, 77);
	lp_table_builder_free(b);
}

static void test_times_at_the_end_of_integers(void **state)
{
	static const int64_t walls[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, -1, INT64_MAX - 5};
	struct lp_table_options opt = OPTIONS(latency, 1);
	struct lp_table_options mean = OPTIONS(rxbyt, LP_TABLE_FOREVER);
	struct lp_table_builder *b = rig_builder(&opt), *m = rig_builder(&mean);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	_cleanup_(rig_release) struct rig r, c;
	struct lp_err err = {0};
	uint32_t real, count;

	(void)state;
	rig_init(&r, INT64_MAX);
	rig_init(&c, INT64_MIN);
	real = rig_component(&r, &csv_disk, "a", "sda");
	count = rig_component(&c, &net, "a", "sda");
	for (size_t i = 0; i < ARRAY_SIZE(walls); i++) {
		rig_sample(&r, walls[i], walls[ARRAY_SIZE(walls) - 1 - i]);
		rig_set1(&r, real, lp_cell_from_real(1));
		rig_sample(&c, walls[i], walls[ARRAY_SIZE(walls) - 1 - i]);
		rig_set1(&c, count, (int64_t)i);
	}
	assert_int_equal(lp_table_builder_add(b, &r.source, r.batch, &err), 0);
	lp_table_builder_free(b);
	rig_add(m, &c);
	rig_finish(m, &t);
	assert_int_equal(t.tables[0]->n_components, 1);
	assert_int_equal(t.tables[0]->n_slots, 0); /* no two of them are a known time apart */
}

static void test_no_data(void **state)
{
	struct lp_table_options opt = OPTIONS(rxbyt, US_PER_SEC);
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_table_builder *b = rig_builder(&opt);

	(void)state;
	rig_finish(b, &t);
	assert_int_equal(t.n, 0);
	lp_table_free(NULL);
	lp_table_builder_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_slot),
		cmocka_unit_test(test_no_metric_no_table),
		cmocka_unit_test(test_ages_in_a_row),
		cmocka_unit_test(test_beyond_the_budget),
		cmocka_unit_test(test_large_and_empty),
		cmocka_unit_test(test_times_at_the_end_of_integers),
		cmocka_unit_test(test_no_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
