#include "identity_rig.h"
#include "report/values.h"

#include "printed.h"
#include "table_rig.h"
#include <jansson.h>
#include <limpet/dataset.h>
#include <unistd.h>

/* A table of two components and three slots; `values` are theirs, one after the other. */
static struct lp_table *make(
	const char *metric, const char *first, const char *second, const double values[6])
{
	struct lp_table *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	t->metric = strdup(metric);
	t->unit = strdup("ms");
	t->start_us = T0 + SEC(0.5);
	t->step_us = SEC(0.5);
	t->n_slots = 3;
	t->n_components = 2;
	/* NOLINTNEXTLINE(bugprone-sizeof-expression): an array of pointers it is */
	t->components = calloc(2, sizeof(*t->components));
	t->values = malloc(6 * sizeof(*values));
	assert_true(t->components && t->values);
	t->components[0] = lp_identity_parse(first);
	t->components[1] = lp_identity_parse(second);
	memcpy(t->values, values, 6 * sizeof(*values));
	return t;
}

static int setup(void **state)
{
	static struct lp_table *tables[2];

	tables[0] = make("await", "a/disk:sda", "b, \"x\"/disk:sd b",
		(double[]){1, NAN, 0.1, 2.5, NAN, NAN});
	tables[1] = make(
		"%util", "c/disk:sda", "a/disk:sda", (double[]){NAN, NAN, NAN, 1e6, NAN, 1.0 / 3});
	*state = tables;
	return 0;
}

static int teardown(void **state)
{
	struct lp_table **tables = *state;

	lp_table_free(tables[0]);
	lp_table_free(tables[1]);
	return 0;
}

static char *print_csv(struct lp_table *const *tables, uint32_t n)
{
	struct printed p;
	struct lp_err err;

	assert_int_equal(values_print_csv(printed_begin(&p), tables, n, VALUES_WHOLE, &err), 0);
	return printed_end(&p);
}

static void test_text(void **state)
{
	struct printed p;
	struct lp_err err;
	_cleanup_free_ char *got = NULL;

	assert_int_equal(values_print_text(printed_begin(&p), *state, 2, false, &err), 0);
	got = printed_end(&p);
	assert_string_equal(got,
		"time                    component         await    %util\n"
		"2011-03-13T07:06:40.5Z  a/disk:sda            1  1000000\n"
		"2011-03-13T07:06:40.5Z  b, \"x\"/disk:sd b   2.50        -\n"
		"2011-03-13T07:06:41.5Z  a/disk:sda         0.10     0.33\n");
}

static void test_csv(void **state)
{
	_cleanup_free_ char *got = print_csv(*state, 2);

	assert_string_equal(got,
		"time,component,metric,value\n"
		"2011-03-13T07:06:40.5Z,a/disk:sda,await,1\n"
		"2011-03-13T07:06:40.5Z,a/disk:sda,%util,1000000\n"
		"2011-03-13T07:06:40.5Z,\"b, \"\"x\"\"/disk:sd b\",await,2.5\n"
		"2011-03-13T07:06:41.5Z,a/disk:sda,await,0.1\n"
		"2011-03-13T07:06:41.5Z,a/disk:sda,%util,0.3333333333333333\n");
}

static void test_nothing(void **state)
{
	struct printed p;
	struct lp_err err;
	_cleanup_free_ char *csv = print_csv(NULL, 0), *json = NULL, *text = NULL;

	(void)state;
	assert_string_equal(csv, "time,component,metric,value\n");
	assert_int_equal(values_print_text(printed_begin(&p), NULL, 0, true, &err), 0);
	text = printed_end(&p);
	assert_string_equal(text, "");
	values_print_json(printed_begin(&p), NULL, 0, VALUES_WHOLE);
	json = printed_end(&p);
	assert_non_null(strstr(json, "\"tables\":["));
}

static void test_json(void **state)
{
	struct printed p;
	_cleanup_free_ char *got = NULL;
	json_t *root, *table;

	values_print_json(printed_begin(&p), *state, 2, VALUES_WHOLE);
	got = printed_end(&p);
	root = json_loads(got, 0, NULL);
	assert_non_null(root);
	assert_non_null(json_object_get(root, "limpet"));
	table = json_array_get(json_object_get(root, "tables"), 0);
	assert_string_equal(json_string_value(json_object_get(table, "metric")), "await");
	assert_string_equal(json_string_value(json_object_get(table, "unit")), "ms");
	assert_string_equal(
		json_string_value(json_object_get(table, "start")), "2011-03-13T07:06:40.5Z");
	assert_true(json_number_value(json_object_get(table, "step_s")) == 0.5);
	assert_string_equal(
		json_string_value(json_array_get(json_object_get(table, "components"), 1)),
		"b, \"x\"/disk:sd b");
	table = json_array_get(json_object_get(table, "values"), 0);
	assert_int_equal(json_array_size(table), 3);
	assert_true(json_number_value(json_array_get(table, 0)) == 1);
	assert_true(json_is_null(json_array_get(table, 1)));
	json_decref(root);
}

/* Read a CSV text as DATA into tables of its own interval. */
static void read_back(const char *csv, struct rig_tables *ret)
{
	char path[] = "/tmp/limpet-values-XXXXXX.csv";
	const char *const paths[] = {path};
	struct lp_table_options opt = {.step_us = SEC(0.5)};
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};
	int fd = mkstemps(path, 4);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, csv, strlen(csv)), strlen(csv));
	close(fd);
	assert_int_equal(lp_dataset_open(paths, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_tables(ds, &opt, &ret->tables, &ret->n, &err), 0);
	lp_dataset_close(ds);
	unlink(path);
}

static void test_csv_reads_back(void **state)
{
	_cleanup_(rig_tables_release) struct rig_tables back = {0};
	_cleanup_free_ char *csv = print_csv(*state, 2), *again = NULL;

	read_back(csv, &back);
	assert_int_equal(back.n, 2);
	again = print_csv(back.tables, back.n);
	assert_string_equal(again, csv);
}

/* Names as bad as they come, and numbers with all their bits. */
static void test_odd_names_read_back(void **state)
{
	static const char *const names[] = {"a b/disk:sd c", "a/disk:\"q\"", "a/disk:x;y",
		"a/disk:x,y", "Gr\xc3\xb6\xc3\x9f\x65/disk:\xe7\xa3\x81\xe7\x9b\x98", "a/disk:#1",
		"#x/disk:y", "a/disk:it's", "=1+1/disk:x", "@SUM(A1),2/disk:y", "+a/disk:z",
		"-a/disk:z", "'a/disk:z"};
	uint64_t x = 4101842887655102017u;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_(rig_tables_release) struct rig_tables back = {0};
		_cleanup_free_ char *csv = NULL, *again = NULL;
		struct lp_table *t;
		double values[6];

		for (int k = 0; k < 6; k++) {
			x = x * 2862933555777941757u + 3037000493u;
			values[k] = (double)(x >> 20) / (double)((x & 0xfff) + 1);
		}
		t = make("a metric, \"quoted\"", names[i], "z/disk:z", values);
		csv = print_csv(&t, 1);
		read_back(csv, &back);
		assert_int_equal(back.n, 1);
		again = print_csv(back.tables, 1);
		assert_string_equal(again, csv);
		assert_string_equal(back.tables[0]->components[0]->text, names[i]);
		assert_memory_equal(back.tables[0]->values, values, sizeof(values));
		lp_table_free(t);
	}
}

/* Spreadsheets carry out what begins like a formula; numbers do, and must stay numbers. */
static void test_no_formulas(void **state)
{
	static const char *const names[] = {
		"=cmd|x/disk:a", "+1/disk:a", "-1/disk:a", "@A1/disk:a"};
	double values[6] = {-1, -2, -3, -4, -5, -6};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct lp_table *t =
			make("=metric", names[i], "\x9bz/disk:\xe2\x80\xaez\xe2\x80\xac", values);
		_cleanup_free_ char *csv = print_csv(&t, 1), *want = NULL;

		assert_true(asprintf(&want, ",'%s,'=metric,-1\n", names[i]) > 0);
		assert_non_null(strstr(csv, want));
		assert_non_null(strstr(csv, "?z/disk:?z?,"));
		lp_table_free(t);
	}
}

/* The same table twice: one heading, one array of tables. */
static void test_pieces(void **state)
{
	struct printed p;
	struct lp_err err;
	_cleanup_free_ char *csv = NULL, *json = NULL;
	FILE *out = printed_begin(&p);
	json_t *root;

	assert_int_equal(values_print_csv(out, *state, 1, VALUES_FIRST, &err), 0);
	assert_int_equal(values_print_csv(out, *state, 1, VALUES_LAST, &err), 0);
	csv = printed_end(&p);
	assert_non_null(strstr(csv, "time,component"));
	assert_null(strstr(strstr(csv, "time,component") + 1, "time,component"));
	assert_non_null(strstr(strstr(csv, "sda,await,0.1\n") + 1, "sda,await,0.1\n"));

	out = printed_begin(&p);
	values_print_json(out, *state, 1, VALUES_FIRST);
	values_print_json(out, *state, 2, 0);
	values_print_json(out, *state, 1, VALUES_LAST);
	json = printed_end(&p);
	root = json_loads(json, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_array_size(json_object_get(root, "tables")), 4);
	json_decref(root);
}

/* More lines than are laid out at once: every line is there, every piece has its heading. */
static void test_long_text(void **state)
{
	struct lp_table t = {.metric = "m",
		.unit = "",
		.step_us = US_PER_SEC,
		.n_slots = 5000,
		.n_components = 1,
		.components = (struct lp_identity *[]){identity_of("a/disk:sda")},
		.values = calloc(5000, sizeof(double))};
	struct lp_table *const tables[] = {&t};
	struct printed p;
	struct lp_err err;
	_cleanup_free_ char *got = NULL;
	size_t lines = 0, headings = 0;

	(void)state;
	assert_non_null(t.values);
	assert_int_equal(values_print_text(printed_begin(&p), tables, 1, false, &err), 0);
	got = printed_end(&p);
	for (const char *line = got; *line; line = strchr(line, '\n') + 1) {
		lines++;
		headings += !strncmp(line, "time ", 5);
	}
	assert_int_equal(lines - headings, 5000);
	assert_in_range(headings, 1, 5);
	free(t.values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_text, setup, teardown),
		cmocka_unit_test_setup_teardown(test_csv, setup, teardown),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test_setup_teardown(test_json, setup, teardown),
		cmocka_unit_test_setup_teardown(test_csv_reads_back, setup, teardown),
		cmocka_unit_test(test_odd_names_read_back),
		cmocka_unit_test(test_no_formulas),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test(test_long_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
