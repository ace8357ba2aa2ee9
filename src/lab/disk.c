#include "lab/disk.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/time.h"
#include "lab/disk_control.h"
#include "lab/disk_serve.h"
#include "lab/loop.h"
#include "lab/tool.h"
#include "lab/unmount.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#define PARTITIONS_START (1U << 20) /* as in partitioning programs */
#define BLOCK_BYTES 4096U
#define START_WAIT_MS 60000 /* for a busy machine */
#define START_POLL_MS 20
#define STOP_WAIT_MS 5000
#define UNMOUNT_WAIT_MS 20000
#define BUSY_POLL_MS 50
#define CHECK_WAIT_MS 60000
#define CHECK_POLL_MS 500
#define DEVICE_MAX 40

/* A disk is fast while it is created or removed. */
#define IN_NO_TIME "slow 0.001"

static uint64_t whole_blocks(uint64_t bytes)
{
	return bytes / BLOCK_BYTES * BLOCK_BYTES;
}

static uint64_t disk_size(const struct lab_config *c)
{
	return PARTITIONS_START + whole_blocks(c->disk_bytes) + whole_blocks(c->hog_bytes);
}

static int control(
	const struct lab *lab, const struct lab_node *node, const char *line, struct lp_err *err)
{
	char path[LAB_PATH_MAX], reply[DISK_LINE_MAX];

	return disk_control(
		lab_path(lab, path, "%s/disk.ctl", node->name), line, reply, sizeof(reply), err);
}

static int make_dirs(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	int r = path_make_dirs(lab_path(lab, path, "%s/disk", node->name), err);

	if (r < 0)
		return r;
	return path_make_dirs(lab_path(lab, path, "%s/brick", node->name), err);
}

static int start_program(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	const struct lab_config *c = &lab->config;
	char self[PATH_MAX], image[LAB_PATH_MAX], mount_dir[LAB_PATH_MAX], socket[LAB_PATH_MAX];
	char log[LAB_PATH_MAX], pid_file[LAB_PATH_MAX];
	char size[24], bandwidth[24], seek_min[24], seek_max[24], seed[24];
	const char *argv[] = {self, "lab", "disk", "--image", image, "--mount", mount_dir,
		"--control", socket, "--size", size, "--bandwidth", bandwidth, "--seek-min",
		seek_min, "--seek-max", seek_max, "--seed", seed, NULL};
	struct spawn s = {.netns = node->netns[0] ? node->netns : NULL,
		.argv = argv,
		.log = lab_path(lab, log, "log/%s-disk.log", node->name),
		.pid_file = lab_path(lab, pid_file, "run/%s-disk.pid", node->name)};
	pid_t pid;
	int r = tool_self(self, sizeof(self), err);

	if (r < 0)
		return r;
	lab_path(lab, image, "mem/%s.img", node->name);
	lab_path(lab, mount_dir, "%s/disk", node->name);
	lab_path(lab, socket, "%s/disk.ctl", node->name);
	snprintf(size, sizeof(size), "%" PRIu64, disk_size(c));
	snprintf(bandwidth, sizeof(bandwidth), "%" PRIu64, c->bandwidth_bytes);
	snprintf(seek_min, sizeof(seek_min), "%uus", c->seek_min_us);
	snprintf(seek_max, sizeof(seek_max), "%uus", c->seek_max_us);
	/* No two disks behave the same at the same time. */
	snprintf(seed, sizeof(seed), "%" PRIu64,
		c->seed ^ hash_bytes(node->name, strlen(node->name)));
	return tool_spawn(&s, &pid, err);
}

static int why_ended(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char path[LAB_PATH_MAX], words[256];

	tool_last_words(lab_path(lab, path, "log/%s-disk.log", node->name), words, sizeof(words));
	return lp_err_set(err, -EIO, "the disk of %s did not start%s%s", node->name,
		*words ? ": " : "", words);
}

/* It answers once it is mounted and serves. */
static int await_program(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX];
	int64_t end_us = clock_us(CLOCK_MONOTONIC) + START_WAIT_MS * INT64_C(1000);
	int r;

	lab_path(lab, pid_file, "run/%s-disk.pid", node->name);
	for (;;) {
		if (!tool_pid(pid_file))
			return why_ended(lab, node, err);
		r = control(lab, node, IN_NO_TIME, err);
		if (r == 0 || clock_us(CLOCK_MONOTONIC) >= end_us)
			break;
		nanosleep(&(struct timespec){.tv_nsec = START_POLL_MS * 1000000L}, NULL);
	}
	if (r < 0)
		return lp_err_prefix(err, "the disk of %s", node->name);
	return 0;
}

static int make_device(const struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	const struct lab_config *c = &lab->config;
	uint64_t disk_bytes = whole_blocks(c->disk_bytes), hog_bytes = whole_blocks(c->hog_bytes);
	char file[LAB_PATH_MAX];
	int r = loop_attach(
		lab_path(lab, file, "%s/disk/" DISK_FILE_NAME, node->name), node->loop, err);

	if (r < 0)
		return r;
	r = loop_add_partition(node->loop, 1, PARTITIONS_START, disk_bytes, err);
	if (r == 0 && hog_bytes)
		r = loop_add_partition(
			node->loop, 2, PARTITIONS_START + disk_bytes, hog_bytes, err);
	return r;
}

static void device_of(const struct lab_node *node, char buf[DEVICE_MAX])
{
	char part[32];

	disk_partition(node, 1, part, sizeof(part));
	snprintf(buf, DEVICE_MAX, "/dev/%s", part);
}

static int mount_brick(
	const struct lab *lab, const struct lab_node *node, const char *device, struct lp_err *err)
{
	char brick[LAB_PATH_MAX];

	lab_path(lab, brick, "%s/brick", node->name);
	if (mount(device, brick, "ext4", MS_NOATIME, NULL) < 0)
		return lp_err_sys(err, -errno, "%s: cannot mount %s there", brick, device);
	return 0;
}

static int make_file_system(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char device[DEVICE_MAX];
	int r;

	device_of(node, device);
	r = tool_run(err,
		"mkfs.ext4 -q -F -m 0 -O ^has_journal -I 256 -i 8192 "
		"-E lazy_itable_init=0,nodiscard %s",
		device);
	return r < 0 ? r : mount_brick(lab, node, device, err);
}

static int build(const struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	int r = make_dirs(lab, node, err);

	if (r == 0)
		r = start_program(lab, node, err);
	if (r == 0)
		r = await_program(lab, node, err);
	if (r == 0)
		r = make_device(lab, node, err);
	if (r == 0)
		r = make_file_system(lab, node, err);
	if (r == 0)
		r = control(lab, node, "reset", err);
	return r;
}

int disk_up(const struct lab *lab, struct lab_node *node, struct lp_err *err)
{
	int r = build(lab, node, err);

	if (r < 0) {
		disk_down(lab, node, NULL);
		node->loop[0] = 0;
	}
	return r;
}

/* Do not detach a busy mount: if mounted again it would be the same file system, with all its
 * errors. */
static int unmount_brick(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char brick[LAB_PATH_MAX];

	lab_path(lab, brick, "%s/brick", node->name);
	for (unsigned ms = 0; umount2(brick, UMOUNT_NOFOLLOW) < 0; ms += BUSY_POLL_MS) {
		if (errno == EINVAL)
			return 0; /* nothing is mounted there */
		if (errno != EBUSY || ms >= UNMOUNT_WAIT_MS)
			return lp_err_sys(err, -errno, "%s: cannot be unmounted", brick);
		nanosleep(&(struct timespec){.tv_nsec = BUSY_POLL_MS * 1000000L}, NULL);
	}
	return 0;
}

/* It fails if it corrected something, or while another mount namespace (copied by `ip netns exec`)
 * still has the file system mounted: try again. */
static int check_file_system(const char *device, struct lp_err *err)
{
	for (unsigned ms = 0; ms < CHECK_WAIT_MS; ms += CHECK_POLL_MS) {
		if (tool_run(NULL, "e2fsck -f -y %s", device) == 0)
			return 0;
		nanosleep(&(struct timespec){.tv_nsec = CHECK_POLL_MS * 1000000L}, NULL);
	}
	return tool_run(err, "e2fsck -f -y %s", device);
}

int disk_remount(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char device[DEVICE_MAX];
	int r = unmount_brick(lab, node, err);

	device_of(node, device);
	if (r == 0)
		r = check_file_system(device, err);
	return r < 0 ? r : mount_brick(lab, node, device, err);
}

/* Nothing may wait for a disk that no longer works: kill its program, so that all requests fail. */
static void hurry(const struct lab *lab, const struct lab_node *node, const char *pid_file)
{
	if (tool_pid(pid_file) && control(lab, node, IN_NO_TIME, NULL) < 0)
		tool_kill(pid_file, SIGKILL, STOP_WAIT_MS, NULL);
}

int disk_down(const struct lab *lab, const struct lab_node *node, struct lp_err *err)
{
	char pid_file[LAB_PATH_MAX], brick[LAB_PATH_MAX], dir[LAB_PATH_MAX], image[LAB_PATH_MAX];
	int worst, r;

	lab_path(lab, pid_file, "run/%s-disk.pid", node->name);
	lab_path(lab, brick, "%s/brick", node->name);
	lab_path(lab, dir, "%s/disk", node->name);
	hurry(lab, node, pid_file);
	worst = unmount(brick, UNMOUNT_WAIT_MS, pid_file, err);
	if (loop_detach(dir, NULL) < 0) /* once more, when all requests have failed */
		tool_kill(pid_file, SIGKILL, STOP_WAIT_MS, NULL);
	r = loop_detach(dir, worst ? NULL : err);
	worst = worst ? worst : r;
	r = tool_kill(pid_file, SIGTERM, STOP_WAIT_MS, worst ? NULL : err);
	worst = worst ? worst : r;
	if (worst) /* if it were detached, the owner of the device would be unknown */
		return worst;
	r = unmount(dir, UNMOUNT_WAIT_MS, NULL, err);
	unlink(lab_path(lab, image, "mem/%s.img", node->name));
	return r;
}

void disk_partition(const struct lab_node *node, unsigned number, char *buf, unsigned size)
{
	if (node->loop[0])
		snprintf(buf, size, "%sp%u", path_basename(node->loop), number);
	else if (size)
		buf[0] = 0;
}
