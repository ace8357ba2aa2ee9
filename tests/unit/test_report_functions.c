#include "report/functions.h"

#include "printed.h"
#include "table_rig.h"
#include "temp_dir.h"
#include <jansson.h>
#include <limpet/archive.h>

static const struct lp_column columns[] = {{"samples", "samples", LP_COUNTER, 64}};
static const struct lp_schema functions = {"function", columns, 1};
static const struct lp_schema stacks = {"stack", columns, 1};

/* What a component counted by each sample, ten seconds apart. */
struct made {
	const struct lp_schema *schema;
	const char *name;
	int64_t counts[4];
};

static void write_archive(const char *file, const char *observer, const struct made *made, size_t n)
{
	struct lp_archive_meta meta = {.observer = observer, .interval_us = 10 * US_PER_SEC};
	struct lp_archive_writer *w = NULL;
	struct lp_err err = {0};
	_cleanup_(rig_release) struct rig r;
	uint32_t ids[8];

	rig_init(&r, 10 * US_PER_SEC);
	for (size_t i = 0; i < n; i++)
		ids[i] = rig_component(&r, made[i].schema, observer, made[i].name);
	for (int s = 0; s < 4; s++) {
		rig_sample(&r, T0 + s * 10 * US_PER_SEC, s * 10 * US_PER_SEC);
		for (size_t i = 0; i < n; i++) {
			if (made[i].counts[s] >= 0)
				rig_set1(&r, ids[i], made[i].counts[s]);
		}
	}
	assert_int_equal(lp_archive_create(temp_path(file), &meta, &w, &err), 0);
	assert_int_equal(
		lp_archive_write(w, r.source.catalogue, r.batch, LP_ARCHIVE_DENSE, &err), 0);
	assert_int_equal(lp_archive_close(w, &err), 0);
}

static void write_two(void)
{
	static const struct made one[] = {
		{&functions, "dd:libc.so.6:read", {0, 10, 20, 30}},
		{&functions, "dd:kernel:copy", {0, 0, 0, 70}},
		{&stacks, "dd;main;read", {0, 10, 20, 30}},
		{&stacks, "dd;main;<b>;copy", {0, 0, 0, 70}},
	};
	static const struct made two[] = {
		{&functions, "dd:libc.so.6:read", {0, 40, 80, 90}},
		{&functions, "cc1plus:cc1plus:std::sort<int>(int*)", {-1, 0, 5, 10}},
	};

	write_archive("one.lpa", "s1", one, 4);
	write_archive("two.lpa", "s2", two, 2);
}

static void read_all(const struct functions_select *select, struct functions_view *ret)
{
	const char *path = temp_dir_path;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(functions_read(ds, select, ret, &err), 0);
	lp_dataset_close(ds);
}

static void test_counts(void **state)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	const struct functions_select all = {.kind = "function"};

	(void)state;
	write_two();
	read_all(&all, &v);
	assert_int_equal(v.n, 2);
	assert_string_equal(v.servers[0].name, "s1");
	assert_int_equal(v.servers[0].total, 100);
	assert_string_equal(v.servers[0].rows[0].name, "dd:kernel:copy");
	assert_int_equal(v.servers[0].rows[0].n, 70);
	assert_int_equal(v.servers[0].first_us, T0);
	assert_int_equal(v.servers[0].last_us, T0 + 30 * US_PER_SEC);
	assert_ptr_equal(functions_find(&v, "s2"), &v.servers[1]);
	assert_int_equal(v.servers[1].total, 100);
	assert_null(functions_find(&v, "s3"));
}

static void test_selected(void **state)
{
	_cleanup_(functions_release) struct functions_view v = {0}, none = {0};
	const char *globs[] = {"s2/*"};
	struct functions_select some = {.kind = "function",
		.components = globs,
		.n_components = 1,
		.from_us = T0 + 5 * US_PER_SEC,
		.to_us = T0 + 25 * US_PER_SEC};

	(void)state;
	write_two();
	read_all(&some, &v);
	assert_int_equal(v.n, 1);
	assert_int_equal(v.servers[0].total, 85);
	some.kind = "stack";
	read_all(&some, &none);
	assert_int_equal(none.n, 0);
}

static void test_printed(void **state)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	const struct functions_select all = {.kind = "function"};
	_cleanup_free_ char *text = NULL, *json = NULL;
	struct printed p;
	json_t *root, *o;

	(void)state;
	write_two();
	read_all(&all, &v);
	functions_print_text(printed_begin(&p), &v, 1);
	text = printed_end(&p);
	assert_non_null(strstr(text, "s1: 100 samples in 2 functions from "));
	assert_non_null(strstr(text, "  70.0%  ########################  dd:kernel:copy\n"));
	assert_null(strstr(text, "read\n\n")); /* it is the second */
	functions_print_json(printed_begin(&p), &v, 10);
	json = printed_end(&p);
	root = json_loads(json, 0, NULL);
	assert_non_null(root);
	o = json_array_get(json_object_get(root, "servers"), 1);
	assert_string_equal(json_string_value(json_object_get(o, "observer")), "s2");
	o = json_array_get(json_object_get(o, "functions"), 1);
	assert_string_equal(json_string_value(json_object_get(o, "program")), "cc1plus");
	assert_string_equal(json_string_value(json_object_get(o, "image")), "cc1plus");
	assert_string_equal(
		json_string_value(json_object_get(o, "function")), "std::sort<int>(int*)");
	assert_int_equal(json_integer_value(json_object_get(o, "samples")), 10);
	json_decref(root);
}

static void test_diff(void **state)
{
	_cleanup_(functions_release) struct functions_view v = {0};
	const struct functions_select all = {.kind = "function"};
	_cleanup_free_ char *text = NULL, *json = NULL, *nothing = NULL;
	struct functions_pair pair = {.from = "s1", .to = "s2"};
	struct printed p;
	json_t *o;

	(void)state;
	write_two();
	read_all(&all, &v);
	pair.a = &v.servers[0];
	pair.b = &v.servers[1];
	assert_int_equal(functions_diff_text(printed_begin(&p), &pair, 10), 0);
	text = printed_end(&p);
	/* The largest first: 70 to 0, 30 to 90, 0 to 10. */
	assert_non_null(strstr(text, "s1 (100 samples) -> s2 (100 samples)\n  70.0% ->   0.0%"));
	assert_true(strstr(text, "dd:kernel:copy") < strstr(text, "dd:libc.so.6:read"));
	assert_true(strstr(text, "dd:libc.so.6:read") < strstr(text, "cc1plus:"));
	assert_int_equal(functions_diff_json(printed_begin(&p), &pair, 10), 0);
	json = printed_end(&p);
	o = json_loads(json, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(o, "functions")), 3);
	json_decref(o);
	pair.a = pair.b = NULL;
	assert_int_equal(functions_diff_text(printed_begin(&p), &pair, 10), 0);
	nothing = printed_end(&p);
	assert_string_equal(nothing, "s1 (0 samples) -> s2 (0 samples)\n");
}

static void test_flame(void **state)
{
	_cleanup_(functions_release) struct functions_view v = {0}, empty = {0};
	const struct functions_select all = {.kind = "stack"};
	_cleanup_free_ char *svg = NULL, *nothing = NULL;
	struct printed p;

	(void)state;
	write_two();
	read_all(&all, &v);
	assert_int_equal(functions_flame(printed_begin(&p), &v), 0);
	svg = printed_end(&p);
	assert_non_null(strstr(svg, "<svg "));
	assert_non_null(strstr(svg, "main (100 samples, 100.00%)"));
	assert_non_null(strstr(svg, "read (30 samples, 30.00%)"));
	assert_non_null(strstr(svg, "&lt;b&gt; (70 samples, 70.00%)")); /* no markup */
	assert_null(strstr(svg, "<b>"));
	assert_non_null(strstr(svg, "</svg>\n"));
	assert_int_equal(functions_flame(printed_begin(&p), &empty), 0);
	nothing = printed_end(&p);
	assert_non_null(strstr(nothing, "</svg>\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counts, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_selected, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_printed, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_diff, temp_dir_setup, temp_dir_teardown),
		cmocka_unit_test_setup_teardown(test_flame, temp_dir_setup, temp_dir_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
