#include "model/table_view.h"

#include "table_rig.h"

static const struct lp_column columns[] = {{"latency", "ms", LP_REAL, 0}};
static const struct lp_schema disk = {"disk", columns, 1};
static const char *const metrics[] = {"latency"};

#define FIRST 100
#define END 300

/* Values of a component in every `every`-th slot. */
static void put(struct lp_table_builder *b, const char *name, int64_t every)
{
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &disk, "a", name);
	for (int64_t s = 0; s < END + 100; s += every) {
		rig_sample(&r, SEC(s), SEC(s));
		rig_set1(&r, id, lp_cell_from_real((double)(s * every)));
	}
	rig_add(b, &r);
}

static void view_make(
	const struct lp_table_builder *b, struct table_part *part, struct rig_tables *ret)
{
	struct lp_err err = {0};
	uint32_t left_out;

	part->first = part->seen_from = FIRST;
	part->end = END;
	assert_int_equal(table_builder_view(b, part, &ret->tables, &ret->n, &left_out, &err), 0);
	assert_int_equal(ret->n, 1);
}

static void assert_same(const double *values, const double *others, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_true(isnan(values[i]) ? isnan(others[i]) : values[i] == others[i]);
}

/* Whether rows are read at once, when they are looked at, or for one look: they are the same. */
static void test_rows(void **state)
{
	struct lp_table_options options = {
		.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};
	struct lp_table_builder *b = rig_builder(&options);
	_cleanup_(rig_tables_release) struct rig_tables all = {0}, lazy = {0};
	double room[END - FIRST];

	(void)state;
	put(b, "sda", 1);
	put(b, "sdb", 3);
	put(b, "sdc", 90);
	view_make(b, &(struct table_part){0}, &all);
	view_make(b, &(struct table_part){.lazy = true}, &lazy);
	assert_null(all.tables[0]->lazy);
	assert_non_null(lazy.tables[0]->lazy);
	for (uint32_t i = 0; i < 3; i++) {
		const struct lp_table *t = lazy.tables[0];
		const double *expected = table_values(all.tables[0], i);

		assert_ptr_equal(expected, all.tables[0]->values + (size_t)i * t->n_slots);
		assert_ptr_equal(table_values_peek(t, i, room), room);
		assert_same(room, expected, t->n_slots);
		assert_false(t->lazy->read[i]);
		assert_same(table_values(t, i), expected, t->n_slots);
		assert_true(t->lazy->read[i]);
		assert_ptr_equal(table_values_peek(t, i, room), table_values(t, i));
	}
	lp_table_builder_free(b);
}

/* Some slots of a row are the same as in the whole row, and no others are touched. */
static void test_parts(void **state)
{
	struct lp_table_options options = {
		.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};
	struct lp_table_builder *b = rig_builder(&options);
	_cleanup_(rig_tables_release) struct rig_tables all = {0}, lazy = {0};
	const struct lp_table *t;
	const double *expected;
	double room[END - FIRST];

	(void)state;
	put(b, "sda", 1);
	view_make(b, &(struct table_part){0}, &all);
	view_make(b, &(struct table_part){.lazy = true}, &lazy);
	t = lazy.tables[0];
	expected = table_values(all.tables[0], 0);
	for (uint32_t first = 0; first < t->n_slots; first++) {
		for (uint32_t i = 0; i < t->n_slots; i++)
			room[i] = -7;
		assert_ptr_equal(table_values_peek_part(t, 0, first, t->n_slots - 1, room), room);
		for (uint32_t i = 0; i < first; i++)
			assert_true(room[i] == -7);
		if (first < t->n_slots - 1)
			assert_same(room + first, expected + first, t->n_slots - 1 - first);
		assert_true(room[t->n_slots - 1] == -7);
	}
	table_values(t, 0);
	assert_ptr_equal(table_values_peek_part(t, 0, 1, 2, room), t->values);
	lp_table_builder_free(b);
}

/* Leaving out the beginning of a table, or asking where rows have data, is the same for both. */
static void test_clipped(void **state)
{
	struct lp_table_options options = {
		.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};
	struct lp_table_builder *b = rig_builder(&options);
	_cleanup_(rig_tables_release) struct rig_tables all = {0}, lazy = {0};

	(void)state;
	put(b, "sda", 1);
	put(b, "sdb", 70);
	view_make(b, &(struct table_part){0}, &all);
	view_make(b, &(struct table_part){.lazy = true}, &lazy);
	table_values(lazy.tables[0], 1); /* was read, and has to be read again */
	table_clip(all.tables[0], 15);
	table_clip(lazy.tables[0], 15);
	assert_int_equal(lazy.tables[0]->start_us, all.tables[0]->start_us);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t first[2], end[2];

		table_row_span(all.tables[0], i, &first[0], &end[0]);
		table_row_span(lazy.tables[0], i, &first[1], &end[1]);
		assert_int_equal(first[0], first[1]);
		assert_int_equal(end[0], end[1]);
		assert_same(table_values(lazy.tables[0], i), table_values(all.tables[0], i),
			END - FIRST - 15);
	}
	assert_true(table_value(lazy.tables[0], 0, 0) == FIRST + 15);
	lp_table_builder_free(b);
}

/* Tables that would not fit into memory leave out rows, unless the rows need not be copied. */
static void test_no_room(void **state)
{
	struct lp_table_options options = {.metrics = metrics,
		.n_metrics = 1,
		.step_us = US_PER_SEC,
		.narrow = true,
		.bytes_max = 20000};
	struct lp_table_builder *b = rig_builder(&options);
	_cleanup_(rig_tables_release) struct rig_tables all = {0}, lazy = {0};
	struct table_part part = {.first = 0, .end = END + 100, .seen_from = 0};
	uint32_t left_out;
	struct lp_err err = {0};

	(void)state;
	for (int i = 0; i < 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "sd%d", i);
		put(b, name, 1 + i / 6);
	}
	assert_int_equal(table_builder_view(b, &part, &all.tables, &all.n, &left_out, &err), 0);
	assert_true(left_out > 0);
	part.lazy = true;
	assert_int_equal(table_builder_view(b, &part, &lazy.tables, &lazy.n, &left_out, &err), 0);
	assert_int_equal(left_out, 0);
	assert_int_equal(lazy.tables[0]->n_components, 8);
	lp_table_builder_free(b);
}

/* What has to be put together has all values at once, and so has a table with times left out. */
static void test_at_once(void **state)
{
	static const char *const names[] = {"dread"};
	struct lp_table_options options = {
		.metrics = metrics, .n_metrics = 1, .step_us = US_PER_SEC};
	static const struct lp_column time[] = {{"dread", "ms", LP_REAL, 0}};
	static const struct lp_schema traced = {"sys", time, 1};
	struct lp_table_builder *b = rig_builder(&options);
	_cleanup_(rig_tables_release) struct rig_tables cut = {0}, remade = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t id;

	(void)state;
	put(b, "sda", 90);
	view_make(b, &(struct table_part){.lazy = true, .align = 1, .margin = 5}, &cut);
	assert_true(cut.tables[0]->n_cuts > 0);
	assert_null(cut.tables[0]->lazy);
	lp_table_builder_free(b);

	options.metrics = names;
	b = rig_builder(&options);
	rig_init(&r, US_PER_SEC);
	id = rig_component(&r, &traced, "a", "server");
	rig_sample(&r, SEC(150), SEC(150));
	rig_set1(&r, id, lp_cell_from_real(1));
	rig_add(b, &r);
	view_make(b, &(struct table_part){.lazy = true}, &remade);
	assert_null(remade.tables[0]->lazy);
	lp_table_builder_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_clipped),
		cmocka_unit_test(test_no_room),
		cmocka_unit_test(test_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
