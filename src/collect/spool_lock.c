#include "collect/spool_lock.h"

#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>

/* How often another process may remove the file during locking. */
#define TRIES 100

void spool_lock_release(struct spool_lock *l)
{
	if (l->held)
		close(l->fd);
	free(l->path);
	*l = (struct spool_lock){0};
}

/* Is the locked file the one that others would lock? */
static bool is_there(const struct spool_lock *l)
{
	struct stat st;

	return fstatat(AT_FDCWD, l->path, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_dev == l->dev &&
		st.st_ino == l->ino;
}

/* Open the file and lock it. -EWOULDBLOCK: another process has it. */
static int lock_file(int dir, const char *name, int *ret_fd, struct stat *ret)
{
	_cleanup_close_ int fd = openat(
		dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -EINVAL;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

/* Lock the file, and make sure that it still exists. */
static int lock_in(int dir, const char *name, struct spool_lock *ret)
{
	struct stat st = {0}, now;
	int fd = -1, r = 0;

	for (unsigned i = 0; i < TRIES; i++) {
		r = lock_file(dir, name, &fd, &st);
		if (r < 0)
			return r;
		if (fstatat(dir, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_dev == st.st_dev &&
			now.st_ino == st.st_ino) {
			*ret = (struct spool_lock){
				.held = true, .fd = fd, .dev = st.st_dev, .ino = st.st_ino};
			return 0;
		}
		close(fd);
	}
	return -EAGAIN;
}

int spool_lock_take(
	struct spool_lock *l, const char *dir, const char *name, mode_t mode, struct lp_err *err)
{
	_cleanup_close_ int dir_fd = -1;
	_cleanup_free_ char *path = NULL;
	struct spool_lock taken = {0};
	int r;

	if (l->held && is_there(l))
		return 0;
	dir_fd = dir_make(dir, mode, err);
	if (dir_fd < 0)
		return dir_fd;
	if (asprintf(&path, "%s/.%s.lock", dir, name) < 0) {
		path = NULL;
		return lp_err_sys(err, -ENOMEM, "cannot lock %s", dir);
	}
	r = lock_in(dir_fd, path_basename(path), &taken);
	if (r == -EWOULDBLOCK)
		return lp_err_set(err, -EBUSY,
			"another recorder writes '%s' files in %s (choose another --name or -o)",
			name, dir);
	if (r == -ELOOP || r == -EINVAL)
		return lp_err_set(err, r, "cannot lock %s: it is not a regular file", path);
	if (r < 0)
		return lp_err_sys(err, r, "cannot write to %s", dir);
	spool_lock_release(l);
	*l = taken;
	l->path = TAKE_PTR(path);
	return 0;
}
