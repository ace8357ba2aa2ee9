/* trouble BACKING MOUNTPOINT CONTROL: a file system in which writing fails as the file CONTROL says
 * (it is read before each write and each flush):
 *
 *     write ERRNO	write() fails with this number
 *     short		write() takes a few bytes at a time
 *     flush ERRNO	fsync() fails, and all that was written since the last flush that worked is
 *			zeros from then on: a disk that could not write what it had taken
 *
 * Everything else is passed through to the directory BACKING.
 */
#define FUSE_USE_VERSION 35
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHORT_BYTES 7

static char backing[PATH_MAX / 2], control[PATH_MAX / 2];

/* What was written to a file since it was flushed. */
struct open_file {
	int fd;
	off_t from, to;
};

/* The number behind a word of CONTROL; 0: it is not there, -1: there is none behind it. */
static int trouble(const char *word)
{
	char line[64];
	FILE *f = fopen(control, "r");
	int found = 0;

	while (f && !found && fgets(line, sizeof(line), f)) {
		size_t len = strlen(word);

		if (!strncmp(line, word, len))
			found = line[len] == ' ' ? (int)strtol(line + len, NULL, 10) : -1;
	}
	if (f)
		fclose(f);
	return found;
}

static const char *below(char buf[PATH_MAX], const char *path)
{
	snprintf(buf, PATH_MAX, "%s%s", backing, path);
	return buf;
}

static int done(int r)
{
	return r < 0 ? -errno : 0;
}

static struct open_file *opened(const struct fuse_file_info *fi)
{
	return (struct open_file *)(uintptr_t)fi->fh;
}

static int on_getattr(const char *path, struct stat *ret, struct fuse_file_info *fi)
{
	char buf[PATH_MAX];

	return done(fi ? fstat(opened(fi)->fd, ret) : lstat(below(buf, path), ret));
}

static int on_readdir(const char *path, void *to, fuse_fill_dir_t fill, off_t offset,
	struct fuse_file_info *fi, enum fuse_readdir_flags flags)
{
	char buf[PATH_MAX];
	DIR *dir = opendir(below(buf, path));
	struct dirent *e;

	(void)offset;
	(void)fi;
	(void)flags;
	if (!dir)
		return -errno;
	while ((e = readdir(dir)))
		fill(to, e->d_name, NULL, 0, 0);
	closedir(dir);
	return 0;
}

static int open_flags(const char *path, int flags, mode_t mode, struct fuse_file_info *fi)
{
	struct open_file *f = calloc(1, sizeof(*f));
	char buf[PATH_MAX];

	if (!f)
		return -ENOMEM;
	f->fd = open(below(buf, path), flags & ~(O_APPEND | O_DIRECT), mode);
	if (f->fd < 0) {
		free(f);
		return -errno;
	}
	f->from = LONG_MAX;
	fi->fh = (uint64_t)(uintptr_t)f;
	fi->direct_io = 1; /* each write comes here, and what becomes of it goes back */
	return 0;
}

static int on_open(const char *path, struct fuse_file_info *fi)
{
	return open_flags(path, fi->flags, 0, fi);
}

static int on_create(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	return open_flags(path, fi->flags | O_CREAT, mode, fi);
}

static int on_read(
	const char *path, char *buf, size_t size, off_t offset, struct fuse_file_info *fi)
{
	ssize_t n = pread(opened(fi)->fd, buf, size, offset);

	(void)path;
	return n < 0 ? -errno : (int)n;
}

static int on_write(
	const char *path, const char *buf, size_t size, off_t offset, struct fuse_file_info *fi)
{
	struct open_file *f = opened(fi);
	int number = trouble("write");
	ssize_t n;

	(void)path;
	if (number > 0)
		return -number;
	if (trouble("short") && size > SHORT_BYTES)
		size = SHORT_BYTES;
	n = pwrite(f->fd, buf, size, offset);
	if (n < 0)
		return -errno;
	f->from = offset < f->from ? offset : f->from;
	f->to = offset + n > f->to ? offset + n : f->to;
	return (int)n;
}

static int on_fsync(const char *path, int data_only, struct fuse_file_info *fi)
{
	struct open_file *f = opened(fi);
	int number = trouble("flush");

	(void)path;
	(void)data_only;
	for (off_t at = f->from; number > 0 && at < f->to; at++)
		if (pwrite(f->fd, "", 1, at) < 0)
			return -errno;
	f->from = LONG_MAX;
	f->to = 0;
	return number > 0 ? -number : done(fdatasync(f->fd));
}

static int on_release(const char *path, struct fuse_file_info *fi)
{
	(void)path;
	close(opened(fi)->fd);
	free(opened(fi));
	return 0;
}

static int on_truncate(const char *path, off_t size, struct fuse_file_info *fi)
{
	char buf[PATH_MAX];

	return done(fi ? ftruncate(opened(fi)->fd, size) : truncate(below(buf, path), size));
}

static int on_mkdir(const char *path, mode_t mode)
{
	char buf[PATH_MAX];

	return done(mkdir(below(buf, path), mode));
}

static int on_unlink(const char *path)
{
	char buf[PATH_MAX];

	return done(unlink(below(buf, path)));
}

static int on_rmdir(const char *path)
{
	char buf[PATH_MAX];

	return done(rmdir(below(buf, path)));
}

static int on_rename(const char *from, const char *to, unsigned flags)
{
	char from_buf[PATH_MAX], to_buf[PATH_MAX];

	return done(renameat2(AT_FDCWD, below(from_buf, from), AT_FDCWD, below(to_buf, to), flags));
}

static int on_chmod(const char *path, mode_t mode, struct fuse_file_info *fi)
{
	char buf[PATH_MAX];

	(void)fi;
	return done(chmod(below(buf, path), mode));
}

static int on_chown(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
	char buf[PATH_MAX];

	(void)fi;
	return done(lchown(below(buf, path), uid, gid));
}

static const struct fuse_operations operations = {
	.getattr = on_getattr,
	.readdir = on_readdir,
	.open = on_open,
	.create = on_create,
	.read = on_read,
	.write = on_write,
	.fsync = on_fsync,
	.release = on_release,
	.truncate = on_truncate,
	.mkdir = on_mkdir,
	.unlink = on_unlink,
	.rmdir = on_rmdir,
	.rename = on_rename,
	.chmod = on_chmod,
	.chown = on_chown,
};

int main(int argc, char **argv)
{
	char *args[] = {argv[0], "-f", "-s", argc > 2 ? argv[2] : NULL, NULL};

	if (argc != 4 || strlen(argv[1]) >= sizeof(backing) || strlen(argv[3]) >= sizeof(control)) {
		fprintf(stderr, "usage: trouble BACKING MOUNTPOINT CONTROL\n");
		return 2;
	}
	snprintf(backing, sizeof(backing), "%s", argv[1]);
	snprintf(control, sizeof(control), "%s", argv[3]);
	return fuse_main(4, args, &operations, NULL);
}
