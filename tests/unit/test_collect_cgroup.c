#include "collect_run.h"
#include <errno.h>

#define GROUP "/sys/fs/cgroup/cpu/s1"

static const char proc_stat[] = "cpu  1 2 3 4 5 6 7 8\ncpu0 1 2 3 4\ncpu1 1 2 3 4\n";

static void put_v1(const char *dir, const char *throttled, const char *user, const char *system)
{
	tree_put(dir, "sys/fs/cgroup/cpu/s1/cpu.stat", throttled);
	tree_put(dir, "sys/fs/cgroup/cpuacct/s1/cpuacct.usage_user", user);
	tree_put(dir, "sys/fs/cgroup/cpuacct/s1/cpuacct.usage_sys", system);
}

static void test_v1_beside(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "proc/stat", proc_stat);
	put_v1(dir, "nr_periods 1\nnr_throttled 1\nthrottled_time 5000000\n", "1000000000\n",
		"500000000\n");
	run_init(&r, "cgroup", dir);
	r.config.cgroup = GROUP;
	run_sample(&r);
	/* In the second that follows: 0.3 s and 0.2 s of two processors, throttled for 0.25 s. */
	put_v1(dir, "nr_throttled 9\nthrottled_time 255000000\n", "1300000000\n", "700000000\n");
	run_sample(&r);
	run_assert_names(&r, "cgroup");
	assert_int_equal(run_state(&r, "cgroup", 0), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "cgroup", 1), LP_PRESENT);
	assert_int_equal(run_value(&r, "cgroup", "cpu_user", 1), 1300000);
	assert_int_equal(run_value(&r, "cgroup", "cpu_system", 1), 700000);
	assert_int_equal(run_value(&r, "cgroup", "n_cpus", 1), 2);
	assert_int_equal(
		run_value(&r, "cgroup", "cpu_idle", 1) - run_value(&r, "cgroup", "cpu_idle", 0),
		1500000);
	assert_int_equal(run_value(&r, "cgroup", "psi_cpu_some_us", 1) -
			run_value(&r, "cgroup", "psi_cpu_some_us", 0),
		250000);
	assert_true(run_value(&r, "cgroup", "psi_io_some_us", 1) == LP_MISSING);
	/* Throttled on both processors at once is one second of stall, not two. */
	put_v1(dir, "throttled_time 2255000000\n", "1300000000\n", "700000000\n");
	run_sample(&r);
	assert_int_equal(run_value(&r, "cgroup", "psi_cpu_some_us", 2) -
			run_value(&r, "cgroup", "psi_cpu_some_us", 1),
		1000000);
	run_close(&r);
	tree_remove(dir);
}

static void test_v1_together(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/fs/cgroup/cpu,cpuacct/s1/cpu.stat", "throttled_time 0\nwait_sum 7000\n");
	tree_put(dir, "sys/fs/cgroup/cpu,cpuacct/s1/cpuacct.usage_user", "2000\n");
	tree_put(dir, "sys/fs/cgroup/cpu,cpuacct/s1/cpuacct.usage_sys", "3000\n");
	run_init(&r, "cgroup", dir);
	r.config.cgroup = "/sys/fs/cgroup/cpu,cpuacct/s1";
	run_sample(&r);
	assert_int_equal(run_value(&r, "cgroup", "cpu_user", 0), 2);
	assert_int_equal(run_value(&r, "cgroup", "cpu_system", 0), 3);
	assert_int_equal(run_value(&r, "cgroup", "n_cpus", 0), 1);
	run_close(&r);
	tree_remove(dir);
}

static void test_v2(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "proc/stat", proc_stat);
	tree_put(dir, "sys/fs/cgroup/s1/cpu.stat",
		"usage_usec 300\nuser_usec 100\nsystem_usec 200\nthrottled_usec 9\n");
	tree_put(dir, "sys/fs/cgroup/s1/cpu.pressure",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=5000\n");
	tree_put(dir, "sys/fs/cgroup/s1/io.pressure",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n"
		"full avg10=0.00 avg60=0.00 avg300=0.00 total=66\n");
	run_init(&r, "cgroup", dir);
	r.config.cgroup = "/sys/fs/cgroup/s1";
	run_sample(&r);
	tree_put(dir, "sys/fs/cgroup/s1/cpu.pressure",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=6500\n");
	run_sample(&r);
	assert_int_equal(run_value(&r, "cgroup", "cpu_user", 1), 100);
	assert_int_equal(run_value(&r, "cgroup", "cpu_system", 1), 200);
	assert_int_equal(run_value(&r, "cgroup", "psi_io_some_us", 1), 77);
	assert_int_equal(run_value(&r, "cgroup", "psi_cpu_some_us", 1) -
			run_value(&r, "cgroup", "psi_cpu_some_us", 0),
		1500);
	assert_int_equal(run_value(&r, "cgroup", "cpu_idle", 1), 2000000);
	run_close(&r);
	tree_remove(dir);
}

static void test_bad_groups(void **state)
{
	struct lp_err err = {0};
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	run_init(&r, "cgroup", dir);
	assert_int_equal(r.collector->open(&r.config, &r.state, &err), -EINVAL);
	r.config.cgroup = GROUP;
	assert_int_equal(r.collector->open(&r.config, &r.state, &err), -EINVAL);
	assert_non_null(strstr(err.text, "cpu.stat is not there"));
	tree_put(dir, "sys/fs/cgroup/cpu/s1/cpu.stat", "rubbish\n");
	assert_int_equal(r.collector->open(&r.config, &r.state, &err), 0);
	assert_int_equal(lp_batch_add_sample(r.sink.batch, 1, 1), 0);
	assert_int_equal(r.collector->sample(r.state, &r.sink, &err), -EBADMSG);
	run_close(&r);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v1_beside),
		cmocka_unit_test(test_v1_together),
		cmocka_unit_test(test_v2),
		cmocka_unit_test(test_bad_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
