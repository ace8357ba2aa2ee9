/* Peaks: the maximum of the last samples. */
#include "model/table_view.h"
#include "table_rig.h"
#include <limpet/metric.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The definition, word by word. */
static double plain(const double *v, uint32_t at, uint32_t width)
{
	double max = NAN;

	for (uint32_t i = at + 1 > width ? at + 1 - width : 0; i <= at; i++)
		max = isnan(max) || v[i] > max ? v[i] : max;
	return max;
}

static void expect_plain(const double *from, uint32_t n, uint32_t width)
{
	double *got = calloc(n + 1, sizeof(*got));

	assert_non_null(got);
	memcpy(got, from, n * sizeof(*got));
	peak_apply(got, n, width);
	for (uint32_t i = 0; i < n; i++) {
		double want = plain(from, i, width);

		assert_true(isnan(want) ? isnan(got[i]) : got[i] == want);
	}
	free(got);
}

static void test_largest_of_the_last(void **state)
{
	double v[] = {1, 5, 2, 2, 1, NAN, NAN, NAN, 3, 0};

	(void)state;
	expect_plain(v, 10, 3);
	peak_apply(v, 10, 3);
	assert_true(v[3] == 5 && v[4] == 2 && v[6] == 1);
	assert_true(isnan(v[7])); /* three in a row are missing */
	assert_true(v[8] == 3 && v[9] == 3);
}

static void test_random(void **state)
{
	double v[300];

	(void)state;
	srand(5);
	for (unsigned round = 0; round < 200; round++) {
		uint32_t n = (uint32_t)rand() % 300;

		for (uint32_t i = 0; i < n; i++)
			v[i] = rand() % 4 ? rand() % 50 : NAN;
		expect_plain(v, n, 1 + (uint32_t)rand() % 20);
	}
}

static void test_only_on_fine_grids(void **state)
{
	(void)state;
	assert_int_equal(peak_span_us("await-peak"), 15000000);
	assert_int_equal(peak_span_us("await"), 0);
	assert_true(peak_fits("await-peak", 1000000));
	assert_true(peak_fits("await-peak", 3000000));
	assert_false(peak_fits("await-peak", 15000000));
	assert_true(peak_fits("await", 15000000));
}

static void test_row(void **state)
{
	double values[] = {1, 2, 9, 1, 1, 1, 4, 4, 4, 4, 4, 5};
	struct lp_table t = {.metric = (char *)"await-peak",
		.step_us = 3000000,
		.n_slots = 6,
		.n_components = 2,
		.values = values};

	(void)state;
	peak_row(&t, 0, 15000000);
	assert_true(values[5] == 9 && values[6] == 4);
	peak_row(&t, 1, 15000000);
	assert_true(values[6] == 4 && values[11] == 5);
}

static const char *const metrics[] = {"await-peak"};
static const struct lp_table_options options = {
	.metrics = metrics, .n_metrics = 1, .step_us = 1000000};

/* One second in which requests took 100 ms each, then 30 in which they took none. */
static void fill(struct rig *r, bool imported)
{
	static const struct lp_column real[] = {{"await-peak", "ms", LP_REAL, 64}};
	static const struct lp_column counters[] = {{"rd_ticks", "ms", LP_COUNTER, 64},
		{"wr_ticks", "ms", LP_COUNTER, 64}, {"ios", "", LP_COUNTER, 64}};
	static const struct lp_schema schemas[] = {{"disk", counters, 3}, {"disk", real, 1}};
	uint32_t id;

	rig_init(r, 1000000);
	id = rig_component(r, &schemas[imported], "h", "sda");
	for (int64_t s = 0; s <= 31; s++) {
		int64_t ms = s ? 100 : 0, ios = s;
		int64_t row[] = {ms, 0, ios};

		rig_sample(r, T0 + s * 1000000, s * 1000000);
		if (imported)
			rig_set1(r, id, lp_cell_from_real(s == 1 ? 100 : 0));
		else
			rig_set(r, id, LP_PRESENT, row);
	}
}

/* Values of a foreign file that have the name of a peak are peaks already. */
static void test_only_what_was_computed(void **state)
{
	(void)state;
	for (unsigned imported = 0; imported < 2; imported++) {
		struct rig_tables got = {0};
		struct rig r;

		fill(&r, imported);
		rig_run(&options, &r, &got);
		assert_int_equal(got.n, 1);
		assert_true(rig_value(got.tables[0], "h/disk:sda", T0 + SEC(1)) == 100);
		assert_true(rig_value(got.tables[0], "h/disk:sda", T0 + SEC(2)) ==
			(imported ? 0 : 100));
		assert_true(rig_value(got.tables[0], "h/disk:sda", T0 + SEC(16)) == 0);
		rig_tables_release(&got);
		rig_release(&r);
	}
}

/* The same for a view of a part of the data. */
static void test_view_of_what_was_imported(void **state)
{
	struct table_part part = {.first = T0 / 1000000, .end = T0 / 1000000 + 32};
	struct lp_table_builder *b = rig_builder(&options);
	struct rig_tables got = {0};
	struct lp_err err;
	uint32_t left_out;
	struct rig r;

	(void)state;
	fill(&r, true);
	rig_add(b, &r);
	assert_int_equal(table_builder_view(b, &part, &got.tables, &got.n, &left_out, &err), 0);
	assert_int_equal(got.n, 1);
	assert_true(rig_value(got.tables[0], "h/disk:sda", T0 + SEC(1)) == 100);
	assert_true(rig_value(got.tables[0], "h/disk:sda", T0 + SEC(2)) == 0);
	rig_tables_release(&got);
	lp_table_builder_free(b);
	rig_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_largest_of_the_last),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_only_on_fine_grids),
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_only_what_was_computed),
		cmocka_unit_test(test_view_of_what_was_imported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
