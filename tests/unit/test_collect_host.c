#include "collect_run.h"
#include <errno.h>

static void test_values(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "host", "kernel-6.1-nvme", 1);
	run_sample(&r);
	run_moment(&r, 3);
	run_sample(&r);
	run_assert_names(&r, "host");
	assert_int_equal(run_state(&r, "host", 0), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "host", 1), LP_PRESENT);
	assert_int_equal(
		run_value(&r, "host", "cpu_user", 1) - run_value(&r, "host", "cpu_user", 0), 200);
	assert_int_equal(run_value(&r, "host", "n_cpus", 1), 4);
	assert_int_equal(run_value(&r, "host", "mem_available_kb", 1), 8388608 - 2048);
	assert_int_equal(run_value(&r, "host", "load1_x100", 1), 125);
	assert_int_equal(run_value(&r, "host", "psi_cpu_some_us", 1), 1020000);
	assert_int_equal(run_value(&r, "host", "psi_mem_full_us", 1), 4000);
	assert_int_equal(run_value(&r, "host", "psi_io_some_us", 1), 7100000);
	assert_int_equal(run_value(&r, "host", "psi_io_full_us", 1), 3040000);
	run_close(&r);
}

static void test_old_kernel_lacks_columns(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "host", "kernel-2.6.32", 5);
	run_sample(&r);
	assert_int_equal(run_value(&r, "host", "cpu_steal", 0), 0);
	assert_int_equal(run_value(&r, "host", "mem_dirty_kb", 0), 8192);
	assert_true(run_value(&r, "host", "mem_available_kb", 0) == LP_MISSING);
	assert_true(run_value(&r, "host", "psi_io_full_us", 0) == LP_MISSING);
	run_close(&r);
}

static void test_one_file_is_enough(void **state)
{
	struct lp_err err = {0};
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	run_init(&r, "host", dir);
	assert_int_equal(r.collector->open(&r.config, &r.state, &err), -ENOENT);
	assert_null(r.state);
	tree_put(dir, "proc/loadavg", "1.00 2.00 3.00 1/2 3\n");
	run_sample(&r);
	assert_int_equal(run_value(&r, "host", "load15_x100", 0), 300);
	assert_true(run_value(&r, "host", "ctxt", 0) == LP_MISSING);
	tree_put(dir, "proc/loadavg", "rubbish\n");
	assert_int_equal(lp_batch_add_sample(r.sink.batch, 1, 1), 0);
	assert_int_equal(r.collector->sample(r.state, &r.sink, &err), -EIO);
	run_close(&r);
	tree_remove(dir);
}

static void test_reboot_is_fresh(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "proc/stat", "cpu  1 2 3 4 5 6 7 8\nctxt 1000\n");
	run_init(&r, "host", dir);
	run_sample(&r);
	tree_put(dir, "proc/stat", "cpu  1 2 3 4 5 6 7 8\nctxt 10\n");
	run_sample(&r);
	run_sample(&r);
	assert_int_equal(run_state(&r, "host", 1), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "host", 2), LP_PRESENT);
	run_close(&r);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_old_kernel_lacks_columns),
		cmocka_unit_test(test_one_file_is_enough),
		cmocka_unit_test(test_reboot_is_fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
