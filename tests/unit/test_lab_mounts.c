#include "unit.h"

#include "lab/mounts.h"

static void finds_what_is_mounted(void **state)
{
	struct lp_err err = {0};

	(void)state;
	assert_true(mounts_has("/proc"));
	assert_false(mounts_has("/pro"));
	assert_false(mounts_has("/proc/self"));
	assert_false(mounts_has("/no/such/path"));
	/* Neither "/proc" nor anything else that only begins like it is touched. */
	assert_int_equal(mounts_remove("/pro", &err), 0);
	assert_true(mounts_has("/proc"));
}

static void knows_what_can_be_written_to(void **state)
{
	(void)state;
	assert_false(mounts_read_only("/proc"));
	assert_false(mounts_read_only("/no/such/path"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_is_mounted),
		cmocka_unit_test(knows_what_can_be_written_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
