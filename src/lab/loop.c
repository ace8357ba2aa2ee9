#include "lab/loop.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define ATTACH_TRIES 50 /* other processes use devices at the same time */
#define FREE_TRIES 500	/* a slow disk needs time to write the rest of a file system */
#define TRY_WAIT_MS 20
#define SYS_PATH_MAX 320

static void wait_a_little(void)
{
	nanosleep(&(struct timespec){.tv_nsec = TRY_WAIT_MS * 1000000L}, NULL);
}

static void write_attribute(const char *device, const char *attribute, const char *text)
{
	char path[SYS_PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", path_basename(device), attribute);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	(void)!write(fd, text, strlen(text));
	close(fd);
}

/* An attribute without its newline; false if there is none. */
static bool read_attribute(const char *device, const char *attribute, char *buf, size_t size)
{
	char path[SYS_PATH_MAX];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", path_basename(device), attribute);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n < 0)
		return false;
	buf[n] = 0;
	buf[strcspn(buf, "\n")] = 0;
	return true;
}

static int partition_change(int fd, int op, int number, uint64_t start_bytes, uint64_t size_bytes)
{
	struct blkpg_partition part = {
		.start = (long long)start_bytes, .length = (long long)size_bytes, .pno = number};
	struct blkpg_ioctl_arg arg = {.op = op, .datalen = sizeof(part), .data = &part};

	return ioctl(fd, BLKPG, &arg) < 0 ? -errno : 0;
}

/* Remove all partitions of an open device, because they would outlive it. Returns the worst
 * error. */
static int partitions_remove(const char *device, int fd)
{
	const char *name = path_basename(device);
	char path[SYS_PATH_MAX];
	const struct dirent *e;
	int worst = 0;
	_cleanup_closedir_ DIR *dir = NULL;

	snprintf(path, sizeof(path), "/sys/block/%s", name);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((e = readdir(dir))) {
		size_t len = strlen(name);
		int r;

		if (strncmp(e->d_name, name, len) != 0 || e->d_name[len] != 'p')
			continue;
		r = partition_change(
			fd, BLKPG_DEL_PARTITION, (int)strtol(e->d_name + len + 1, NULL, 10), 0, 0);
		if (r < 0 && r != -ENXIO)
			worst = r;
	}
	return worst;
}

/* Take a free device. Returns its open descriptor, or -EBUSY if another process was faster. */
static int try_attach(int control, int file, char device[LOOP_NAME_MAX], struct lp_err *err)
{
	struct loop_config config = {.fd = (uint32_t)file, .info.lo_flags = LO_FLAGS_DIRECT_IO};
	int number = ioctl(control, LOOP_CTL_GET_FREE);
	_cleanup_close_ int fd = -1;

	if (number < 0)
		return lp_err_sys(err, -errno, "no free loop device");
	snprintf(device, LOOP_NAME_MAX, "/dev/loop%d", number);
	fd = open(device, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return lp_err_sys(err, -errno, "%s", device);
	if (ioctl(fd, LOOP_CONFIGURE, &config) < 0)
		return lp_err_sys(err, -errno, "%s: cannot be used", device);
	return TAKE_FD(fd);
}

/* Configure the device, which now belongs to this process. */
static int set_up(const char *device, int fd, struct lp_err *err)
{
	char text[16];

	if (!read_attribute(device, "loop/dio", text, sizeof(text)) || strcmp(text, "1") != 0)
		return lp_err_set(err, -ENOTSUP,
			"%s: this kernel does not support direct I/O on FUSE files", device);
	partitions_remove(device, fd); /* those of an earlier user */
	write_attribute(device, "queue/scheduler", "bfq");
	return 0;
}

int loop_attach(const char *file, char ret_device[LOOP_NAME_MAX], struct lp_err *err)
{
	_cleanup_close_ int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	_cleanup_close_ int file_fd = open(file, O_RDWR | O_CLOEXEC);
	_cleanup_close_ int fd = -1;
	char device[LOOP_NAME_MAX];
	int r;

	if (control < 0)
		return lp_err_sys(err, -errno, "/dev/loop-control: no loop devices here");
	if (file_fd < 0)
		return lp_err_sys(err, -errno, "%s", file);
	for (unsigned i = 0; i < ATTACH_TRIES; i++) {
		fd = try_attach(control, file_fd, device, err);
		if (fd != -EBUSY)
			break;
		wait_a_little();
	}
	if (fd < 0)
		return fd;
	r = set_up(device, fd, err);
	if (r < 0) {
		ioctl(fd, LOOP_CLR_FD);
		return r;
	}
	memcpy(ret_device, device, sizeof(device));
	return 0;
}

int loop_add_partition(const char *device, int number, uint64_t start_bytes, uint64_t size_bytes,
	struct lp_err *err)
{
	_cleanup_close_ int fd = open(device, O_RDWR | O_CLOEXEC);
	int r;

	if (fd < 0)
		return lp_err_sys(err, -errno, "%s", device);
	r = partition_change(fd, BLKPG_ADD_PARTITION, number, start_bytes, size_bytes);
	if (r < 0)
		return lp_err_sys(err, r, "%s has no partition %d", device, number);
	return 0;
}

static bool lies_in(const char *device, const char *dir)
{
	char file[PATH_MAX];
	size_t len = strlen(dir);

	return read_attribute(device, "loop/backing_file", file, sizeof(file)) &&
		!strncmp(file, dir, len) && file[len] == '/';
}

/* Free a device, if it still belongs to a file in `dir`: others may use it when it is free. */
static int detach_one(const char *device, const char *dir, struct lp_err *err)
{
	_cleanup_close_ int fd = open(device, O_RDWR | O_CLOEXEC);
	int r = 0;

	if (fd < 0)
		return lp_err_sys(err, -errno, "%s", device);
	if (!lies_in(device, dir))
		return 0;
	for (unsigned i = 0; i < FREE_TRIES; i++) {
		r = partitions_remove(device, fd);
		if (r != -EBUSY)
			break;
		wait_a_little();
	}
	if (r < 0)
		return lp_err_sys(err, r, "%s: its partitions cannot be removed", device);
	write_attribute(device, "queue/scheduler", "none"); /* as it was */
	if (ioctl(fd, LOOP_CLR_FD) < 0 && errno != ENXIO)
		return lp_err_sys(err, -errno, "%s: cannot be freed", device);
	close(TAKE_FD(fd));
	for (unsigned i = 0; i < FREE_TRIES && lies_in(device, dir); i++)
		wait_a_little();
	if (lies_in(device, dir))
		return lp_err_set(err, -EBUSY, "%s: still in use", device);
	return 0;
}

int loop_detach(const char *dir, struct lp_err *err)
{
	char real[PATH_MAX]; /* the kernel's name for it */
	const struct dirent *e;
	int worst = 0;
	_cleanup_closedir_ DIR *all = opendir("/sys/block");

	if (!all)
		return 0; /* no devices */
	if (!realpath(dir, real))
		snprintf(real, sizeof(real), "%s", dir);
	while ((e = readdir(all))) {
		char device[LOOP_NAME_MAX];
		int r;

		if (strncmp(e->d_name, "loop", 4) != 0 || !lies_in(e->d_name, real))
			continue;
		snprintf(device, sizeof(device), "/dev/%.16s", e->d_name);
		r = detach_one(device, real, worst ? NULL : err);
		worst = worst ? worst : r;
	}
	return worst;
}
