#include "base/file.h"

#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

ssize_t file_pread_full(int fd, void *buf, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, (char *)buf + done, size - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int file_pwrite_full(int fd, const void *buf, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = pwrite(fd, (const char *)buf + done, size - done, offset + (off_t)done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -ENOSPC;
		done += (size_t)n;
	}
	return 0;
}

static int slurp_fd(int fd, size_t max, char **ret_data, size_t *ret_size)
{
	_cleanup_free_ char *data = NULL;
	size_t size = 0, cap = 0;

	for (;;) {
		ssize_t n;

		if (size + 1 >= cap) {
			size_t want = cap ? cap * 2 : 65536;
			char *grown = realloc(data, want);

			if (!grown)
				return -ENOMEM;
			data = grown;
			cap = want;
		}
		n = read(fd, data + size, cap - size - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		size += (size_t)n;
		if (size > max)
			return -EFBIG;
	}
	data[size] = '\0';
	*ret_data = TAKE_PTR(data);
	*ret_size = size;
	return 0;
}

/* Is this an unnamed pipe, which the user has already opened? */
static bool is_pipe(int fd, const struct stat *st)
{
	struct statfs fs;

	return S_ISFIFO(st->st_mode) && fstatfs(fd, &fs) == 0 && fs.f_type == PIPEFS_MAGIC;
}

static int open_input(const char *path, int flags)
{
	_cleanup_close_ int fd = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return errno == ENXIO ? -EINVAL : -errno; /* a socket */
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISREG(st.st_mode))
		return TAKE_FD(fd);
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!is_pipe(fd, &st) && !S_ISCHR(st.st_mode))
		return -EINVAL;
	/* Reading from a pipe waits for data. */
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : TAKE_FD(fd);
}

int file_open_input(const char *path, int flags, struct lp_err *err)
{
	int fd = open_input(path, flags);

	if (fd == -EINVAL)
		return lp_err_set(err, fd, "cannot open %s: it is not a regular file", path);
	return fd < 0 ? lp_err_sys(err, fd, "cannot open %s", path) : fd;
}

int file_slurp(const char *path, size_t max, char **ret_data, size_t *ret_size, struct lp_err *err)
{
	_cleanup_close_ int fd = open_input(path, O_RDONLY);
	int r = fd < 0 ? fd : slurp_fd(fd, max, ret_data, ret_size);

	if (fd == -EINVAL)
		return lp_err_set(err, fd, "cannot read %s: it is not a regular file", path);
	return r < 0 ? lp_err_sys(err, r, "cannot read %s", path) : 0;
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int file_rename_new(int dir, const char *from, const char *to)
{
	if (renameat2(dir, from, dir, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* This file system does not support it, but a hard link does not replace a file, either. */
	if (linkat(dir, from, dir, to, 0) == 0)
		return unlinkat(dir, from, 0) < 0 ? -errno : 0;
	if (errno != EPERM && errno != EOPNOTSUPP)
		return -errno;
	if (faccessat(dir, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EEXIST;
	return renameat(dir, from, dir, to) < 0 ? -errno : 0;
}

int file_sync_dir_of(const char *path)
{
	const char *base = path_basename(path);
	_cleanup_free_ char *dir =
		base == path ? strdup(".") : strndup(path, (size_t)(base - path));
	_cleanup_close_ int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (fd < 0)
		return -errno;
	return fsync(fd) < 0 ? -errno : 0;
}

int path_make_dirs(const char *path, struct lp_err *err)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return lp_err_sys(err, -ENOMEM, "cannot create %s", path);
	if (!*copy)
		return lp_err_set(err, -ENOENT, "cannot create a directory without a name");
	for (char *p = copy + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, 0755) < 0 && errno != EEXIST)
			return lp_err_sys(err, -errno, "cannot create directory %s", copy);
		*p = c;
		if (!c)
			break;
	}
	if (stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
		return lp_err_sys(err, -ENOTDIR, "cannot create directory %s", path);
	return 0;
}
