/* The layer posix: the C library's calls for files. For functions that transfer data at the current
 * position, the position is queried after the call, which is also right for appending.
 *
 * Programs that were compiled with _FORTIFY_SOURCE or for large files call the same functions by
 * other names, so most of them exist several times.
 */
#include "runtime/spans.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static int64_t outcome(int64_t result)
{
	return result < 0 ? -errno : result;
}

SPANS_INLINE struct spans_record *begin_fd(
	int fd, enum span_op op, const char *function, int64_t offset, int64_t size)
{
	struct spans_object object;

	if (!spans_on(SPANS_POSIX) || !spans_fd(fd, &object))
		return NULL;
	return spans_begin(SPANS_POSIX, op, function, offset, size, &object);
}

/* The end of a call that transferred data at the position of its descriptor. */
static void end_at_position(struct spans_record *r, int fd, int64_t result)
{
	int saved_errno = errno;
	off_t at;

	if (!r)
		return;
	spans_stop(r, outcome(result));
	if (result >= 0) {
		at = lseek(fd, 0, SEEK_CUR);
		if (at >= (off_t)result)
			r->offset = at - (off_t)result;
	}
	spans_done(r);
	errno = saved_errno;
}

static int64_t iov_bytes(const struct iovec *iov, int n)
{
	int64_t bytes = 0;

	for (int i = 0; i < n && i < 1024; i++)
		bytes += (int64_t)iov[i].iov_len;
	return bytes;
}

#define AT_POSITION(type, name, op, params, args, size)                                            \
	SPANS_EXPORT type name params;                                                             \
	SPANS_EXPORT type name params                                                              \
	{                                                                                          \
		struct spans_record *r;                                                            \
		type result;                                                                       \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin_fd(fd, op, #name, SPAN_NO_OFFSET, size);                                 \
		result = next args;                                                                \
		end_at_position(r, fd, result);                                                    \
		return result;                                                                     \
	}

#define AT_OFFSET(type, name, op, params, args, size)                                              \
	SPANS_EXPORT type name params;                                                             \
	SPANS_EXPORT type name params                                                              \
	{                                                                                          \
		struct spans_record *r;                                                            \
		type result;                                                                       \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin_fd(fd, op, #name, offset, size);                                         \
		result = next args;                                                                \
		spans_end(r, outcome(result));                                                     \
		return result;                                                                     \
	}

AT_POSITION(ssize_t, read, SPAN_READ, (int fd, void *buf, size_t n), (fd, buf, n), (int64_t)n)
AT_POSITION(ssize_t, __read_chk, SPAN_READ, (int fd, void *buf, size_t n, size_t room),
	(fd, buf, n, room), (int64_t)n)
AT_POSITION(
	ssize_t, write, SPAN_WRITE, (int fd, const void *buf, size_t n), (fd, buf, n), (int64_t)n)
AT_POSITION(ssize_t, readv, SPAN_READ, (int fd, const struct iovec *iov, int n), (fd, iov, n),
	iov_bytes(iov, n))
AT_POSITION(ssize_t, writev, SPAN_WRITE, (int fd, const struct iovec *iov, int n), (fd, iov, n),
	iov_bytes(iov, n))
AT_OFFSET(ssize_t, pread, SPAN_READ, (int fd, void *buf, size_t n, off_t offset),
	(fd, buf, n, offset), (int64_t)n)
AT_OFFSET(ssize_t, pread64, SPAN_READ, (int fd, void *buf, size_t n, off64_t offset),
	(fd, buf, n, offset), (int64_t)n)
AT_OFFSET(ssize_t, __pread_chk, SPAN_READ, (int fd, void *buf, size_t n, off_t offset, size_t room),
	(fd, buf, n, offset, room), (int64_t)n)
AT_OFFSET(ssize_t, __pread64_chk, SPAN_READ,
	(int fd, void *buf, size_t n, off64_t offset, size_t room), (fd, buf, n, offset, room),
	(int64_t)n)
AT_OFFSET(ssize_t, pwrite, SPAN_WRITE, (int fd, const void *buf, size_t n, off_t offset),
	(fd, buf, n, offset), (int64_t)n)
AT_OFFSET(ssize_t, pwrite64, SPAN_WRITE, (int fd, const void *buf, size_t n, off64_t offset),
	(fd, buf, n, offset), (int64_t)n)
AT_OFFSET(ssize_t, preadv, SPAN_READ, (int fd, const struct iovec *iov, int n, off_t offset),
	(fd, iov, n, offset), iov_bytes(iov, n))
AT_OFFSET(ssize_t, preadv64, SPAN_READ, (int fd, const struct iovec *iov, int n, off64_t offset),
	(fd, iov, n, offset), iov_bytes(iov, n))
AT_OFFSET(ssize_t, pwritev, SPAN_WRITE, (int fd, const struct iovec *iov, int n, off_t offset),
	(fd, iov, n, offset), iov_bytes(iov, n))
AT_OFFSET(ssize_t, pwritev64, SPAN_WRITE, (int fd, const struct iovec *iov, int n, off64_t offset),
	(fd, iov, n, offset), iov_bytes(iov, n))
AT_OFFSET(ssize_t, preadv2, SPAN_READ,
	(int fd, const struct iovec *iov, int n, off_t offset, int flags),
	(fd, iov, n, offset, flags), iov_bytes(iov, n))
AT_OFFSET(ssize_t, pwritev2, SPAN_WRITE,
	(int fd, const struct iovec *iov, int n, off_t offset, int flags),
	(fd, iov, n, offset, flags), iov_bytes(iov, n))
AT_OFFSET(ssize_t, preadv64v2, SPAN_READ,
	(int fd, const struct iovec *iov, int n, off64_t offset, int flags),
	(fd, iov, n, offset, flags), iov_bytes(iov, n))
AT_OFFSET(ssize_t, pwritev64v2, SPAN_WRITE,
	(int fd, const struct iovec *iov, int n, off64_t offset, int flags),
	(fd, iov, n, offset, flags), iov_bytes(iov, n))

/* Data that does not pass through the program is written to one file. */
SPANS_EXPORT ssize_t copy_file_range(
	int from, off64_t *from_at, int fd, off64_t *at, size_t n, unsigned flags)
{
	struct spans_record *r;
	ssize_t result;

	SPANS_NEXT(copy_file_range);
	r = begin_fd(fd, SPAN_WRITE, "copy_file_range", at ? *at : SPAN_NO_OFFSET, (int64_t)n);
	result = next(from, from_at, fd, at, n, flags);
	if (at)
		spans_end(r, outcome(result));
	else
		end_at_position(r, fd, result);
	return result;
}

/* ... or read from a file. */
#define SENDFILE(name, type)                                                                       \
	SPANS_EXPORT ssize_t name(int to, int fd, type *at, size_t n);                             \
	SPANS_EXPORT ssize_t name(int to, int fd, type *at, size_t n)                              \
	{                                                                                          \
		struct spans_record *r;                                                            \
		ssize_t result;                                                                    \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin_fd(fd, SPAN_READ, #name, at ? *at : SPAN_NO_OFFSET, (int64_t)n);         \
		result = next(to, fd, at, n);                                                      \
		if (at)                                                                            \
			spans_end(r, outcome(result));                                             \
		else                                                                               \
			end_at_position(r, fd, result);                                            \
		return result;                                                                     \
	}

SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

#define OF_FD(name, op)                                                                            \
	SPANS_EXPORT int name(int fd);                                                             \
	SPANS_EXPORT int name(int fd)                                                              \
	{                                                                                          \
		struct spans_record *r;                                                            \
		int result;                                                                        \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin_fd(fd, op, #name, SPAN_NO_OFFSET, 0);                                    \
		if ((op) == SPAN_CLOSE)                                                            \
			spans_fd_forget(fd);                                                       \
		result = next(fd);                                                                 \
		spans_end(r, outcome(result));                                                     \
		return result;                                                                     \
	}

OF_FD(fsync, SPAN_SYNC)
OF_FD(fdatasync, SPAN_SYNC)
OF_FD(close, SPAN_CLOSE)

#define TRUNCATE(name, type)                                                                       \
	SPANS_EXPORT int name(int fd, type length);                                                \
	SPANS_EXPORT int name(int fd, type length)                                                 \
	{                                                                                          \
		struct spans_record *r;                                                            \
		int result;                                                                        \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin_fd(fd, SPAN_META, #name, (int64_t)length, 0);                            \
		result = next(fd, length);                                                         \
		spans_end(r, outcome(result));                                                     \
		return result;                                                                     \
	}

TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

/* An open() has no object before it succeeds. */
SPANS_INLINE struct spans_record *begin_open(const char *function)
{
	return spans_on(SPANS_POSIX)
		? spans_begin(SPANS_POSIX, SPAN_OPEN, function, SPAN_NO_OFFSET, 0, NULL)
		: NULL;
}

static int end_open(struct spans_record *r, int fd)
{
	struct spans_object object;

	spans_fd_forget(fd);
	if (!r)
		return fd;
	spans_stop(r, fd < 0 ? -errno : 0);
	if (fd >= 0 && spans_fd(fd, &object)) {
		r->device = object.device;
		r->inode = object.inode;
	}
	spans_done(r);
	return fd;
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

#define OPEN(name, params, args)                                                                   \
	SPANS_EXPORT int name params;                                                              \
	SPANS_EXPORT int name params                                                               \
	{                                                                                          \
		struct spans_record *r;                                                            \
		mode_t mode;                                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		r = begin_open(#name);                                                             \
		return end_open(r, next args);                                                     \
	}

#define OPEN_FIXED(name, params, args)                                                             \
	SPANS_EXPORT int name params;                                                              \
	SPANS_EXPORT int name params                                                               \
	{                                                                                          \
		struct spans_record *r;                                                            \
                                                                                                   \
		SPANS_NEXT(name);                                                                  \
		r = begin_open(#name);                                                             \
		return end_open(r, next args);                                                     \
	}

OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN(openat64, (int dir, const char *path, int flags, ...), (dir, path, flags, mode))
OPEN_FIXED(__open_2, (const char *path, int flags), (path, flags))
OPEN_FIXED(__open64_2, (const char *path, int flags), (path, flags))
OPEN_FIXED(__openat_2, (int dir, const char *path, int flags), (dir, path, flags))
OPEN_FIXED(__openat64_2, (int dir, const char *path, int flags), (dir, path, flags))
OPEN_FIXED(creat, (const char *path, mode_t mode), (path, mode))
OPEN_FIXED(creat64, (const char *path, mode_t mode), (path, mode))

/* These are not operations, but change the meaning of a descriptor. */
SPANS_EXPORT int dup(int from)
{
	int fd;

	SPANS_NEXT(dup);
	fd = next(from);
	spans_fd_forget(fd);
	return fd;
}

SPANS_EXPORT int dup2(int from, int to)
{
	SPANS_NEXT(dup2);
	spans_fd_forget(to);
	return next(from, to);
}

SPANS_EXPORT int dup3(int from, int to, int flags)
{
	SPANS_NEXT(dup3);
	spans_fd_forget(to);
	return next(from, to, flags);
}

SPANS_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	SPANS_NEXT(close_range);
	spans_fds_forget(first, last);
	return next(first, last, flags);
}

SPANS_EXPORT void closefrom(int first)
{
	SPANS_NEXT(closefrom);
	spans_fds_forget(first < 0 ? 0 : (unsigned)first, UINT32_MAX);
	next(first);
}

/* A program that gives up system calls; of these functions, the second is libseccomp's. */
SPANS_EXPORT int prctl(int option, ...)
{
	bool confines = option == PR_SET_SECCOMP;
	unsigned long args[4];
	uint32_t before;
	va_list ap;
	int result;

	SPANS_NEXT(prctl);
	va_start(ap, option);
	for (int i = 0; i < 4; i++)
		args[i] = va_arg(ap, unsigned long);
	va_end(ap);
	before = confines ? spans_confine() : 0;
	result = next(option, args[0], args[1], args[2], args[3]);
	if (confines && result < 0)
		spans_confine_undo(before);
	return result;
}

SPANS_EXPORT int seccomp_load(const void *context);
SPANS_EXPORT int seccomp_load(const void *context)
{
	uint32_t before;
	int result;

	SPANS_NEXT(seccomp_load);
	if (!next)
		return -ENOSYS;
	before = spans_confine();
	result = next(context);
	if (result < 0)
		spans_confine_undo(before);
	return result;
}

/* The end of the process without its destructors. */
SPANS_EXPORT void _exit(int status)
{
	SPANS_NEXT(_exit);
	spans_ended();
	next(status);
	__builtin_unreachable();
}

SPANS_EXPORT void _Exit(int status)
{
	_exit(status);
}
