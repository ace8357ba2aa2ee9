#include <limpet/dataset.h>

#include "archive_rig.h"
#include "import/dataset.h"
#include "temp_dir.h"
#include <errno.h>

#define CSV "time,component,metric,value\n"

static struct lp_dataset *open_paths(const char *const *paths, size_t n, struct lp_warn *warn)
{
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};
	int r = lp_dataset_open(paths, n, NULL, NULL, warn, &ds, &err);

	if (r < 0)
		fail_msg("%s", err.text);
	return ds;
}

static struct lp_dataset *open_path(const char *path)
{
	return open_paths(&path, 1, NULL);
}

static int open_fails(const char *path, struct lp_err *err)
{
	struct lp_dataset *ds = NULL;
	int r = lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, err);

	assert_null(ds);
	assert_true(r < 0);
	assert_int_equal(err->code, r);
	return r;
}

static void assert_ends(const char *path, const char *end)
{
	assert_true(strlen(path) >= strlen(end));
	assert_string_equal(path + strlen(path) - strlen(end), end);
}

static void test_directory_in_order(void **state)
{
	struct lp_dataset *ds;

	(void)state;
	temp_mkdir("b");
	archive_rig_write1(temp_path("c-20110509T000005Z.lpa"), "c", 0, 3, 1);
	archive_rig_write1(temp_path("a-20110510T000005Z.lpa"), "a", 10, 3, 1);
	archive_rig_write1(temp_path("a-20110509T000005Z.lpa"), "a", 0, 3, 1);
	temp_text("b/x.csv", CSV "2011-03-13T07:06:40Z,b/disk:sda,lat,1\n");
	/* All these are none of limpet's business. */
	temp_text("README", "hello\n");
	temp_text(".hidden.csv", CSV);
	temp_text("c.lpa.tmp", "half a file");
	temp_write("binary", "\0\1\2\3", 4);
	temp_text("empty", "");
	assert_int_equal(symlink("nowhere", temp_path("dangling.lpa")), 0);
	assert_int_equal(mkfifo(temp_path("fifo.csv"), 0600), 0);
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_n_files(ds), 4);
	assert_ends(lp_dataset_path(ds, 0), "/a-20110509T000005Z.lpa");
	assert_ends(lp_dataset_path(ds, 1), "/a-20110510T000005Z.lpa");
	assert_ends(lp_dataset_path(ds, 2), "/b/x.csv");
	assert_ends(lp_dataset_path(ds, 3), "/c-20110509T000005Z.lpa");
	lp_dataset_close(ds);
}

static void test_named_files_must_be_known(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(open_fails(temp_path("nosuch"), &err), -ENOENT);
	assert_int_equal(mkfifo(temp_path("fifo"), 0600), 0);
	assert_int_equal(open_fails(temp_path("fifo"), &err), -EINVAL);
	assert_non_null(strstr(err.text, "it is not a regular file"));
	assert_int_equal(open_fails(temp_text("README", "hello\n"), &err), -ENOMSG);
	assert_non_null(strstr(err.text, "README"));
	assert_int_equal(open_fails(temp_text("nothing", ""), &err), -ENOMSG);
	assert_non_null(strstr(err.text, "empty"));
	temp_mkdir("hollow");
	assert_int_equal(open_fails(temp_path("hollow"), &err), -ENOENT);
	assert_non_null(strstr(err.text, "has no file"));
}

static void test_unknown_importer(void **state)
{
	const char *path = temp_text("x.csv", CSV);
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_dataset_open(&path, 1, "nosuch", NULL, NULL, &ds, &err), -EINVAL);
	assert_non_null(strstr(err.text, "nosuch"));
}

/* A format that the user names holds for the files that the user names; in a directory a file must
 * look like it. */
static void test_named_importer(void **state)
{
	struct lp_dataset *ds = NULL;
	const char *path = temp_text("README", "hello\n");
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(lp_dataset_open(&path, 1, "csv", NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_n_files(ds), 1);
	lp_dataset_close(ds);
	temp_text("x.csv", CSV);
	path = temp_dir_path;
	assert_int_equal(lp_dataset_open(&path, 1, "csv", NULL, NULL, &ds, &err), 0);
	assert_int_equal(lp_dataset_n_files(ds), 1);
	assert_ends(lp_dataset_path(ds, 0), "/x.csv");
	lp_dataset_close(ds);
}

static void test_links_in_circles(void **state)
{
	const char *const twice[] = {temp_dir_path, temp_dir_path};
	struct lp_dataset *ds;

	(void)state;
	temp_mkdir("sub");
	temp_text("sub/x.csv", CSV);
	assert_int_equal(symlink("..", temp_path("sub/up")), 0);
	assert_int_equal(symlink("../sub", temp_path("sub/self")), 0);
	assert_int_equal(symlink("sub", temp_path("other")), 0);
	ds = open_paths(twice, 2, NULL);
	assert_int_equal(lp_dataset_n_files(ds), 1);
	lp_dataset_close(ds);
}

/* Counts batches and remembers what a reader saw. */
struct seen {
	unsigned files, batches, samples;
	int stop;
};

static int see(
	void *ctx, struct lp_source *source, const struct lp_batch *batch, struct lp_err *err)
{
	struct seen *s = ctx;

	(void)source;
	if (!batch) {
		s->files++;
		return 0;
	}
	s->batches++;
	s->samples += batch->n_samples - batch->carry;
	return s->stop ? lp_err_set(err, s->stop, "enough") : 0;
}

static void count_warning(void *ctx, const char *text)
{
	(void)text;
	++*(int *)ctx;
}

static void test_damaged_file_among_good_ones(void **state)
{
	int warnings = 0;
	struct lp_warn warn = {.warn = count_warning, .ctx = &warnings};
	const char *path = temp_dir_path;
	struct seen seen = {0};
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 5, 1);
	archive_rig_write_damaged(temp_path("b.lpa"), "b");
	archive_rig_write1(temp_path("c.lpa"), "c", 0, 7, 1);
	temp_text("d.lpa", "no archive at all");
	ds = open_paths(&path, 1, &warn);
	assert_int_equal(lp_dataset_n_files(ds), 4);
	assert_true(lp_dataset_read(ds, NULL, see, &seen, &err) < 0);
	assert_true(err.code < 0);
	assert_non_null(strstr(err.text, "b.lpa")); /* the first of them; the other is a warning */
	assert_true(warnings > 0);
	assert_in_range(seen.samples, 12, 411);
	assert_in_range(seen.files, 2, 3);
	lp_dataset_read(ds, NULL, see, &seen, &err);
	assert_int_equal(ds->n_failures, 2); /* each is remembered once, however often it is read */
	assert_non_null(strstr(ds->failures[0], "b.lpa"));
	assert_non_null(strstr(ds->failures[1], "d.lpa"));
	lp_dataset_close(ds);
}

static void test_damage_leaves_tables(void **state)
{
	struct lp_table_options opt = {0};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 5, 9);
	temp_text("b.lpa", "no archive at all");
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_tables(ds, &opt, &t.tables, &t.n, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "b.lpa"));
	assert_int_equal(t.n, 1);
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(2)) == 9);
	lp_dataset_close(ds);
}

static void test_observers(void **state)
{
	struct hosts hosts = {0};
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 5, 9);
	ds = open_path(temp_dir_path);
	assert_int_equal(dataset_hosts(ds, &hosts, &err), 0);
	assert_true(dataset_has_observer(ds, "a", 0, 0));
	assert_true(dataset_has_observer(ds, "a", T0, T0 + SEC(3)));
	assert_false(dataset_has_observer(ds, "b", 0, 0));
	assert_false(dataset_has_observer(ds, "a", T0 + SEC(9), 0));
	assert_false(dataset_has_observer(ds, "a", 0, T0 - SEC(9)));
	hosts_release(&hosts);
	lp_dataset_close(ds);
}

static void test_unreadable(void **state)
{
	struct seen seen = {0};
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	if (geteuid() == 0 && seteuid(65534) < 0)
		skip();
	if (geteuid() == 65534 && getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	archive_rig_write1(temp_path("b.lpa"), "b", 0, 5, 1);
	temp_text("a.csv", CSV);
	temp_mkdir("closed");
	assert_int_equal(chmod(temp_path("a.csv"), 0), 0);
	assert_int_equal(chmod(temp_path("closed"), 0), 0);
	assert_int_equal(chmod(temp_dir_path, 0755), 0);
	assert_int_equal(chmod(temp_path("b.lpa"), 0644), 0);
	if (getuid() == 0)
		assert_int_equal(seteuid(65534), 0);
	assert_int_equal(open_fails(temp_path("a.csv"), &err), -EACCES);
	assert_int_equal(open_fails(temp_path("closed"), &err), -EACCES);
	err = (struct lp_err){0};
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_n_files(ds), 1);
	assert_int_equal(lp_dataset_read(ds, NULL, see, &seen, &err), -EACCES);
	assert_non_null(strstr(err.text, "a.csv"));
	assert_int_equal(seen.samples, 5);
	lp_dataset_close(ds);
	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(temp_path("closed"), 0755), 0);
}

static void test_reader_may_stop(void **state)
{
	struct seen seen = {.stop = -ECANCELED};
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 5, 1);
	archive_rig_write1(temp_path("b.lpa"), "b", 0, 5, 1);
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_read(ds, NULL, see, &seen, &err), -ECANCELED);
	assert_string_equal(err.text, "enough");
	assert_int_equal(seen.batches, 1);
	lp_dataset_close(ds);
}

/* Yesterday's file and today's, and a CSV of another server. */
static void test_same_component_in_two_files(void **state)
{
	struct lp_table_options opt = {.metrics = (const char *[]){"rxbyt"}, .n_metrics = 1};
	_cleanup_(rig_tables_release) struct rig_tables t = {0};
	struct lp_dataset *ds;
	struct lp_err err = {0};

	(void)state;
	archive_rig_write1(temp_path("a-1.lpa"), "a", 0, 5, 10);
	archive_rig_write1(temp_path("a-2.lpa"), "a", 5, 5, 20);
	temp_text("x.csv",
		CSV "2011-03-13T07:06:41Z,b/net:eth0,rxbyt,5\n"
		    "2011-03-13T07:06:42Z,b/net:eth0,rxbyt,6\n"
		    "2011-03-13T07:06:43Z,b/net:eth0,rxbyt,7\n");
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_tables(ds, &opt, &t.tables, &t.n, &err), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.tables[0]->n_components, 2);
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(4)) == 10);
	assert_true(isnan(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(5))));
	assert_true(rig_value(t.tables[0], "a/net:eth0", T0 + SEC(6)) == 20);
	assert_true(rig_value(t.tables[0], "b/net:eth0", T0 + SEC(2)) == 6);
	lp_dataset_close(ds);
}

static void test_interval_is_the_longest(void **state)
{
	struct lp_dataset *ds;
	struct lp_err err = {0};
	int64_t interval = 0;

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 5, 10);
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_interval(ds, &interval, &err), 0);
	assert_int_equal(interval, US_PER_SEC);
	lp_dataset_close(ds);
	temp_text("x.csv",
		CSV "2011-03-13T07:00:00Z,b/net:eth0,rxbyt,5\n"
		    "2011-03-13T07:00:30Z,b/net:eth0,rxbyt,6\n"
		    "2011-03-13T07:01:00Z,b/net:eth0,rxbyt,7\n");
	ds = open_path(temp_dir_path);
	assert_int_equal(lp_dataset_interval(ds, &interval, &err), 0);
	assert_int_equal(interval, 30 * US_PER_SEC);
	lp_dataset_close(ds);
	lp_dataset_close(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_directory_in_order),
		TEST(test_named_files_must_be_known),
		TEST(test_unknown_importer),
		TEST(test_named_importer),
		TEST(test_links_in_circles),
		TEST(test_damaged_file_among_good_ones),
		TEST(test_damage_leaves_tables),
		TEST(test_observers),
		TEST(test_unreadable),
		TEST(test_reader_may_stop),
		TEST(test_same_component_in_two_files),
		TEST(test_interval_is_the_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
