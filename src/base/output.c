#include "base/output.h"

#include "base/cleanup.h"
#include "base/dir.h"
#include "base/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void output_release(struct output *o)
{
	if (!o->open)
		return;
	if (o->fd >= 0)
		close(o->fd);
	if (o->temporary)
		unlinkat(o->dir, o->temporary, 0);
	if (o->dir >= 0)
		close(o->dir);
	free(o->name);
	free(o->temporary);
	*o = (struct output){0};
}

static bool is_trusted(const struct stat *st)
{
	return st->st_uid == 0 || st->st_uid == geteuid();
}

/* Write directly to an existing path that is not a regular file (a terminal, a pipe). */
static int open_direct(struct output *o, const char *path)
{
	o->direct = true;
	o->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	return o->fd < 0 ? -errno : 0;
}

/* Create a new file in the same directory, with the owner and the permissions of the one that it
 * will replace. */
static int open_temporary(struct output *o, const struct stat *old)
{
	int r = asprintf(&o->temporary, ".%s.%d.tmp", o->name, (int)getpid());

	if (r < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	unlinkat(o->dir, o->temporary, 0); /* left by a killed process that had the same process
					    * number */
	o->fd = dir_create_file(o->dir, o->temporary, old ? 0600 : 0644);
	if (o->fd < 0) {
		free(TAKE_PTR(o->temporary));
		return o->fd;
	}
	if (old && fchown(o->fd, old->st_uid, old->st_gid) == 0)
		fchmod(o->fd, old->st_mode & 0777);
	return 0;
}

/* Open the path; it may end in a link only if `follow`. */
static int open_at(struct output *o, const char *path, bool follow, struct lp_err *err)
{
	struct stat st;
	int r;

	o->dir = dir_open_of(path, err);
	if (o->dir < 0)
		return o->dir == -ELOOP ? o->dir : lp_err_sys(err, o->dir, "cannot write %s", path);
	o->name = strdup(path_basename(path));
	if (!o->name)
		return lp_err_sys(err, -ENOMEM, "cannot write %s", path);
	if (fstatat(o->dir, o->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		r = errno == ENOENT ? open_temporary(o, NULL) : -errno;
	else if (S_ISREG(st.st_mode))
		r = open_temporary(o, &st);
	else if (!is_trusted(&st) || (S_ISLNK(st.st_mode) && !follow))
		r = -ELOOP;
	else if (S_ISLNK(st.st_mode) && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		return 1;
	else
		r = open_direct(o, path);
	if (r == -ELOOP)
		return lp_err_set(err, r,
			"cannot write %s: it is not a regular file, and belongs to another user",
			path);
	return r < 0 ? lp_err_sys(err, r, "cannot write %s", path) : 0;
}

int output_open(struct output *o, const char *path, struct lp_err *err)
{
	_cleanup_(output_release) struct output opened = {.open = true, .fd = -1, .dir = -1};
	_cleanup_free_ char *target = NULL;
	int r = open_at(&opened, path, true, err);

	if (r == 1) {
		target = realpath(path, NULL);
		output_release(&opened);
		opened = (struct output){.open = true, .fd = -1, .dir = -1};
		r = target ? open_at(&opened, target, false, err)
			   : lp_err_sys(err, -errno, "cannot write %s", path);
	}
	if (r < 0)
		return r;
	*o = opened;
	opened = (struct output){0};
	return 0;
}

int output_commit(struct output *o, const char *path, struct lp_err *err)
{
	/* A terminal or a pipe cannot be synced, and this is not necessary. */
	if (fsync(o->fd) < 0 && errno != EINVAL && errno != EROFS)
		return lp_err_sys(err, -errno, "cannot write %s", path);
	if (o->direct)
		return 0;
	if (renameat(o->dir, o->temporary, o->dir, o->name) < 0)
		return lp_err_sys(err, -errno, "cannot write %s", path);
	free(TAKE_PTR(o->temporary));
	dir_sync(o->dir); /* the file is complete; survival of a power loss is optional */
	return 0;
}
