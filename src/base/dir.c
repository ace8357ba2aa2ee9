#include "base/dir.h"

#include "base/cleanup.h"
#include "base/file.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* The same limit as in the kernel. */
#define LINKS_MAX 40

/* The state of a walk to a directory. */
struct walk {
	int fd;		     /* the directory reached so far */
	char rest[PATH_MAX]; /* the remaining path */
	unsigned n_links;
	mode_t make; /* permissions for missing directories; 0: do not create them */
};

static void walk_to(struct walk *w, int fd)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
}

static int walk_start(struct walk *w, const char *from)
{
	int fd = open(from, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	walk_to(w, fd);
	return 0;
}

/* The next name of the remaining path; false: none. */
static bool walk_name(struct walk *w, char name[NAME_MAX + 1], int *ret_error)
{
	size_t skip = strspn(w->rest, "/"), len = strcspn(w->rest + skip, "/");

	*ret_error = len > NAME_MAX ? -ENAMETOOLONG : 0;
	if (!len || *ret_error)
		return false;
	memcpy(name, w->rest + skip, len);
	name[len] = '\0';
	memmove(w->rest, w->rest + skip + len, strlen(w->rest + skip + len) + 1);
	return true;
}

/* Go to the target of a symbolic link, if its owner is trusted. */
static int walk_link(struct walk *w, int link, const struct stat *st)
{
	char target[PATH_MAX];
	ssize_t len;

	if (st->st_uid != 0 && st->st_uid != geteuid())
		return -ELOOP;
	len = readlinkat(link, "", target, sizeof(target));
	if (len < 0)
		return -errno;
	if (++w->n_links > LINKS_MAX)
		return -ELOOP;
	if ((size_t)len + strlen(w->rest) + 2 > sizeof(w->rest))
		return -ENAMETOOLONG;
	memmove(w->rest + len + 1, w->rest, strlen(w->rest) + 1);
	memcpy(w->rest, target, (size_t)len);
	w->rest[len] = '/';
	return *target == '/' ? walk_start(w, "/") : 0;
}

/* Enter a directory. O_DIRECTORY triggers an automount. */
static int walk_enter(struct walk *w, const char *name)
{
	int fd = openat(w->fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	walk_to(w, fd);
	return 0;
}

/* The name is not a directory: it may be a link. */
static int walk_other(struct walk *w, const char *name)
{
	_cleanup_close_ int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISLNK(st.st_mode) ? walk_link(w, fd, &st) : -ENOTDIR;
}

static int walk_step(struct walk *w, const char *name)
{
	int r = walk_enter(w, name);

	if (r == -ENOENT && w->make) {
		if (mkdirat(w->fd, name, w->make) < 0 && errno != EEXIST)
			return -errno;
		r = walk_enter(w, name);
	}
	return r == -ENOTDIR || r == -ELOOP ? walk_other(w, name) : r;
}

static int walk_path(const char *path, size_t len, mode_t make, int *ret_fd)
{
	struct walk w = {.fd = -1, .make = make};
	char name[NAME_MAX + 1];
	int r = len < sizeof(w.rest) ? 0 : -ENAMETOOLONG;

	if (r == 0) {
		memcpy(w.rest, path, len);
		w.rest[len] = '\0';
		r = walk_start(&w, *path == '/' ? "/" : ".");
	}
	while (r == 0 && walk_name(&w, name, &r))
		r = walk_step(&w, name);
	if (r < 0) {
		walk_to(&w, -1);
		return r;
	}
	*ret_fd = w.fd;
	return 0;
}

static int walk_tell(int r, const char *verb, const char *path, struct lp_err *err)
{
	if (r == -ELOOP)
		return lp_err_set(err, r,
			"cannot %s %s: the path contains a symbolic link of another user", verb,
			path);
	return lp_err_sys(err, r, "cannot %s %s", verb, path);
}

int dir_open(const char *path, struct lp_err *err)
{
	int fd = -1;
	int r = *path ? walk_path(path, strlen(path), 0, &fd) : -ENOENT;

	return r < 0 ? walk_tell(r, "open directory", path, err) : fd;
}

int dir_open_of(const char *path, struct lp_err *err)
{
	int fd = -1;
	int r = walk_path(path, (size_t)(path_basename(path) - path), 0, &fd);

	return r < 0 ? walk_tell(r, "open the directory of", path, err) : fd;
}

int dir_make(const char *path, mode_t mode, struct lp_err *err)
{
	int fd = -1;
	int r = *path ? walk_path(path, strlen(path), mode, &fd) : -ENOENT;

	return r < 0 ? walk_tell(r, "create directory", path, err) : fd;
}

int dir_create_file(int dir, const char *name, mode_t mode)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd < 0 ? -errno : fd;
}

static int open_regular(int dir, const char *name, int flags, struct stat *ret)
{
	_cleanup_close_ int fd =
		openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENXIO ? -EINVAL : -errno; /* a socket */
	if (fstat(fd, ret) < 0)
		return -errno;
	return S_ISREG(ret->st_mode) ? TAKE_FD(fd) : -EINVAL;
}

int dir_open_file(int dir, const char *name, int flags)
{
	struct stat st = {0};

	return open_regular(dir, name, flags, &st);
}

int dir_open_own_file(int dir, const char *name, int flags)
{
	struct stat st = {0};
	_cleanup_close_ int fd = open_regular(dir, name, flags, &st);

	if (fd >= 0 && st.st_uid != geteuid())
		return -EPERM;
	if (fd >= 0 && st.st_nlink > 1)
		return -EMLINK;
	return TAKE_FD(fd);
}

int dir_list(int dir, struct dirent ***ret_entries, int (*wanted)(const struct dirent *e))
{
	int n = scandirat(dir, ".", ret_entries, wanted, alphasort);

	return n < 0 ? -errno : n;
}

int dir_sync(int dir)
{
	_cleanup_close_ int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? -errno : 0;
}
