#include "unit.h"

#include "identity_rig.h"
#include "model/topology_table.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct pattern pattern; /* fs{server}/disk:{lun} */

static int setup(void **state)
{
	(void)state;
	return pattern_compile("fs{server}/disk:{lun}", &pattern, NULL);
}

static int teardown(void **state)
{
	(void)state;
	pattern_release(&pattern);
	return 0;
}

static void check(const struct topology_table *t, const char *component, const char *attribute,
	const char *value)
{
	struct pattern_match m;
	const char *got;

	assert_true(pattern_matches(&pattern, component, strlen(component), &m));
	got = topology_table_get(t, attribute, identity_of(component), &m);
	if (value)
		assert_string_equal(got ? got : "(none)", value);
	else
		assert_null(got);
}

static void test_lookup(void **state)
{
	static const char text[] = "\n# who serves what\nlun, server ,priority,pool\r\n"
				   "7,1,1,a\r\n 007 ,2,2,\n\n9,x,,b\n8,1,3,c d";
	struct topology_table *t = NULL;
	struct lp_err err = {0};

	(void)state;
	if (topology_table_parse(text, strlen(text), "t.csv", &pattern, &t, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(t->n_rows, 4);
	assert_int_equal(t->n_attributes, 2);
	check(t, "fs1/disk:7", "priority", "1");
	check(t, "fs01/disk:07", "pool", "a");
	check(t, "fs2/disk:7", "priority", "2");
	check(t, "fs2/disk:7", "pool", NULL);
	check(t, "fsx/disk:9", "priority", NULL);
	check(t, "fsx/disk:9", "pool", "b");
	check(t, "fs1/disk:8", "pool", "c d");
	check(t, "fs1/disk:9", "pool", NULL);
	check(t, "fs1/disk:7", "lun", NULL); /* a key is no attribute */
	topology_table_free(t);
}

static void check_error(const char *text, size_t len, const char *expected)
{
	struct topology_table *t = NULL;
	struct lp_err err = {0};

	assert_int_equal(topology_table_parse(text, len, "t.csv", &pattern, &t, &err), -EINVAL);
	assert_string_equal(err.text, expected);
	assert_null(t);
}

#define CHECK_ERROR(text, expected) check_error(text, sizeof(text) - 1, expected)

static void test_errors(void **state)
{
	(void)state;
	CHECK_ERROR("", "t.csv: the table is empty");
	CHECK_ERROR("# only\n\n", "t.csv: the table is empty");
	CHECK_ERROR("a,b\n",
		"t.csv:1: no column says which components a line is about: "
		"'component', or a capture of the rule's match");
	CHECK_ERROR("\nlun,server\n", "t.csv:2: no column is an attribute");
	CHECK_ERROR("lun,a,lun\n", "t.csv:1: column 'lun' is given twice");
	CHECK_ERROR("lun,,a\n",
		"t.csv:1: column 2 is called '', which is not a name (letters, digits, - and _)");
	CHECK_ERROR("lun,a\n1,2\n3\n", "t.csv:3: 1 fields where the first line has 2");
	CHECK_ERROR("lun,a\n1,\"2\"\n", "t.csv:2: fields have no quotes here");
	CHECK_ERROR("lun,a\n1,2\n01,3\n", "t.csv:3: an earlier line has the same key");
	CHECK_ERROR("lun,a\n1,\0\n", "t.csv: byte 9 is 0: this is not text");
}

static void test_read(void **state)
{
	struct topology_table *t = NULL;
	struct lp_err err = {0};

	(void)state;
	assert_int_equal(topology_table_read("/nowhere/t.csv", &pattern, &t, &err), -ENOENT);
	assert_null(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
