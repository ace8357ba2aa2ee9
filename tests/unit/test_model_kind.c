#include "unit.h"

#include "model/identity.h"

static void test_rows(void **state)
{
	(void)state;
	assert_int_equal(kind_find("disk")->resource, RESOURCE_STORAGE);
	assert_int_equal(kind_find("OST")->resource, RESOURCE_STORAGE);
	assert_int_equal(kind_find("net")->peers_by, PEERS_BY_COMMON_NAME);
	assert_int_equal(kind_find("tcp")->peers_by, PEERS_BY_END);
	assert_int_equal(kind_find("function")->peers_by, PEERS_BY_NAME);
	assert_string_equal(kind_find("host")->apart, "cgroup");
	assert_true(kind_find("sys")->of_calls && kind_find("peer")->of_calls);
	assert_false(kind_find("disk")->of_calls);
}

/* A kind without a row has no special properties. */
static void test_other(void **state)
{
	const struct kind *k = kind_find("widget");

	(void)state;
	assert_ptr_equal(k, kind_find(""));
	assert_null(k->words);
	assert_null(k->apart);
	assert_int_equal(k->resource, RESOURCE_OTHER);
	assert_int_equal(k->peers_by, PEERS_BY_KIND);
	assert_false(k->by_role);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
