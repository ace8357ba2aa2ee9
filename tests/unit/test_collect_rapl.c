#include "collect_run.h"

static void test_values(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/class/powercap/intel-rapl:0/name", "package-0\n");
	tree_put(dir, "sys/class/powercap/intel-rapl:0/energy_uj", "123456789\n");
	tree_put(dir, "sys/class/powercap/intel-rapl:0:1/name", "dram\n");
	tree_put(dir, "sys/class/powercap/intel-rapl:0:1/energy_uj", "4711\n");
	run_init(&r, "rapl", dir);
	run_sample(&r);
	assert_int_equal(run_value(&r, "package-0", "energy_uj", 0), 123456789);
	assert_int_equal(run_value(&r, "package-0-dram", "energy_uj", 0), 4711);
	run_close(&r);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
