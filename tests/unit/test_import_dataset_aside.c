#include "import/dataset.h"

#include "archive_rig.h"
#include "temp_dir.h"
#include <errno.h>

static const char *const metrics[] = {"rxbyt"};

/* Read all files; their notes stay in the dataset, which the caller closes. */
static struct lp_dataset *read_all(struct rig_tables *ret, bool judged)
{
	struct lp_table_options opt = {
		.metrics = metrics, .n_metrics = 1, .step_us = SEC(1), .judged = judged};
	const char *path = temp_dir_path;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_tables(ds, &opt, &ret->tables, &ret->n, &err), 0);
	return ds;
}

static void make_files(void)
{
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 400, 10);
	archive_rig_write1(temp_path("b.lpa"), "b", 0, 400, 10);
	archive_rig_write1(temp_path("c.lpa"), "c", 0, 400, 10);
}

/* Eight seconds in another age: the file, their number and their time are reported. */
static void test_a_wrong_clock(void **state)
{
	struct rig_tables t = {0};
	struct lp_dataset *ds;

	(void)state;
	make_files();
	archive_rig_write1(temp_path("c1.lpa"), "c", -1e9, 9, 10);
	ds = read_all(&t, true);
	assert_int_equal(ds->n_notes, 1);
	assert_non_null(strstr(ds->notes[0], "/c1.lpa: 8 samples of c from 1979-07-"));
	assert_int_equal(ds->n_aside, 1);
	assert_int_equal(t.tables[0]->n_cuts, 0);
	assert_true(t.tables[0]->n_slots <= 400);
	assert_int_equal(t.tables[0]->n_components, 3);
	rig_tables_release(&t);
	lp_dataset_close(ds);
}

/* A clock that was set from another age to now, between two files. However fine the grid is on
 * which they are read, and on which they were read before, nothing is left of that age. */
static void test_read_twice(void **state)
{
	const struct archive_rig_span spans[] = {{-1e9, 1}, {10, 390}};
	struct lp_table_options opt = {.metrics = metrics, .n_metrics = 1, .judged = true};
	const char *path = temp_dir_path;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 400, 10);
	archive_rig_write1(temp_path("b.lpa"), "b", 0, 400, 10);
	archive_rig_write1(temp_path("c0.lpa"), "c", -1e9 - 8, 9, 10);
	archive_rig_write(temp_path("c1.lpa"), "c", 10, spans, 2, NULL);
	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	assert_int_equal(dataset_hosts(ds, &(struct hosts){0}, &err), 0);
	for (opt.step_us = SEC(15); opt.step_us; opt.step_us = opt.step_us > SEC(1) ? SEC(1) : 0) {
		struct rig_tables t = {0};

		assert_int_equal(lp_dataset_tables(ds, &opt, &t.tables, &t.n, &err), 0);
		assert_int_equal(t.tables[0]->n_cuts, 0);
		assert_true(t.tables[0]->start_us > T0 - SEC(16));
		assert_true(rig_value(t.tables[0], "c/net:eth0",
				    T0 + SEC(200) - (T0 + SEC(200)) % opt.step_us) == 10);
		rig_tables_release(&t);
	}
	lp_dataset_close(ds);
}

/* Who only looks at values sees all of them. */
static void test_shown_all_the_same(void **state)
{
	struct rig_tables t = {0};
	struct lp_dataset *ds;

	(void)state;
	make_files();
	archive_rig_write1(temp_path("c1.lpa"), "c", -1e9, 9, 10);
	ds = read_all(&t, false);
	assert_int_equal(ds->n_notes, 0);
	assert_int_equal(t.tables[0]->n_cuts, 1);
	assert_true(rig_value(t.tables[0], "c/net:eth0", T0 - SEC(1e9) + SEC(5)) == 10);
	rig_tables_release(&t);
	lp_dataset_close(ds);
}

/* Impossible values are missing, and reported; one that is only unusual is not. */
static void test_absurd_values(void **state)
{
	struct rig_tables t = {0};
	struct lp_dataset *ds;

	(void)state;
	temp_text("a.csv",
		"time,component,metric,value\n"
		"2011-03-13T07:06:41Z,a/net:eth0,rxbyt,5\n"
		"2011-03-13T07:06:42Z,a/net:eth0,rxbyt,-5\n"
		"2011-03-13T07:06:43Z,a/net:eth0,rxbyt,2e18\n"
		"2011-03-13T07:06:44Z,a/net:eth0,rxbyt,1e300\n"
		"2011-03-13T07:06:45Z,a/net:eth0,rxbyt,1e15\n");
	ds = read_all(&t, true);
	assert_int_equal(ds->n_notes, 1);
	assert_non_null(strstr(ds->notes[0], "/a.csv: 3 values are negative"));
	assert_int_equal(t.tables[0]->n_slots, 5);
	assert_true(t.tables[0]->values[0] == 5);
	for (int i = 1; i < 4; i++)
		assert_true(isnan(t.tables[0]->values[i]));
	assert_true(t.tables[0]->values[4] == 1e15);
	rig_tables_release(&t);
	lp_dataset_close(ds);
}

/* Before 1970 is a time like any other. */
static void test_before_1970(void **state)
{
	struct rig_tables t = {0};
	struct lp_dataset *ds;

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", -2e9, 400, 10);
	ds = read_all(&t, true);
	assert_int_equal(t.n, 1);
	assert_true(t.tables[0]->start_us < 0);
	assert_int_equal(t.tables[0]->n_slots, 399);
	assert_int_equal(ds->n_notes, 0);
	rig_tables_release(&t);
	lp_dataset_close(ds);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_wrong_clock),
		TEST(test_read_twice),
		TEST(test_shown_all_the_same),
		TEST(test_absurd_values),
		TEST(test_before_1970),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
