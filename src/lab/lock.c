#include "lab/lock.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "lab/lab.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define TRIES 400 /* twenty seconds: longer than building a lab */
#define PAUSE_US 50000

/* Does the locked file still have this name? The previous owner may have removed it. */
static bool still_there(int fd, const char *path)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
		held.st_dev == named.st_dev;
}

/* 0: locked; -EAGAIN: not yet. */
static int lock_try(const char *root, struct lab_lock *l, struct lp_err *err)
{
	_cleanup_close_ int fd = -1;
	int r = path_make_dirs(root, err);

	if (r < 0)
		return r;
	fd = open(l->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : lp_err_sys(err, -errno, "%s", l->path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : lp_err_sys(err, -errno, "%s", l->path);
	if (!still_there(fd, l->path))
		return -EAGAIN;
	l->fd = TAKE_FD(fd);
	return 0;
}

int lock_take(const char *lab_name, struct lab_lock *ret, struct lp_err *err)
{
	struct lab_lock l = {.fd = -1};
	char root[LAB_DIR_MAX];
	int r = lab_root(root, err);

	if (r < 0)
		return r;
	snprintf(l.path, sizeof(l.path), "%s/%s.lock", root, lab_name);
	for (unsigned i = 0; i < TRIES; i++) {
		r = lock_try(root, &l, err);
		if (r == 0)
			*ret = l;
		if (r != -EAGAIN)
			return r;
		usleep(PAUSE_US);
	}
	return lp_err_set(err, -EBUSY,
		"another command is still working on lab '%s'; try again later", lab_name);
}

void lock_release(struct lab_lock *l, int gone)
{
	if (l->fd < 0)
		return;
	if (gone)
		unlink(l->path);
	close(TAKE_FD(l->fd));
	/* If that was the last lab. A directory that the user chose stays. */
	if (gone && !getenv("LIMPET_LAB_DIR"))
		rmdir(LAB_DEFAULT_ROOT);
}
