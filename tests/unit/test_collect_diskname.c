#include "collect/diskname.h"

#include "collect/sysattr.h"
#include "collect_run.h"

static void test_partition_names(void **state)
{
	static const char *const parts[] = {"sda1", "sdaa12", "hda3", "vdb2", "xvda1", "nvme0n1p2",
		"mmcblk0p1", "md0p1", "cciss/c0d0p1", "loop0p1"};
	static const char *const whole[] = {"sda", "sdaa", "nvme0n1", "mmcblk0", "md127", "dm-3",
		"sr0", "loop0", "cciss/c0d0", "nbd1", "zram0", "mmcblk0boot0", "nvme1c2n1", "p1"};

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_true(diskname_looks_partition(parts[i]));
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		assert_false(diskname_looks_partition(whole[i]));
}

static void test_memory_names(void **state)
{
	(void)state;
	assert_true(diskname_is_memory("loop0"));
	assert_true(diskname_is_memory("loop0p1"));
	assert_true(diskname_is_memory("ram15"));
	assert_true(diskname_is_memory("zram1"));
	assert_false(diskname_is_memory("rams"));
	assert_false(diskname_is_memory("looper"));
	assert_false(diskname_is_memory("sda"));
}

static void assert_labels(const char *dir, const char *name, const char *want)
{
	struct proc_root root = {.dir = dir};
	struct diskname_links links = {0};
	struct diskname d;

	assert_int_equal(diskname_describe(&root, &links, name, 8, 0, &d), 0);
	assert_string_equal(d.labels, want);
	diskname_release(&d);
	diskname_links_release(&links);
}

static void put_link(const char *dir, const char *link, const char *target)
{
	char path[PATH_MAX];

	assert_true(snprintf(path, sizeof(path), "%s/dev/disk/by-id/%s", dir, link) <
		(int)sizeof(path));
	assert_int_equal(symlink(target, path), 0);
}

static void test_best_name_wins(void **state)
{
	char dir[PATH_MAX];

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/block/sda/size", "100\n");
	assert_labels(dir, "sda", "devno=8:0");
	tree_put(dir, "sys/block/sda/device/serial", " S 1  \n");
	assert_labels(dir, "sda", "devno=8:0\nserial=S_1\nstable=S_1");
	tree_put(dir, "sys/block/sda/device/wwid", "naa.1\n");
	assert_labels(dir, "sda", "devno=8:0\nwwid=naa.1\nserial=S_1\nstable=naa.1");
	tree_put(dir, "dev/disk/by-id/not-a-link", "");
	put_link(dir, "lvm-pv-uuid-x", "../../sda");
	put_link(dir, "ata-DISK_S1", "../../sda");
	put_link(dir, "ata-DISK_S0", "../../sda");
	put_link(dir, "wwn-0x1-part1", "../../sda1");
	assert_labels(dir, "sda",
		"devno=8:0\nby_id=ata-DISK_S0\nwwid=naa.1\nserial=S_1\nstable=ata-DISK_S0");
	put_link(dir, "wwn-0x1", "../../sda");
	tree_put(dir, "sys/block/sda/dm/name", "data\n");
	tree_put(dir, "sys/block/sda/dm/uuid", "mpath-36000\n");
	assert_labels(dir, "sda",
		"devno=8:0\nby_id=wwn-0x1\ndm=data\nmpath=36000\nwwid=naa.1\nserial=S_1\n"
		"stable=data");
	assert_labels(dir, "sda1", "devno=8:0\nby_id=wwn-0x1-part1\nstable=wwn-0x1-part1");
	tree_remove(dir);
}

static void test_labels_are_one_line_of_ascii(void **state)
{
	char dir[PATH_MAX];

	(void)state;
	tree_make(dir);
	tree_put(dir, "sys/block/sda/device/serial", "A\x1b[2J\xff\nstable=forged\n");
	tree_put(dir, "sys/block/sda/device/model", "\n");
	assert_labels(dir, "sda", "devno=8:0\nserial=A\\x1b[2J\\xff\nstable=A\\x1b[2J\\xff");
	tree_remove(dir);
}

static void test_whole_or_part(void **state)
{
	struct diskname_links links = {0};
	struct proc_root root;
	struct diskname d;
	char dir[PATH_MAX];

	(void)state;
	tree_make(dir);
	root = (struct proc_root){.dir = dir};
	/* Without /sys the name has to do. */
	assert_int_equal(diskname_describe(&root, &links, "sda1", 8, 1, &d), 0);
	assert_true(d.partition);
	diskname_release(&d);
	assert_int_equal(diskname_describe(&root, &links, "odd", 8, 1, &d), 0);
	assert_false(d.partition);
	diskname_release(&d);
	/* With it, /sys is right. */
	tree_put(dir, "sys/block/sda1/size", "0\n");
	tree_put(dir, "sys/block/cciss!c0d0/size", "8\n");
	assert_int_equal(diskname_describe(&root, &links, "sda1", 8, 1, &d), 0);
	assert_true(!d.partition && d.empty);
	diskname_release(&d);
	assert_int_equal(diskname_describe(&root, &links, "odd", 8, 1, &d), 0);
	assert_true(d.partition && !d.empty);
	diskname_release(&d);
	assert_int_equal(diskname_describe(&root, &links, "cciss/c0d0", 104, 0, &d), 0);
	assert_true(!d.partition && !d.empty);
	diskname_release(&d);
	/* A name must not lead out of /sys/block. */
	assert_int_equal(diskname_describe(&root, &links, "..", 8, 1, &d), 0);
	assert_true(d.partition);
	diskname_release(&d);
	diskname_links_release(&links);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_partition_names),
		cmocka_unit_test(test_memory_names),
		cmocka_unit_test(test_best_name_wins),
		cmocka_unit_test(test_labels_are_one_line_of_ascii),
		cmocka_unit_test(test_whole_or_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
