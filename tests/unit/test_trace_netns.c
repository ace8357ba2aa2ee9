#include "temp_dir.h"
#include "trace/netns.h"
#include <unistd.h>

static void test_own(void **state)
{
	uint64_t own = 0, same = 0;

	(void)state;
	assert_true(netns_of("/proc", 0, &own));
	assert_true(netns_of("/proc", getpid(), &same));
	assert_int_equal(own, same);
	assert_true(netns_holds("/proc", own, getpid()));
	assert_false(netns_holds("/proc", own + 1, getpid()));
}

static void test_nobody(void **state)
{
	uint64_t netns = 7;

	(void)state;
	assert_false(netns_of("/nowhere", 1, &netns));
	assert_int_equal(netns, 7);
	assert_false(netns_holds("/nowhere", 7, 1));
	assert_true(netns_holds("/nowhere", 0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own), cmocka_unit_test(test_nobody)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
