#include "lab/ballast.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/disk_trouble.h"
#include "lab/server.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define BLOCK_BYTES 4096
#define INODES_MAX (1u << 24)

static char *ballast_path(
	const struct lab *lab, const struct lab_node *on, const char *fault, char buf[LAB_PATH_MAX])
{
	return lab_path(lab, buf, "%s/brick/lost+found/limpet-%s", on->name, fault);
}

/* Do something while the disk is fast, then restore its speed. */
static int in_no_time(const struct lab *lab, const struct lab_node *on, int dir,
	int (*act)(int dir, struct lp_err *err), struct lp_err *err)
{
	struct disk_shown was = {.slow = 1};
	int r = disk_trouble_show(lab, on, &was, err), back;

	if (r == 0)
		r = disk_trouble_say(lab, on, err, "slow 0.001");
	if (r < 0)
		return r;
	r = act(dir, err);
	if (r == 0 && syncfs(dir) < 0)
		r = lp_err_sys(err, -errno, "the disk of %s", on->name);
	back = disk_trouble_say(lab, on, r < 0 ? NULL : err, "slow %g", was.slow);
	return r < 0 ? r : back;
}

static int open_ballast(const struct lab *lab, const struct lab_node *on, const char *fault,
	int *ret_dir, struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	int r = path_make_dirs(ballast_path(lab, on, fault, path), err);
	int dir = r < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (r < 0)
		return r;
	if (dir < 0)
		return lp_err_sys(err, -errno, "cannot open %s", path);
	*ret_dir = dir;
	return 0;
}

static int take_inodes(int dir, struct lp_err *err)
{
	for (unsigned i = 0; i < INODES_MAX; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		if (mknodat(dir, name, S_IFREG | 0600, 0) == 0)
			continue;
		return errno == ENOSPC ? 0 : lp_err_sys(err, -errno, "cannot take inodes");
	}
	return lp_err_set(err, -EOVERFLOW, "there are too many inodes");
}

/* The free space changes while others write, so halve the size until nothing fits. */
static int take_blocks(int dir, struct lp_err *err)
{
	_cleanup_close_ int fd = openat(dir, "blocks", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct statvfs fs;
	off_t at = 0, size;

	if (fd < 0 || fstatvfs(fd, &fs) < 0)
		return lp_err_sys(err, -errno, "cannot take blocks");
	for (size = (off_t)(fs.f_bavail * fs.f_frsize); size >= BLOCK_BYTES;) {
		size -= size % BLOCK_BYTES;
		if (fallocate(fd, 0, at, size) == 0)
			at += size;
		else if (errno == ENOSPC)
			size /= 2;
		else if (errno != EINTR)
			return lp_err_sys(err, -errno, "cannot take blocks");
	}
	return 0;
}

static int take(const struct lab *lab, const struct lab_node *on, const char *fault,
	int (*act)(int dir, struct lp_err *err), struct lp_err *err)
{
	_cleanup_close_ int dir = -1;
	pid_t pid = 0;
	int r = server_need(lab, on, &pid, err);

	if (r == 0)
		r = open_ballast(lab, on, fault, &dir, err);
	return r < 0 ? r : in_no_time(lab, on, dir, act, err);
}

int ballast_take_inodes(
	const struct lab *lab, const struct lab_node *on, const char *fault, struct lp_err *err)
{
	return take(lab, on, fault, take_inodes, err);
}

int ballast_take_blocks(
	const struct lab *lab, const struct lab_node *on, const char *fault, struct lp_err *err)
{
	return take(lab, on, fault, take_blocks, err);
}

int ballast_free(const struct lab *lab, const struct lab_node *on, struct ballast_free *ret,
	struct lp_err *err)
{
	char path[LAB_PATH_MAX];
	struct statvfs fs;

	if (statvfs(lab_path(lab, path, "%s/brick", on->name), &fs) < 0)
		return lp_err_sys(err, -errno, "%s", path);
	ret->inodes = fs.f_files ? (double)fs.f_ffree / (double)fs.f_files : 0;
	ret->blocks = fs.f_blocks ? (double)fs.f_bavail / (double)fs.f_blocks : 0;
	return 0;
}

int ballast_verify(const struct lab *lab, const struct lab_node *on, const char *fault,
	const char *file, struct lp_err *err)
{
	char dir[LAB_PATH_MAX], path[2 * LAB_PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", ballast_path(lab, on, fault, dir), file);
	if (access(path, F_OK) < 0)
		return lp_err_sys(err, -errno, "%s", path);
	return 0;
}

static int remove_files(int dir, struct lp_err *err)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;

	if (!d)
		return lp_err_sys(err, -errno, "cannot read the ballast");
	while ((e = readdir(d))) {
		if (e->d_type == DT_REG && unlinkat(dir, e->d_name, 0) < 0)
			return lp_err_sys(err, -errno, "cannot remove the ballast");
	}
	return 0;
}

int ballast_remove(
	const struct lab *lab, const struct lab_node *on, const char *fault, struct lp_err *err)
{
	_cleanup_close_ int dir = -1;
	char path[LAB_PATH_MAX];
	int r;

	dir = open(ballast_path(lab, on, fault, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOENT ? 0 : lp_err_sys(err, -errno, "cannot open %s", path);
	r = in_no_time(lab, on, dir, remove_files, err);
	if (r < 0)
		return r;
	if (rmdir(path) < 0)
		return lp_err_sys(err, -errno, "cannot remove %s", path);
	return server_revive(lab, on, err);
}
