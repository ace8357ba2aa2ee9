/* The objects of the descriptors of this process. They are looked up at their first use, and
 * forgotten when a descriptor is closed or replaced.
 */
#include "runtime/spans.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FDS = 65536 };

enum fd_state { FD_UNKNOWN = 0, FD_BUSY, FD_FILE, FD_OTHER };

static struct fd {
	uint32_t state; /* enum fd_state, atomic */
	struct spans_object object;
} fds[FDS];

void spans_fd_forget(int fd)
{
	if (fd >= 0 && fd < FDS)
		__atomic_store_n(&fds[fd].state, FD_UNKNOWN, __ATOMIC_RELEASE);
}

void spans_fds_forget(unsigned first, unsigned last)
{
	for (unsigned i = first; i < FDS && i <= last; i++)
		spans_fd_forget((int)i);
}

/* Record its path, as the kernel reports it. */
static void tell_name(int fd, const struct spans_object *object)
{
	char link[40], path[SPANS_NAME_MAX];
	long len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path));
	if (len > 0)
		spans_name(object, path, (size_t)len);
}

/* Is it a descriptor of io_uring? */
static bool is_ring(int fd)
{
	char link[40], path[32];
	long len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof(path));
	return len > 0 && memmem(path, (size_t)len, "[io_uring]", 10);
}

static bool look(int fd, struct spans_object *ret)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
		if (!(st.st_mode & S_IFMT) && is_ring(fd))
			spans_ring();
		return false;
	}
	*ret = (struct spans_object){
		S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev, S_ISBLK(st.st_mode) ? 0 : st.st_ino};
	tell_name(fd, ret);
	return true;
}

bool spans_fd(int fd, struct spans_object *ret)
{
	int saved_errno = errno;
	uint32_t state = FD_OTHER, unknown = FD_UNKNOWN;
	bool is_file;

	if (fd < 0)
		return false;
	if (fd < FDS)
		state = __atomic_load_n(&fds[fd].state, __ATOMIC_ACQUIRE);
	if (state == FD_FILE) {
		*ret = fds[fd].object;
		return true;
	}
	if (state == FD_OTHER && fd < FDS)
		return false;
	is_file = look(fd, ret);
	/* The first thread stores it; others have the same result. */
	if (fd < FDS &&
		__atomic_compare_exchange_n(&fds[fd].state, &unknown, FD_BUSY, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		fds[fd].object = *ret;
		__atomic_store_n(&fds[fd].state, is_file ? FD_FILE : FD_OTHER, __ATOMIC_RELEASE);
	}
	errno = saved_errno;
	return is_file;
}
