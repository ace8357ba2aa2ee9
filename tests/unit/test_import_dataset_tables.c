#include <limpet/dataset.h>

#include "archive_rig.h"
#include "temp_dir.h"
#include <errno.h>
#include <omp.h>

#define CSV "time,component,metric,value\n"

/* All outputs of a run. */
struct reading {
	struct rig_tables t;
	char told[20000]; /* warnings, one per line */
	struct lp_err err;
	int r;
};

static void reading_release(struct reading *reading)
{
	rig_tables_release(&reading->t);
}

static void tell(void *ctx, const char *text)
{
	struct reading *reading = ctx;
	size_t len = strlen(reading->told);

	snprintf(reading->told + len, sizeof(reading->told) - len, "%s\n", text);
}

static int add(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	return batch ? lp_table_builder_add(ctx, source, batch, err) : 0;
}

/* One file after the other into one builder: what reading means. */
static void reading_plain(struct reading *reading, const struct lp_table_options *opt)
{
	struct lp_warn warn = {.warn = tell, .ctx = reading};
	struct lp_table_builder *b = rig_builder(opt);
	const char *path = temp_dir_path;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	*reading = (struct reading){0};
	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, &warn, &ds, &err), 0);
	reading->r = lp_dataset_read(ds, lp_table_builder_select(b), add, b, &reading->err);
	if (reading->r != -EFBIG)
		assert_int_equal(
			lp_table_builder_finish(b, &reading->t.tables, &reading->t.n, &err), 0);
	lp_table_builder_free(b);
	lp_dataset_close(ds);
}

static void reading_threads(
	struct reading *reading, const struct lp_table_options *opt, int threads)
{
	struct lp_warn warn = {.warn = tell, .ctx = reading};
	const char *path = temp_dir_path;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	*reading = (struct reading){0};
	omp_set_num_threads(threads);
	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, &warn, &ds, &err), 0);
	reading->r = lp_dataset_tables(ds, opt, &reading->t.tables, &reading->t.n, &reading->err);
	lp_dataset_close(ds);
}

static void assert_tables_same(const struct lp_table *x, const struct lp_table *y)
{
	size_t n = (size_t)x->n_slots * x->n_components;

	assert_string_equal(x->metric, y->metric);
	assert_int_equal(x->start_us, y->start_us);
	assert_int_equal(x->n_slots, y->n_slots);
	assert_int_equal(x->n_components, y->n_components);
	for (uint32_t c = 0; c < x->n_components; c++)
		assert_string_equal(x->components[c]->text, y->components[c]->text);
	assert_memory_equal(x->values, y->values, n * sizeof(double));
}

static void assert_readings_same(const struct reading *a, const struct reading *b)
{
	assert_string_equal(a->told, b->told);
	assert_string_equal(a->err.text, b->err.text);
	assert_int_equal(a->t.n, b->t.n);
	for (uint32_t i = 0; i < a->t.n; i++)
		assert_tables_same(a->t.tables[i], b->t.tables[i]);
}

/* Any number of threads gives the same result as plain reading. */
static void assert_like_plain(const struct lp_table_options *opt, int expected)
{
	_cleanup_(reading_release) struct reading plain;

	reading_plain(&plain, opt);
	for (int threads = 1; threads <= 5; threads += 2) {
		_cleanup_(reading_release) struct reading reading;

		reading_threads(&reading, opt, threads);
		assert_int_equal(reading.r, expected);
		assert_readings_same(&plain, &reading);
	}
}

/* Files of many observers, several of each, some of which repeat times or leave some out. */
static void make_files(void)
{
	for (int i = 0; i < 80; i++) {
		char name[64], observer[16];
		int day = i / 13, from = day * 37 - i % 3 * 4;

		snprintf(observer, sizeof(observer), "h%d", i % 13);
		snprintf(name, sizeof(name), "f%02d.lpa", i);
		archive_rig_write1(temp_path(name), observer, from, 40 + i % 5, 100 + i);
	}
}

static void test_any_number_of_threads(void **state)
{
	static const int64_t steps[] = {SEC(1), SEC(15), SEC(60), LP_TABLE_FOREVER};

	(void)state;
	make_files();
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct lp_table_options opt = {.step_us = steps[i]};

		assert_like_plain(&opt, 0);
		opt.components = (const char *[]){"h1*/net:*"};
		opt.n_components = 1;
		assert_like_plain(&opt, 0);
	}
}

static void test_damage_is_told_in_order(void **state)
{
	struct lp_table_options opt = {.step_us = SEC(15)};
	_cleanup_(reading_release) struct reading reading;
	const char *b, *g;

	(void)state;
	make_files();
	archive_rig_write_damaged(temp_path("b.lpa"), "b");
	archive_rig_write_damaged(temp_path("f30x.lpa"), "x");
	archive_rig_write_damaged(temp_path("g.lpa"), "g");
	temp_text("c.lpa", "no archive at all");
	temp_text("z.csv", CSV "2011-03-13T07:06:41Z,z/net:eth0,rxbyt,5\nbad,z/net:eth0,rxbyt,6\n");
	assert_like_plain(&opt, -EBADMSG);
	reading_threads(&reading, &opt, 3);
	b = strstr(reading.told, "/b.lpa: bytes");
	g = strstr(reading.told, "/g.lpa: bytes");
	assert_non_null(strstr(reading.err.text, "/b.lpa is damaged"));
	assert_true(b && g && b < g);
	assert_non_null(strstr(b, "/c.lpa"));
	assert_non_null(strstr(g, "/g.lpa is damaged"));
	assert_non_null(strstr(g, "/z.csv"));
}

/* A file that is too large for its part is read directly into the result, and one that is too large
 * for that is refused with the same message. */
static void test_little_memory(void **state)
{
	struct lp_table_options opt = {.step_us = SEC(1)};

	(void)state;
	make_files();
	archive_rig_write_damaged(temp_path("b.lpa"), "b");
	for (uint64_t bytes = 1000; bytes < 2000000; bytes = bytes * 3 / 2) {
		_cleanup_(reading_release) struct reading plain, reading;

		opt.bytes_max = bytes;
		reading_plain(&plain, &opt);
		reading_threads(&reading, &opt, 2);
		if (reading.r == -EFBIG || plain.r == -EFBIG) {
			assert_int_equal(reading.r, plain.r);
			assert_non_null(strstr(reading.err.text, "would need too much memory"));
			continue;
		}
		assert_int_equal(reading.r, -EBADMSG);
		assert_readings_same(&plain, &reading);
	}
}

static void test_more_warnings_than_are_kept(void **state)
{
	struct lp_table_options opt = {.step_us = SEC(1)};

	(void)state;
	make_files();
	for (int i = 0; i < 40; i++) {
		char name[32];

		snprintf(name, sizeof(name), "w%02d.csv", i);
		temp_text(name, CSV "2011-03-13T07:06:41Z,w/net:eth0,rxbyt,5\nbad\nworse\n");
	}
	assert_like_plain(&opt, -EBADMSG);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_any_number_of_threads),
		TEST(test_damage_is_told_in_order),
		TEST(test_little_memory),
		TEST(test_more_warnings_than_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
