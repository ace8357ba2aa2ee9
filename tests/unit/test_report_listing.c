#include "report/listing.h"

#include "archive_rig.h"
#include "printed.h"
#include "temp_dir.h"
#include <errno.h>
#include <jansson.h>

static int make(const struct lp_table_options *range, struct listing *ret)
{
	const char *path = temp_dir_path;
	struct lp_dataset *ds = NULL;
	struct lp_err err = {0};
	int r;

	assert_int_equal(lp_dataset_open(&path, 1, NULL, NULL, NULL, &ds, &err), 0);
	r = listing_make(ds, range, ret, &err);
	lp_dataset_close(ds);
	return r;
}

static char *text_of(const struct listing *l)
{
	struct printed p;

	listing_print_text(printed_begin(&p), l, false);
	return printed_end(&p);
}

static void test_gaps_steps_and_events(void **state)
{
	/* A minute's gap, then the clock is set back by ten seconds. */
	static const struct archive_rig_span spans[] = {{0, 10}, {70, 10}, {69, 5}};
	struct lp_table_options all = {0};
	_cleanup_(listing_release) struct listing l = {0};
	_cleanup_free_ char *text = NULL;

	(void)state;
	archive_rig_write(temp_path("a.lpa"), "a", 10, spans, 3, "kind=clock-step \033[2J");
	assert_int_equal(make(&all, &l), 0);
	assert_int_equal(l.n_files, 1);
	assert_true(l.bytes > 0);
	assert_int_equal(l.n_observers, 1);
	assert_int_equal(l.observers[0].n_samples, 25);
	assert_int_equal(l.observers[0].first_us, T0);
	assert_int_equal(l.observers[0].last_us, T0 + SEC(79));
	assert_int_equal(l.observers[0].n_gaps, 1);
	assert_int_equal(l.observers[0].gaps[0].from_us, T0 + SEC(9));
	assert_int_equal(l.observers[0].gaps[0].to_us, T0 + SEC(70));
	assert_int_equal(l.observers[0].n_back, 1);
	assert_int_equal(l.observers[0].n_events, 1);
	assert_int_equal(l.components[0].n_samples, 25);
	/* The mean is over all of it, whatever the clock did. */
	assert_int_equal(l.n_means, 1);
	assert_true(l.mean_values[0] == 10);
	text = text_of(&l);
	assert_non_null(strstr(
		text, "gap: nothing between 2011-03-13T07:06:49Z and 2011-03-13T07:07:50Z (61s)"));
	assert_non_null(strstr(text, "stepped back 1 time:"));
	assert_non_null(strstr(text, "kind=clock-step ?[2J\n"));
	assert_null(strchr(text, '\033'));
}

static void values_write(const char *path, const char *component)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs("time,component,metric,value\n", f);
	for (int i = 0; i < 20; i++)
		fprintf(f, "%d,%s,x,%d\n", 1700000000 + i, component, i);
	assert_int_equal(fclose(f), 0);
}

/* Disks and interfaces of a host in two files, as collectl -P writes them. */
static void test_files_of_the_same_time(void **state)
{
	struct lp_table_options all = {0};
	_cleanup_(listing_release) struct listing l = {0};

	(void)state;
	values_write(temp_path("a.csv"), "h/disk:sda");
	values_write(temp_path("b.csv"), "h/net:eth0");
	assert_int_equal(make(&all, &l), 0);
	assert_int_equal(l.n_files, 2);
	assert_int_equal(l.n_components, 2);
	assert_int_equal(l.n_observers, 1);
	assert_int_equal(l.observers[0].n_samples, 20);
	assert_int_equal(l.observers[0].n_back, 0);
	assert_int_equal(l.observers[0].n_gaps, 0);
}

static void test_many_gaps_are_counted(void **state)
{
	struct archive_rig_span spans[30];
	struct lp_table_options all = {0};
	_cleanup_(listing_release) struct listing l = {0};
	_cleanup_free_ char *text = NULL;

	(void)state;
	for (int i = 0; i < 30; i++)
		spans[i] = (struct archive_rig_span){i * 100, 2};
	archive_rig_write(temp_path("a.lpa"), "a", 10, spans, 30, NULL);
	assert_int_equal(make(&all, &l), 0);
	assert_int_equal(l.observers[0].n_gaps, 29);
	text = text_of(&l);
	assert_non_null(strstr(text, "and 9 more gaps\n"));
}

static void test_several_files_and_observers(void **state)
{
	struct lp_table_options all = {0};
	_cleanup_(listing_release) struct listing l = {0};
	_cleanup_free_ char *text = NULL;

	(void)state;
	archive_rig_write1(temp_path("a-1.lpa"), "a", 0, 5, 10);
	archive_rig_write1(temp_path("a-2.lpa"), "a", 5, 5, 30);
	archive_rig_write1(temp_path("b.lpa"), "b", 100, 5, 7);
	temp_text("c.csv",
		"time,component,metric,value\n"
		"2011-03-13T07:06:40Z,c/disk:sda,lat,1\n"
		"2011-03-13T07:06:41Z,c/disk:sda,lat,2\n"
		"2011-03-13T07:06:41Z,c/net:eth0,rxbyt,3\n");
	assert_int_equal(make(&all, &l), 0);
	assert_int_equal(l.n_files, 4);
	assert_int_equal(l.n_observers, 3);
	assert_int_equal(l.n_components, 4);
	assert_int_equal(l.n_kinds, 2);
	assert_int_equal(l.observers[0].n_samples, 10);
	assert_int_equal(l.observers[0].n_gaps, 0);
	text = text_of(&l);
	assert_non_null(strstr(text, "4 files, "));
	assert_non_null(strstr(text,
		"net         samples  rxbyt\n"
		"a/net:eth0       10     20\n"
		"b/net:eth0        5      7\n"
		"c/net:eth0        1      3\n"));
	assert_non_null(strstr(text, "disk        samples   lat\nc/disk:sda        2  1.50\n"));
	assert_non_null(strstr(text, "\nmetrics of net: rxbyt\n"));
	assert_non_null(strstr(text, "\nmetrics of disk: lat\n"));
}

static void test_selection(void **state)
{
	static const char *const globs[] = {"b/*"};
	struct lp_table_options some = {.components = globs,
		.n_components = 1,
		.from_us = T0 + SEC(2),
		.to_us = T0 + SEC(5)};
	_cleanup_(listing_release) struct listing l = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 9, 10);
	archive_rig_write1(temp_path("b.lpa"), "b", 0, 9, 7);
	assert_int_equal(make(&some, &l), 0);
	assert_int_equal(l.n_components, 1);
	assert_string_equal(l.components[0].name, "b/net:eth0");
	assert_int_equal(l.components[0].n_samples, 3);
	assert_int_equal(l.components[0].first_us, T0 + SEC(2));
	assert_int_equal(l.components[0].last_us, T0 + SEC(4));
	assert_true(l.mean_values[0] == 7);
}

static void test_json(void **state)
{
	static const struct archive_rig_span spans[] = {{0, 3}, {70, 3}};
	struct lp_table_options all = {0};
	_cleanup_(listing_release) struct listing l = {0};
	_cleanup_free_ char *text = NULL;
	struct printed p;
	json_t *root, *o, *c;

	(void)state;
	archive_rig_write(temp_path("a.lpa"), "a \"1\"", 10, spans, 2, "kind=x");
	assert_int_equal(make(&all, &l), 0);
	listing_print_json(printed_begin(&p), &l);
	text = printed_end(&p);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	assert_int_equal(json_integer_value(json_object_get(root, "files")), 1);
	o = json_array_get(json_object_get(root, "observers"), 0);
	assert_string_equal(json_string_value(json_object_get(o, "name")), "a \"1\"");
	assert_int_equal(json_integer_value(json_object_get(o, "samples")), 6);
	assert_int_equal(json_integer_value(json_object_get(o, "n_gaps")), 1);
	assert_string_equal(json_string_value(json_object_get(o, "last")), "2011-03-13T07:07:52Z");
	assert_int_equal(json_array_size(json_object_get(o, "gaps")), 1);
	assert_int_equal(json_array_size(json_object_get(o, "events")), 1);
	c = json_array_get(json_object_get(root, "components"), 0);
	assert_string_equal(json_string_value(json_object_get(c, "component")), "a \"1\"/net:eth0");
	assert_string_equal(json_string_value(json_object_get(c, "kind")), "net");
	assert_true(json_number_value(json_object_get(json_object_get(c, "means"), "rxbyt")) == 10);
	c = json_array_get(json_object_get(root, "metrics"), 0);
	assert_string_equal(json_string_value(json_object_get(c, "kind")), "net");
	assert_string_equal(json_string_value(json_object_get(c, "name")), "rxbyt");
	json_decref(root);
}

static void test_damage(void **state)
{
	struct lp_table_options all = {0};
	_cleanup_(listing_release) struct listing l = {0};

	(void)state;
	archive_rig_write1(temp_path("a.lpa"), "a", 0, 9, 10);
	temp_text("b.lpa", "no archive");
	assert_int_equal(make(&all, &l), -EBADMSG);
	assert_int_equal(l.n_components, 1);
	assert_true(l.mean_values[0] == 10);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_dir_setup, temp_dir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_gaps_steps_and_events),
		TEST(test_files_of_the_same_time),
		TEST(test_many_gaps_are_counted),
		TEST(test_several_files_and_observers),
		TEST(test_selection),
		TEST(test_json),
		TEST(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
