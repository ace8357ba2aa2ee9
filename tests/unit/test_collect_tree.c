/* Components that are directories, by way of the collectors of hardware, on recorded trees of two
 * kernels and on trees that change. */
#include "collect/tree.h"
#include "collect_run.h"
#include <unistd.h>

static int note(void *ctx, const struct tree_match *m)
{
	char *all = ctx;
	size_t len = strlen(all);

	snprintf(all + len, 256 - len, "%s,%s ", m->star[0], m->star[1]);
	return 0;
}

static void assert_walk(const char *dir, const char *pattern, const char *want)
{
	struct proc_root root = {.dir = dir};
	char found[256] = "";

	assert_int_equal(tree_walk(&root, pattern, note, found), 0);
	assert_string_equal(found, want);
}

static void test_walk(void **state)
{
	char dir[PATH_MAX];

	(void)state;
	tree_make(dir);
	tree_put(dir, "a/x1/p/f", "");
	tree_put(dir, "a/x2/p/f", "");
	tree_put(dir, "a/x2/q/f", "");
	tree_put(dir, "a/y1/p/g", "");
	assert_walk(dir, "/a/*/*/f", "x1,p x2,p x2,q ");
	assert_walk(dir, "/a/x*/p", "1, 2, ");
	assert_walk(dir, "/a/*1/p/*", "x,f y,g ");
	assert_walk(dir, "/a/x1/p/f", ", ");
	assert_walk(dir, "/b/*", "");
	assert_walk(dir, "/a/x1/p/f/*", "");
	tree_remove(dir);
}

static void test_path(void **state)
{
	struct tree_match m = {{"ab", "cd"}};
	char path[16];

	(void)state;
	assert_true(tree_path("/*/x*/*", &m, path, sizeof(path)));
	assert_string_equal(path, "/ab/xcd/cd");
	assert_false(tree_path("/0123456789abc*", &m, path, sizeof(path)));
}

static void run_both(struct run *r, const char *collector, const char *tree)
{
	run_init_tree(r, collector, tree, 1);
	run_sample(r);
	run_moment(r, 2);
	run_sample(r);
}

static void test_infiniband(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "ib", "field-4.18");
	run_assert_names(&r, "mlx4_0/1");
	/* The counter of 32 bits that stands at its end is not the one that counts. */
	assert_int_equal(run_value(&r, "mlx4_0/1", "rcv_words", 1), INT64_C(1000000250000));
	assert_int_equal(run_value(&r, "mlx4_0/1", "symbol_errors", 1), 3);
	assert_int_equal(run_value(&r, "mlx4_0/1", "xmit_wait", 1), LP_MISSING);
	assert_int_equal(run_value(&r, "mlx4_0/1", "rate_mbps", 1), 10000);
	assert_int_equal(run_value(&r, "mlx4_0/1", "width", 1), 1);
	run_assert_label(&r, "mlx4_0/1", "link_layer", "InfiniBand");
	run_close(&r);
	run_both(&r, "ib", "field-6.1");
	assert_int_equal(run_value(&r, "mlx5_0/1", "rcv_words", 1), INT64_C(1000000250000));
	assert_int_equal(run_value(&r, "mlx5_0/1", "seq_errors", 1), 5);
	assert_int_equal(run_value(&r, "mlx5_0/1", "active", 1), 0);
	run_close(&r);
}

static void ib_put(const char *dir, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "sys/class/infiniband/%s", file);
	tree_put(dir, path, text);
}

/* Drivers have names of their own in hw_counters, and some have no other counters. */
static void test_infiniband_drivers(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	ib_put(dir, "bnxt_re0/ports/1/counters/port_rcv_data", "1000\n");
	ib_put(dir, "bnxt_re0/ports/1/hw_counters/rx_bytes", "9999\n");
	ib_put(dir, "bnxt_re0/ports/1/hw_counters/seq_err_naks_rcvd", "3\n");
	ib_put(dir, "bnxt_re0/ports/1/hw_counters/to_retransmits", "4\n");
	ib_put(dir, "bnxt_re0/ports/1/hw_counters/rx_ecn_marked_pkts", "5\n");
	ib_put(dir, "efa_0/ports/1/hw_counters/rx_bytes", "4096\n");
	ib_put(dir, "efa_0/ports/1/hw_counters/tx_pkts", "12\n");
	ib_put(dir, "efa_0/ports/1/hw_counters/rx_drops", "2\n");
	ib_put(dir, "efa_0/ports/1/hw_counters/retrans_timeout_events", "1\n");
	ib_put(dir, "mlx4_1/ports/2/counters/port_rcv_data", "N/A (no PMA)\n");
	ib_put(dir, "mlx4_1/ports/2/state", "4: ACTIVE\n");
	run_init(&r, "ib", dir);
	run_sample(&r);
	run_assert_names(&r, "bnxt_re0/1 efa_0/1 mlx4_1/2");
	assert_int_equal(run_value(&r, "bnxt_re0/1", "rcv_words", 0), 1000);
	assert_int_equal(run_value(&r, "bnxt_re0/1", "seq_errors", 0), 3);
	assert_int_equal(run_value(&r, "bnxt_re0/1", "ack_timeouts", 0), 4);
	assert_int_equal(run_value(&r, "bnxt_re0/1", "ecn_marked", 0), 5);
	assert_int_equal(run_value(&r, "efa_0/1", "rcv_words", 0), 1024);
	assert_int_equal(run_value(&r, "efa_0/1", "xmit_words", 0), LP_MISSING);
	assert_int_equal(run_value(&r, "efa_0/1", "xmit_packets", 0), 12);
	assert_int_equal(run_value(&r, "efa_0/1", "out_of_buffer", 0), 2);
	assert_int_equal(run_value(&r, "efa_0/1", "ack_timeouts", 0), 1);
	assert_int_equal(run_value(&r, "mlx4_1/2", "rcv_words", 0), LP_MISSING);
	assert_int_equal(run_value(&r, "mlx4_1/2", "active", 0), 1);
	run_close(&r);
	tree_remove(dir);
}

static void test_drives(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "drive", "field-4.18");
	run_assert_names(&r, "sda sdb sdc");
	assert_int_equal(run_value(&r, "sda", "errors", 0), 0x1f);
	assert_int_equal(run_value(&r, "sda", "running", 0), 1);
	assert_int_equal(run_value(&r, "sdc", "running", 0), 0);
	run_assert_label(&r, "sda", "model", "ST4000NM0023");
	run_close(&r);
	run_both(&r, "drive", "field-6.1");
	assert_int_equal(run_value(&r, "nvme0n1", "pcie_lanes", 1), 1);
	assert_int_equal(run_value(&r, "nvme0n1", "pcie_max_lanes", 1), 4);
	assert_int_equal(run_value(&r, "nvme0n1", "pcie_mts", 1), 8000);
	assert_int_equal(run_value(&r, "nvme0n1", "pcie_max_mts", 1), 16000);
	assert_int_equal(run_value(&r, "sda", "sata_mbps", 1), 1500);
	assert_int_equal(run_value(&r, "sda", "sata_max_mbps", 1), 6000);
	run_assert_label(&r, "nvme0n1", "serial", "S1");
	run_close(&r);
}

static void test_arrays_and_paths(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "md", "field-4.18");
	assert_int_equal(run_value(&r, "md0", "action", 1), 2);
	assert_int_equal(run_value(&r, "md0", "degraded", 1), 1);
	assert_int_equal(run_value(&r, "md0", "done_permille", 1), 125);
	run_assert_label(&r, "md0", "members", "sda,sdb,sdc");
	run_assert_label(&r, "md0", "level", "raid6");
	run_close(&r);
	run_both(&r, "md", "field-6.1");
	assert_int_equal(run_value(&r, "md127", "action", 1), 3);
	assert_int_equal(run_value(&r, "md127", "done_permille", 1), LP_MISSING);
	run_close(&r);
	run_both(&r, "multipath", "field-6.1");
	/* What LVM has made is not multipath. */
	run_assert_names(&r, "mpatha/sdb mpatha/sdc");
	assert_int_equal(run_value(&r, "mpatha/sdb", "running", 0), 1);
	assert_int_equal(run_value(&r, "mpatha/sdc", "running", 0), 0);
	run_close(&r);
}

static void test_zfs(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "zfs", "field-4.18");
	assert_int_equal(run_value(&r, "tank", "rd_bytes", 1), 4096 * 101);
	assert_int_equal(run_value(&r, "tank", "online", 1), LP_MISSING);
	run_close(&r);
	run_both(&r, "zfs", "field-6.1");
	run_assert_names(&r, "pool2 tank");
	assert_int_equal(run_value(&r, "tank", "online", 0), 1);
	assert_int_equal(run_value(&r, "tank", "online", 1), 0);
	run_close(&r);
	run_both(&r, "zfs_dataset", "field-6.1");
	run_assert_names(&r, "tank tank/home");
	assert_int_equal(run_value(&r, "tank/home", "wr_bytes", 1), 2 * 11 * 4096);
	run_close(&r);
}

static void test_sensors(void **state)
{
	struct run r;

	(void)state;
	run_both(&r, "hwmon", "field-4.18");
	run_assert_names(&r, "coretemp-coretemp.0-temp1");
	run_assert_label(&r, "coretemp-coretemp.0-temp1", "label", "Package_id_0");
	run_close(&r);
	run_both(&r, "hwmon", "field-6.1");
	assert_int_equal(run_value(&r, "nvme-nvme0-temp1", "milli_c", 1), 85000);
	assert_int_equal(run_value(&r, "nvme-nvme0-temp1", "alarm", 1), 1);
	assert_int_equal(run_value(&r, "acpitz-hwmon3-temp1", "milli_c", 1), -5000);
	run_close(&r);
}

/* A link to the device that has no name of its own: "../..". */
static void test_sensor_of_a_parent(void **state)
{
	char dir[PATH_MAX], path[PATH_MAX + 64];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/devices/phy7/hwmon/hwmon4/name", "mt7996\n");
	tree_put(dir, "sys/devices/phy7/hwmon/hwmon4/temp1_input", "57000\n");
	tree_put(dir, "sys/class/hwmon/placeholder", "");
	snprintf(path, sizeof(path), "%s/sys/devices/phy7/hwmon/hwmon4/device", dir);
	assert_int_equal(symlink("../..", path), 0);
	snprintf(path, sizeof(path), "%s/sys/class/hwmon/hwmon4", dir);
	assert_int_equal(symlink("../../devices/phy7/hwmon/hwmon4", path), 0);
	run_init(&r, "hwmon", dir);
	run_sample(&r);
	run_assert_names(&r, "mt7996-phy7-temp1");
	run_close(&r);
	tree_remove(dir);
}

/* What is read now and then stands in between; directories that come and go are noticed within
 * half a minute. */
static void test_time(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/block/md0/md/sync_action", "idle\n");
	tree_put(dir, "sys/block/md0/md/sync_speed", "100\n");
	run_init(&r, "md", dir);
	run_sample(&r);
	tree_put(dir, "sys/block/md0/md/sync_action", "check\n");
	tree_put(dir, "sys/block/md0/md/sync_speed", "200\n");
	tree_put(dir, "sys/block/md1/md/sync_action", "idle\n");
	for (int i = 1; i <= 31; i++)
		run_sample(&r);
	assert_int_equal(run_value(&r, "md0", "action", 1), 3);
	assert_int_equal(run_value(&r, "md0", "speed_kbps", 1), 100);
	assert_int_equal(run_value(&r, "md0", "speed_kbps", 9), 100);
	assert_int_equal(run_value(&r, "md0", "speed_kbps", 10), 200);
	assert_int_equal(run_state(&r, "md1", 29), LP_ABSENT);
	assert_int_equal(run_state(&r, "md1", 30), LP_PRESENT | LP_FRESH);
	run_close(&r);
	tree_remove(dir);
}

static void test_nothing_there(void **state)
{
	static const char *const names[] = {"ib", "drive", "md", "multipath", "zfs", "zfs_dataset",
		"hwmon", "lustre_ost", "lustre_mdt", "lustre_osc", "lustre_jobs", "lnet"};
	char dir[PATH_MAX];

	(void)state;
	tree_make(dir);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct lp_err err = {0};
		struct run r;

		run_init(&r, names[i], dir);
		assert_int_equal(r.collector->open(&r.config, &r.state, &err), -ENOENT);
		assert_true(r.collector->if_present);
		run_close(&r);
	}
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_infiniband),
		cmocka_unit_test(test_infiniband_drivers),
		cmocka_unit_test(test_drives),
		cmocka_unit_test(test_arrays_and_paths),
		cmocka_unit_test(test_zfs),
		cmocka_unit_test(test_sensors),
		cmocka_unit_test(test_sensor_of_a_parent),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_nothing_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
