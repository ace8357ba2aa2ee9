#include "trace/descriptor_proc.h"

#include "base/cleanup.h"
#include "model/trace_event.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int proc_open(const char *proc, pid_t pid)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%d", proc, (int)pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static unsigned file_of_mode(unsigned mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFBLK:
		return TRACE_FILE_STORAGE;
	case S_IFDIR:
		return TRACE_FILE_DIRECTORY;
	case S_IFSOCK:
		return TRACE_FILE_SOCKET;
	case S_IFIFO:
		return TRACE_FILE_PIPE;
	case S_IFCHR:
		return TRACE_FILE_DEVICE;
	default: /* epoll and similar files have none */
		return TRACE_FILE_OTHER;
	}
}

/* Classify by the link, if the file cannot be examined. */
static unsigned file_of_name(const char *name)
{
	static const struct {
		const char *prefix;
		unsigned file;
	} kinds[] = {{"socket:", TRACE_FILE_SOCKET}, {"pipe:", TRACE_FILE_PIPE},
		{"/dev/", TRACE_FILE_DEVICE}, {"/", TRACE_FILE_STORAGE}};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)))
			return kinds[i].file;
	}
	return TRACE_FILE_OTHER;
}

/* AT_STATX_DONT_SYNC: a file system with a hanging server must not block the tracer. */
static unsigned classify(int dir, const char *path, const char *name)
{
	struct statx st;

	if (!strncmp(name, "anon_inode:", 11))
		return TRACE_FILE_OTHER;
	if (name[0] != '/' ||
		statx(dir, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) < 0)
		return file_of_name(name);
	return file_of_mode(st.stx_mode);
}

int proc_fd_flags(int dir, int fd, bool *ret_blocks, bool *ret_cloexec)
{
	char path[64], text[512];
	const char *flags;
	unsigned long bits;

	snprintf(path, sizeof(path), "fdinfo/%d", fd);
	proc_text(dir, path, text, sizeof(text));
	flags = strstr(text, "flags:");
	if (!flags)
		return -ENOENT;
	bits = strtoul(flags + strlen("flags:"), NULL, 8);
	*ret_blocks = !(bits & O_NONBLOCK);
	*ret_cloexec = bits & O_CLOEXEC;
	return 0;
}

int proc_fd_read(int dir, int fd, struct proc_fd *ret)
{
	char path[64];
	ssize_t len;

	snprintf(path, sizeof(path), "fd/%d", fd);
	len = readlinkat(dir, path, ret->name, sizeof(ret->name) - 1);
	if (len < 0)
		return -errno;
	ret->name[len] = '\0';
	ret->blocks = true;
	ret->cloexec = false;
	proc_fd_flags(dir, fd, &ret->blocks, &ret->cloexec);
	ret->file = (uint8_t)classify(dir, path, ret->name);
	ret->inode = 0;
	if (ret->file == TRACE_FILE_SOCKET && !strncmp(ret->name, "socket:[", 8))
		ret->inode = strtoull(ret->name + 8, NULL, 10);
	return 0;
}

int proc_fds(int dir, int (*fn)(void *ctx, int fd), void *ctx)
{
	_cleanup_closedir_ DIR *d = NULL;
	int fd = openat(dir, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	const struct dirent *entry;

	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		close(fd);
		return r;
	}
	while (r == 0 && (entry = readdir(d))) {
		char *end;
		long number = strtol(entry->d_name, &end, 10);

		if (end != entry->d_name && !*end && number >= 0 && number <= INT_MAX)
			r = fn(ctx, (int)number);
	}
	return r;
}

const char *proc_text(int dir, const char *file, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[len > 0 ? len : 0] = '\0';
	if (len > 0 && buf[len - 1] == '\n')
		buf[len - 1] = '\0';
	return buf;
}

const char *proc_link(int dir, const char *file, char *buf, size_t size)
{
	ssize_t len = readlinkat(dir, file, buf, size - 1);

	buf[len > 0 ? len : 0] = '\0';
	return buf;
}
