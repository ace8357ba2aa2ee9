#include "base/strbuf.h"
#include "collect_run.h"
#include <errno.h>

static void assert_recorded(const char *tree, bool partitions, bool loops, const char *const *globs,
	unsigned n_globs, const char *want)
{
	struct run r;

	run_init_tree(&r, "diskstats", tree, 1);
	r.config.partitions = partitions;
	r.config.loops = loops;
	r.config.disks = globs;
	r.config.n_disks = n_globs;
	run_sample(&r);
	run_assert_names(&r, want);
	run_close(&r);
}

static void test_which_devices(void **state)
{
	const char *named[] = {"sda1", "loop0", "sr0"}, *but[] = {"!sd[bc]"};
	const char *pattern[] = {"sd*"};

	(void)state;
	assert_recorded("kernel-2.6.32", false, false, NULL, 0, "sda sdb sdc sdd cciss/c0d0");
	assert_recorded("kernel-4.18", false, false, NULL, 0, "sda sdb sdc dm-0");
	assert_recorded("kernel-4.18", true, false, NULL, 0, "sda sda1 sdb sdc dm-0");
	assert_recorded(
		"kernel-2.6.32", false, true, NULL, 0, "ram0 ram1 sda sdb sdc sdd cciss/c0d0");
	assert_recorded("kernel-4.18", false, false, named, 3, "sda1 sr0 loop0");
	assert_recorded("kernel-4.18", false, false, but, 1, "sda dm-0");
	assert_recorded("kernel-4.18", false, false, pattern, 1, "sda sdb sdc");
	assert_recorded("kernel-4.18", true, false, pattern, 1, "sda sda1 sdb sdc");
	assert_recorded("kernel-6.1-nvme", true, false, NULL, 0,
		"nvme0n1 nvme0n1p1 nvme1n1 nvme1c1n1 nvme1c2n1 sda sdb sdb1");
}

static void test_columns_of_old_kernels(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "diskstats", "kernel-2.6.32", 2);
	run_sample(&r);
	assert_int_equal(run_value(&r, "sdb", "rd_ios", 0), 1002100);
	assert_int_equal(run_value(&r, "sdb", "in_flight", 0), 8);
	assert_int_equal(run_value(&r, "sdb", "rq_ticks", 0), 12010000);
	assert_true(run_value(&r, "sdb", "dc_ios", 0) == LP_MISSING);
	assert_true(run_value(&r, "sdb", "fl_ticks", 0) == LP_MISSING);
	run_close(&r);
	run_init_tree(&r, "diskstats", "kernel-4.18", 2);
	run_sample(&r);
	assert_int_equal(run_value(&r, "sdc", "dc_sec", 0), 6144000 + 3 * 2048 + 20480);
	assert_true(run_value(&r, "sdc", "fl_ios", 0) == LP_MISSING);
	run_close(&r);
	run_init_tree(&r, "diskstats", "kernel-6.1-nvme", 2);
	run_sample(&r);
	assert_int_equal(run_value(&r, "nvme0n1", "fl_ios", 0), 706);
	assert_int_equal(run_value(&r, "nvme0n1", "fl_ticks", 0), 1411);
	run_close(&r);
}

static void test_labels(void **state)
{
	struct run r;

	(void)state;
	run_init_tree(&r, "diskstats", "multipath", 3);
	run_sample(&r);
	run_assert_label(&r, "dm-1", "devno", "253:1");
	run_assert_label(&r, "dm-1", "dm", "mpathb");
	run_assert_label(&r, "dm-1", "mpath", "360001ff0000000000000000000000002");
	run_assert_label(&r, "dm-1", "stable", "mpathb");
	run_assert_label(&r, "sdf", "stable", "naa.60001ff0000000000000000000000002");
	run_assert_label(&r, "sdf", "model", "DDN_SFA14KX");
	run_assert_label(&r, "sdf", "dm", NULL);
	run_close(&r);
}

static void test_vanish_and_return(void **state)
{
	static const unsigned sdc[] = {
		LP_PRESENT | LP_FRESH, LP_PRESENT, LP_ABSENT, LP_ABSENT, LP_PRESENT | LP_FRESH};
	struct run r;

	(void)state;
	run_init_tree(&r, "diskstats", "vanish", 1);
	run_all_moments(&r);
	run_assert_names(&r, "sda sdb sdc sdd");
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(run_state(&r, "sdc", i), sdc[i]);
		/* The others move to other lines and go on. */
		assert_int_equal(run_state(&r, "sdd", i), i ? LP_PRESENT : LP_PRESENT | LP_FRESH);
		assert_int_equal(run_value(&r, "sdd", "rd_ios", i), 1004000 + 100 * i);
	}
	assert_int_equal(run_value(&r, "sdb", "rd_ticks", 1), 4294967195);
	assert_int_equal(run_value(&r, "sdb", "rd_ticks", 2), 199);
	assert_int_equal(run_state(&r, "sdb", 2), LP_PRESENT);
	run_assert_label(&r, "sdc", "wwid", "naa.5000cca200000099");
	run_close(&r);
}

#define LINE " 5 6 7 8 0 10 11 12 13 14 15 16 17\n"

static void put_diskstats(const char *dir, const char *text)
{
	tree_put(dir, "proc/diskstats", text);
}

static void test_same_name_other_device(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	put_diskstats(dir, "8 0 sda 100 2 3 4" LINE "8 16 sdb 100 2 3 4" LINE);
	run_init(&r, "diskstats", dir);
	run_sample(&r);
	put_diskstats(dir, "8 0 sda 101 2 3 4" LINE "8 32 sdb 101 2 3 4" LINE);
	run_sample(&r); /* sdb has another number */
	assert_int_equal(run_state(&r, "sda", 1), LP_PRESENT);
	assert_int_equal(run_state(&r, "sdb", 1), LP_PRESENT | LP_FRESH);
	run_assert_label(&r, "sdb", "devno", "8:32");
	put_diskstats(dir, "8 0 sda 7 2 3 4" LINE "8 32 sdb 102 2 3 4" LINE);
	run_sample(&r); /* sda's counters went back */
	assert_int_equal(run_state(&r, "sda", 2), LP_PRESENT | LP_FRESH);
	assert_int_equal(run_state(&r, "sdb", 2), LP_PRESENT);
	put_diskstats(dir, "8 32 sdb 103 2 3 4" LINE "8 0 sda 8 2 3 4" LINE);
	run_sample(&r); /* another order is no other device */
	assert_int_equal(run_state(&r, "sda", 3), LP_PRESENT);
	assert_int_equal(run_state(&r, "sdb", 3), LP_PRESENT);
	assert_int_equal(run_value(&r, "sda", "rd_ios", 3), 8);
	run_close(&r);
	tree_remove(dir);
}

static void test_loop_is_noticed_when_attached(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/block/loop0/size", "0\n");
	put_diskstats(dir, "7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n");
	run_init(&r, "diskstats", dir);
	r.config.loops = true;
	run_sample(&r);
	assert_int_equal(run_row(&r, "loop0"), -1);
	tree_put(dir, "sys/block/loop0/size", "8192\n");
	put_diskstats(dir, "7 0 loop0 4 0 32 0 0 0 0 0 0 0 0\n");
	run_sample(&r);
	assert_int_equal(run_state(&r, "loop0", 1), LP_PRESENT | LP_FRESH);
	run_sample(&r);
	assert_int_equal(run_state(&r, "loop0", 2), LP_PRESENT);
	run_close(&r);
	tree_remove(dir);
}

static void test_bad_lines_are_said_once(void **state)
{
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	put_diskstats(dir,
		"rubbish\n8 0 sda 1 2 3 4" LINE "8 0 sda 9 9 9 9" LINE
		"8 16 sdb 1 2\n8 1 sda1 1 2 3 4\n8 32 s\x1b 1 2 3 4" LINE);
	run_init(&r, "diskstats", dir);
	run_sample(&r);
	run_sample(&r);
	run_assert_names(&r, "sda s\\x1b");
	assert_int_equal(run_value(&r, "sda", "rd_ios", 1), 1);
	assert_int_equal(r.warn.count, 1);
	run_close(&r);
	tree_remove(dir);
}

static void test_nul_byte_is_not_silent(void **state)
{
	static const char text[] = "8 0 sda 1 2 3 4" LINE "\0008 16 sdb 1 2 3 4" LINE;
	char dir[PATH_MAX], path[PATH_MAX + 32];
	FILE *f;
	struct run r;

	(void)state;
	tree_make(dir);
	put_diskstats(dir, "");
	snprintf(path, sizeof(path), "%s/proc/diskstats", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, sizeof(text) - 1, f), sizeof(text) - 1);
	fclose(f);
	run_init(&r, "diskstats", dir);
	run_sample(&r);
	run_assert_names(&r, "sda");
	assert_int_equal(r.warn.count, 1);
	run_close(&r);
	tree_remove(dir);
}

static void test_longer_than_the_buffer(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct strbuf sb = {0};
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	for (int i = 0; i < 3000; i++)
		strbuf_printf(&sb, "%4d %7d dm-%d %d 2 3 4" LINE, 253, i, i, i);
	text = strbuf_take(&sb);
	assert_true(strlen(text) > 65536 * 2);
	put_diskstats(dir, text);
	run_init(&r, "diskstats", dir);
	run_sample(&r);
	run_sample(&r);
	assert_int_equal(r.sink.batch->kinds[0].n_components, 3000);
	assert_int_equal(run_value(&r, "dm-2999", "rd_ios", 1), 2999);
	assert_int_equal(run_state(&r, "dm-2999", 1), LP_PRESENT);
	run_close(&r);
	tree_remove(dir);
}

static void test_no_such_file(void **state)
{
	struct lp_err err = {0};
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	run_init(&r, "diskstats", dir);
	assert_int_equal(r.collector->open(&r.config, &r.state, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/proc/diskstats"));
	run_close(&r);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_devices),
		cmocka_unit_test(test_columns_of_old_kernels),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_vanish_and_return),
		cmocka_unit_test(test_same_name_other_device),
		cmocka_unit_test(test_loop_is_noticed_when_attached),
		cmocka_unit_test(test_bad_lines_are_said_once),
		cmocka_unit_test(test_nul_byte_is_not_silent),
		cmocka_unit_test(test_longer_than_the_buffer),
		cmocka_unit_test(test_no_such_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
