/* Files: opening, reading, writing, names and attributes. */
#include "conform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/xattr.h>

static char data[8192];

static void opens(void)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600};
	long fd;

	part_begin("open");
	path_is("a");
	fd = DO(open, P("a"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	DO(close, I(fd));
	path_is("b");
	fd = DO(creat, P("b"), 0600);
	DO(close, I(fd));
	path_is("a");
	fd = DO(openat, I(AT_FDCWD), P("a"), O_RDONLY | O_CLOEXEC, 0);
	DO(close, I(fd));
	path_is("c");
	fd = DO(openat2, I(AT_FDCWD), P("c"), P(&how), sizeof(how));
	DO(close, I(fd));
	path_is(".");
	fd = DO(openat, I(AT_FDCWD), P("."), O_RDONLY | O_DIRECTORY, 0);
	path_is("a");
	long below = DO(openat, I(fd), P("a"), O_RDONLY, 0);
	DO(getdents64, I(fd), P(data), sizeof(data));
	DO(close, I(below));
	DO(close, I(fd));
	part_end();
}

static void open_errors(void)
{
	static char name[4096];

	memset(name, 'q', sizeof(name) - 1);
	part_begin("open_errors");
	path_is("nothing");
	DO(open, P("nothing"), O_RDONLY, 0);
	path_is("a/b");
	DO(openat, I(AT_FDCWD), P("a/b"), O_RDONLY, 0);
	path_is("a");
	DO(open, P("a"), O_RDWR | O_CREAT | O_EXCL, 0600);
	path_is(".");
	DO(open, P("."), O_WRONLY, 0);
	text_is("", 0);
	DO(open, 8, O_RDONLY, 0); /* EFAULT */
	path_is(name);
	DO(open, P(name), O_RDONLY, 0); /* ENAMETOOLONG */
	path_is("");
	DO(openat, I(AT_FDCWD), P(""), O_RDONLY, 0);
	DO(close, 999);
	DO(read, 999, P(data), 10);
	DO(write, I(-1), P(data), 10);
	part_end();
}

static void reads_and_writes(void)
{
	struct iovec v[2] = {{data, 100}, {data + 100, 50}};
	long fd;

	part_begin("storage");
	fd = DO(open, P("rw"), O_RDWR | O_CREAT | O_TRUNC, 0644);
	DO(write, I(fd), P(data), 1000);
	DO(pwrite64, I(fd), P(data), 500, 4096);
	DO(writev, I(fd), P(v), 2);
	DO(pwritev, I(fd), P(v), 2, 10, 0);
	DO(pwritev2, I(fd), P(v), 2, 20, 0, 0);
	DO(lseek, I(fd), 0, SEEK_SET);
	DO(read, I(fd), P(data), 64);
	DO(pread64, I(fd), P(data), 4096, 100);
	DO(readv, I(fd), P(v), 2);
	DO(preadv, I(fd), P(v), 2, 4000, 0);
	DO(preadv2, I(fd), P(v), 2, 4000, 0, 0);
	DO(pread64, I(fd), P(data), 10, 1 << 20); /* behind the end */
	DO(read, I(fd), 8, 10);			  /* EFAULT */
	DO(pread64, I(fd), P(data), 10, I(-1));	  /* EINVAL */
	DO(fsync, I(fd));
	DO(fdatasync, I(fd));
	DO(sync_file_range, I(fd), 0, 4096, 2);
	DO(ftruncate, I(fd), 100);
	DO(fallocate, I(fd), 0, 0, 8192);
	DO(fadvise64, I(fd), 0, 0, 0);
	DO(flock, I(fd), 2);
	DO(close, I(fd));
	part_end();
}

static void wrong_way(void)
{
	long fd;

	part_begin("wrong_way");
	fd = DO(open, P("rw"), O_RDONLY, 0);
	DO(write, I(fd), P(data), 10); /* EBADF */
	DO(ftruncate, I(fd), 0);       /* EINVAL */
	DO(close, I(fd));
	fd = DO(open, P("."), O_RDONLY, 0);
	DO(read, I(fd), P(data), 10); /* EISDIR */
	DO(close, I(fd));
	fd = DO(open, P("/dev/full"), O_WRONLY, 0);
	DO(write, I(fd), P(data), 10); /* ENOSPC */
	DO(close, I(fd));
	part_end();
}

static void names(void)
{
	part_begin("names");
	path_is("dir");
	DO(mkdir, P("dir"), 0755);
	path_is("dir");
	DO(mkdir, P("dir"), 0755);
	path_is("dir/2");
	DO(mkdirat, I(AT_FDCWD), P("dir/2"), 0700);
	paths_are("b", "dir/b");
	DO(rename, P("b"), P("dir/b"));
	paths_are("dir/b", "b2");
	DO(renameat, I(AT_FDCWD), P("dir/b"), I(AT_FDCWD), P("b2"));
	paths_are("b2", "a");
	DO(renameat2, I(AT_FDCWD), P("b2"), I(AT_FDCWD), P("a"), RENAME_NOREPLACE); /* EEXIST */
	paths_are("a", "hard");
	DO(link, P("a"), P("hard"));
	paths_are("a", "hard");
	DO(linkat, I(AT_FDCWD), P("a"), I(AT_FDCWD), P("hard"), 0); /* EEXIST */
	paths_are("a", "soft");
	DO(symlink, P("a"), P("soft"));
	paths_are("nowhere", "soft2");
	DO(symlinkat, P("nowhere"), I(AT_FDCWD), P("soft2"));
	path_is("soft");
	DO(readlink, P("soft"), P(data), 100);
	path_is("a");
	DO(readlinkat, I(AT_FDCWD), P("a"), P(data), 100); /* EINVAL */
	path_is("hard");
	DO(unlink, P("hard"));
	path_is("hard");
	DO(unlink, P("hard"));
	path_is("soft2");
	DO(unlinkat, I(AT_FDCWD), P("soft2"), 0);
	path_is("dir");
	DO(rmdir, P("dir")); /* ENOTEMPTY */
	path_is("dir/2");
	DO(unlinkat, I(AT_FDCWD), P("dir/2"), AT_REMOVEDIR);
	path_is("dir");
	DO(rmdir, P("dir"));
	part_end();
}

static void attributes(void)
{
	static struct stat st;
	static char many[256];
	long fd;

	part_begin("attributes");
	path_is("a");
	DO(stat, P("a"), P(&st));
	path_is("soft");
	DO(lstat, P("soft"), P(&st));
	path_is("gone");
	DO(newfstatat, I(AT_FDCWD), P("gone"), P(&st), 0);
	path_is("a");
	DO(statx, I(AT_FDCWD), P("a"), 0, 0xfff, P(data));
	path_is("a");
	DO(access, P("a"), 4);
	path_is("gone");
	DO(faccessat, I(AT_FDCWD), P("gone"), 4);
	path_is("a");
	DO(chmod, P("a"), 0600);
	path_is("a");
	DO(truncate, P("a"), 10);
	path_is("a");
	DO(statfs, P("a"), P(data));
	path_is("a");
	DO(utimensat, I(AT_FDCWD), P("a"), 0, 0);
	fd = DO(open, P("a"), O_RDWR, 0);
	DO(fstat, I(fd), P(&st));
	DO(fchmod, I(fd), 0644);
	DO(fsetxattr, I(fd), P("user.limpet"), P("x"), 1, 0);
	DO(fgetxattr, I(fd), P("user.limpet"), P(many), sizeof(many));
	DO(flistxattr, I(fd), P(many), sizeof(many));
	DO(close, I(fd));
	path_is("a");
	DO(setxattr, P("a"), P("user.limpet"), P("y"), 1, 0);
	path_is("a");
	DO(getxattr, P("a"), P("user.none"), P(many), sizeof(many)); /* ENODATA or EOPNOTSUPP */
	path_is("a");
	DO(removexattr, P("a"), P("user.limpet"));
	part_end();
}

static void memory(void)
{
	struct rlimit none = {0, RLIM_INFINITY};
	long fd, at;

	part_begin("memory");
	fd = DO(open, P("rw"), O_RDWR, 0);
	at = DO(mmap, 0, 4096, PROT_READ, MAP_SHARED, I(fd), 0);
	DO(munmap, I(at), 4096);
	at = DO(mmap, 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, I(-1), 0);
	DO(mprotect, I(at), 4096, PROT_READ);
	DO(madvise, I(at), 4096, MADV_DONTNEED);
	DO(msync, I(at), 4096, MS_ASYNC);
	DO(munmap, I(at), 8192);
	DO(mmap, 0, I(1) << 60, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, I(-1), 0); /* ENOMEM */
	DO(munmap, 1, 4096);							   /* EINVAL */
	DO(prlimit64, 0, RLIMIT_CORE, P(&none), 0);
	DO(close, I(fd));
	part_end();
}

void parts_of_files(void)
{
	opens();
	open_errors();
	reads_and_writes();
	wrong_way();
	names();
	attributes();
	memory();
}
