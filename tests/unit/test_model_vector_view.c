#include "model/vector_view.h"

#include "base/array.h"
#include "vectors.h"
#include <stdio.h>

#define SLOTS 6

/* Two observers and their functions, and a disk, which is none. */
static struct lp_table *table_make(const char *unit)
{
	static const char *const names[] = {"oss2/function:pread", "oss1/disk:sdb",
		"oss1/function:glusterfsd:writev", "oss1/function:pread", "oss2/functions:x",
		"oss1"};
	static const double values[][SLOTS] = {
		{1, 2, 3, NAN, NAN, NAN},
		{9, 9, 9, 9, 9, 9},
		{NAN, NAN, 4, 5, NAN, INFINITY},
		{0, 1, NAN, NAN, 7, NAN},
		{8, 8, 8, 8, 8, 8},
		{8, 8, 8, 8, 8, 8},
	};
	struct lp_table *t = calloc(1, sizeof(*t));

	t->metric = strdup("count");
	t->unit = strdup(unit);
	t->step_us = 2000000;
	t->n_slots = SLOTS;
	t->n_components = ARRAY_SIZE(names);
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	t->components = calloc(t->n_components, sizeof(*t->components));
	t->values = malloc(sizeof(values));
	memcpy(t->values, values, sizeof(values));
	for (uint32_t i = 0; i < t->n_components; i++)
		t->components[i] = lp_identity_parse(names[i]);
	return t;
}

static void test_table(void **state)
{
	struct lp_table *t = table_make("1");
	struct vector_view view = {0};
	uint32_t pread, writev;

	(void)state;
	assert_int_equal(vector_view_of_table(t, "function", &view), 0);
	assert_int_equal(view.n_members, 2);
	assert_string_equal(view.members[0], "oss1");
	assert_string_equal(view.members[1], "oss2");
	assert_int_equal(view.dimensions.n, 2);
	assert_true(dimensions_find(&view.dimensions, "pread", &pread));
	assert_true(dimensions_find(&view.dimensions, "glusterfsd:writev", &writev));
	assert_int_equal(view.first[2], 3);
	vector_view_release(&view);
	assert_int_equal(vector_view_of_table(t, "stack", &view), 0);
	assert_int_equal(view.n_members, 0);
	vector_view_release(&view);
	lp_table_free(t);
}

static void test_window(void **state)
{
	struct lp_table *t = table_make("1");
	struct vector_view view = {0};
	struct vector v = {0};
	uint32_t pread, writev;

	(void)state;
	assert_int_equal(vector_view_of_table(t, "function", &view), 0);
	assert_true(dimensions_find(&view.dimensions, "pread", &pread));
	assert_true(dimensions_find(&view.dimensions, "glusterfsd:writev", &writev));
	/* All of it was measured: a function without a value was not called. */
	assert_int_equal(vector_view_window(&view, 0, 0, 4, &v), 1);
	assert_true(vector_get(&v, pread) == 1 && vector_get(&v, writev) == 9 && v.n == 2);
	/* The last slot has no value, and counts as the mean of the other three. */
	assert_int_equal(vector_view_window(&view, 0, 2, 4, &v), 1);
	assert_true(vector_get(&v, pread) == 7 * (4 / 3.0));
	assert_true(vector_get(&v, writev) == 9 * (4 / 3.0));
	/* Half of it is enough, less is not. */
	assert_int_equal(vector_view_window(&view, 1, 1, 4, &v), 1);
	assert_true(vector_get(&v, pread) == 10 && v.n == 1);
	assert_int_equal(vector_view_window(&view, 1, 2, 4, &v), 0);
	assert_int_equal(vector_view_window(&view, 1, 3, 3, &v), 0);
	/* Measured, and nothing was done: a vector of zeros is data. */
	assert_int_equal(vector_view_window(&view, 0, 0, 1, &v), 1);
	assert_int_equal(v.n, 0);
	vector_release(&v);
	vector_view_release(&view);
	lp_table_free(t);
}

/* Rates become amounts. */
static void test_rates(void **state)
{
	static const char *const units[] = {"1/s", "ms/s", "ms", "", "/", "s"};
	static const double factors[] = {2, 2, 1, 1, 1, 1};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		struct lp_table *t = table_make(units[i]);
		struct vector_view view = {0};
		struct vector v = {0};

		assert_int_equal(vector_view_of_table(t, "function", &view), 0);
		assert_int_equal(vector_view_window(&view, 1, 0, 3, &v), 1);
		assert_true(vector_total(&v) == 6 * factors[i]);
		vector_release(&v);
		vector_view_release(&view);
		lp_table_free(t);
	}
}

static void test_totals(void **state)
{
	static const double expected[2][SLOTS] = {{0, 1, 4, 5, 7, NAN}, {1, 2, 3, NAN, NAN, NAN}};
	struct lp_table *t = table_make("1/s");
	struct vector_view view = {0};
	double totals[SLOTS];

	(void)state;
	assert_int_equal(vector_view_of_table(t, "function", &view), 0);
	for (uint32_t m = 0; m < 2; m++) {
		assert_int_equal(vector_view_totals(&view, m, totals), 0);
		for (uint32_t s = 0; s < SLOTS; s++)
			assert_true(totals[s] == expected[m][s] ||
				(isnan(totals[s]) && isnan(expected[m][s])));
	}
	vector_view_release(&view);
	lp_table_free(t);
}

/* A window is the sum of its intervals, however the rows stand. */
static void test_windows_are_sums(void **state)
{
	enum { MEMBERS = 3, DIMENSIONS = 50, ROWS = MEMBERS * DIMENSIONS, LENGTH = 20 };
	static double values[ROWS][LENGTH];
	static char names[MEMBERS + DIMENSIONS][8];
	struct vector_row rows[ROWS];
	struct vector_view view = {0};
	struct vector window = {0}, interval = {0}, whole = {0};

	(void)state;
	for (uint32_t i = 0; i < MEMBERS + DIMENSIONS; i++)
		snprintf(names[i], sizeof(names[i]), "%u", i);
	for (uint32_t i = 0; i < ROWS; i++) {
		rows[i] = (struct vector_row){
			names[i % MEMBERS], names[MEMBERS + i / MEMBERS], values[i]};
		for (uint32_t s = 0; s < LENGTH; s++)
			values[i][s] = vectors_below(4) ? NAN : vectors_value();
	}
	assert_int_equal(vector_view_make(rows, ROWS, LENGTH, 1, &view), 0);
	for (uint32_t m = 0; m < MEMBERS; m++) {
		vector_clear(&window);
		for (uint32_t s = 0; s < LENGTH; s++) {
			assert_int_equal(vector_view_window(&view, m, s, 1, &interval), 1);
			assert_int_equal(vector_merge(&window, &interval), 0);
		}
		assert_int_equal(vector_view_window(&view, m, 0, LENGTH, &whole), 1);
		assert_int_equal(whole.n, window.n);
		for (uint32_t d = 0; d < DIMENSIONS; d++)
			assert_true(vector_get(&whole, d) == vector_get(&window, d));
	}
	vector_release(&window);
	vector_release(&interval);
	vector_release(&whole);
	vector_view_release(&view);
}

/* A function that is switched off on one server counts for none, as long as it is. */
static void test_off(void **state)
{
	const double on[SLOTS] = {1, 1, 1, 1, 1, 1},
		     off[SLOTS] = {2, 2, VECTOR_OFF, NAN, VECTOR_OFF, 2};
	const struct vector_row rows[] = {
		{"a", "f", on}, {"a", "g", on}, {"b", "f", off}, {"b", "g", on}};
	struct vector_view view = {0};
	struct vector vector = {0};
	uint32_t f, g;

	(void)state;
	assert_int_equal(vector_view_make(rows, ARRAY_SIZE(rows), SLOTS, 1, &view), 0);
	assert_true(dimensions_find(&view.dimensions, "f", &f));
	assert_true(dimensions_find(&view.dimensions, "g", &g));
	for (uint32_t member = 0; member < 2; member++) {
		assert_int_equal(vector_view_window(&view, member, 0, 2, &vector), 1);
		assert_true(vector_get(&vector, f) == (member ? 4 : 2));
		assert_int_equal(vector_view_window(&view, member, 1, 2, &vector), 1);
		assert_true(vector_get(&vector, f) == 0 && vector_get(&vector, g) == 2);
		assert_int_equal(vector_view_window(&view, member, 3, 1, &vector), 1);
		assert_true(vector_get(&vector, f) == 0);
		assert_int_equal(vector_view_window(&view, member, 5, 1, &vector), 1);
		assert_true(vector_get(&vector, f) == (member ? 2 : 1));
	}
	vector_release(&vector);
	vector_view_release(&view);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_windows_are_sums),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
