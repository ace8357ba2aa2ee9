#include "base/array.h"
#include "import/csv_template.h"
#include "unit.h"
#include <errno.h>
#include <string.h>

static struct csv_field field(const char *text)
{
	return (struct csv_field){.text = (char *)text, .len = strlen(text)};
}

static void expands_to(const char *template, const char *path, const char *want)
{
	struct csv_field names[] = {field("ts"), field("host"), field("disk id")};
	struct csv_field row[] = {field("17"), field("oss3"), field("sdb")};
	struct lp_err err = {0};
	struct csv_header h;
	struct csv_template t;
	struct strbuf name = {0};

	assert_int_equal(csv_header_init(&h, names, ARRAY_SIZE(names)), 0);
	assert_int_equal(csv_template_compile(&t, template, path, &h, &err), 0);
	csv_template_expand(&t, row, &name);
	assert_string_equal(name.text ? name.text : "", want);
	strbuf_release(&name);
	csv_template_release(&t);
	csv_header_release(&h);
}

static void test_columns(void **state)
{
	(void)state;
	expands_to("{host}/disk:{disk id}", "x.csv", "oss3/disk:sdb");
	expands_to("{HOST}/disk:{Disk ID}", "x.csv", "oss3/disk:sdb");
	expands_to("a/b:c", "x.csv", "a/b:c");
	expands_to("{host}{host}", "x.csv", "oss3oss3");
}

static void test_path(void **state)
{
	(void)state;
	expands_to("{dir}/disk:{file}", "/data/A/host_1/2022-07-20.csv", "host_1/disk:2022-07-20");
	expands_to("{dir2}-{dir}/x:y", "A/host_1/2022-07-20.csv", "A-host_1/x:y");
	expands_to("{dir}", "A//host_1//x.csv", "host_1");
	expands_to("{file}", "/data/x.log.CSV", "x");
	expands_to("{file}", "/data/10.0.0.1.csv", "10.0.0.1");
	expands_to("{file}", "/data/10.0.0.2", "10.0.0.2");
	expands_to("{file}", "/data/.csv", ".csv");
	expands_to("{dir}", "/tmp/../tmp", "root");
	expands_to("{dir}", "/proc/./self", "proc");
	expands_to("{dir2}", "/proc/sys/./kernel", "proc");
}

static void fails_with(const char *template, const char *want)
{
	struct csv_field names[] = {field("ts"), field("host"), field("x"), field("x")};
	struct lp_err err = {0};
	struct csv_header h;
	struct csv_template t;

	assert_int_equal(csv_header_init(&h, names, ARRAY_SIZE(names)), 0);
	assert_int_equal(csv_template_compile(&t, template, "x.csv", &h, &err), -EINVAL);
	if (!strstr(err.text, want))
		fail_msg("'%s' does not say '%s'", err.text, want);
	csv_template_release(&t);
	csv_header_release(&h);
}

static void test_errors(void **state)
{
	(void)state;
	fails_with("{node}/disk:x", "no column is called 'node'; there are: ts, host, x, x");
	fails_with("{x}/disk:x", "2 columns are called 'x'");
	fails_with("{host/disk:x", "brace at character 1");
	fails_with("host}/disk:x", "brace at character 5");
	fails_with("a{}", "brace at character 2");
	fails_with("{a{host}}", "brace at character 1");
}

static void test_key(void **state)
{
	struct csv_field names[] = {field("a"), field("b")};
	struct csv_field one[] = {field("1"), field("23")}, two[] = {field("12"), field("3")};
	struct lp_err err = {0};
	struct csv_header h;
	struct csv_template t;
	struct strbuf x = {0}, y = {0};
	struct csv_field p, q;

	(void)state;
	assert_int_equal(csv_header_init(&h, names, ARRAY_SIZE(names)), 0);
	assert_int_equal(csv_template_compile(&t, "h/d:{b}", "x.csv", &h, &err), 0);
	p = csv_template_key(&t, one, &x);
	assert_ptr_equal(p.text, one[1].text); /* nothing is copied */
	csv_template_release(&t);
	assert_int_equal(csv_template_compile(&t, "{a}/d:{b}", "x.csv", &h, &err), 0);
	p = csv_template_key(&t, one, &x);
	q = csv_template_key(&t, two, &y);
	assert_true(p.len != q.len || memcmp(p.text, q.text, p.len));
	csv_template_release(&t);
	csv_header_release(&h);
	strbuf_release(&x);
	strbuf_release(&y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
