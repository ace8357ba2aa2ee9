#include "trace/ptrace_files.h"

#include "base/array.h"
#include "base/cleanup.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL /* Linux 6.9 */
#endif
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

#define CACHED_FDS_MAX (4 << 20)

void file_cache_release(struct file_cache *c)
{
	free(c->kinds);
	*c = (struct file_cache){0};
}

/* The protocol of a socket, without duplicating it. */
static unsigned socket_kind(const char *path)
{
	char name[32] = "";

	if (getxattr(path, "system.sockprotoname", name, sizeof(name) - 1) <= 0)
		return TRACE_FILE_SOCKET;
	if (!strncmp(name, "TCP", 3) || !strncmp(name, "MPTCP", 5))
		return TRACE_FILE_TCP;
	return TRACE_FILE_SOCKET;
}

/* Descriptors of processes (pidfd) look like regular files (Linux 6.9 to 6.15), but are in no file
 * system. */
static unsigned regular_kind(const char *path)
{
	char first;

	return readlink(path, &first, 1) == 1 && first != '/' ? TRACE_FILE_OTHER
							      : TRACE_FILE_STORAGE;
}

unsigned file_kind(pid_t tid, int fd)
{
	struct statx st;
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, fd);
	/* Never contact a file server: it may be the one that does not answer. */
	if (statx(AT_FDCWD, path, AT_STATX_DONT_SYNC, STATX_TYPE, &st) < 0)
		return TRACE_FILE_NONE;
	switch (st.stx_mode & S_IFMT) {
	case S_IFREG:
		return regular_kind(path);
	case S_IFBLK:
		return TRACE_FILE_STORAGE;
	case S_IFDIR:
		return TRACE_FILE_DIRECTORY;
	case S_IFIFO:
		return TRACE_FILE_PIPE;
	case S_IFCHR:
		return TRACE_FILE_DEVICE;
	case S_IFSOCK:
		return socket_kind(path);
	default:
		return TRACE_FILE_OTHER;
	}
}

unsigned file_cache_get(struct file_cache *c, pid_t tid, int fd)
{
	unsigned kind;

	if (fd < 0)
		return TRACE_FILE_NONE;
	if (!c->off && (size_t)fd < c->cap && c->kinds[fd] != TRACE_FILE_NONE)
		return c->kinds[fd];
	kind = file_kind(tid, fd);
	/* If memory runs out, it is looked up again the next time. */
	if (!c->off && fd < CACHED_FDS_MAX &&
		array_reserve(&c->kinds, &c->cap, (size_t)fd + 1, sizeof(*c->kinds)) == 0)
		c->kinds[fd] = (uint8_t)kind;
	return kind;
}

void file_cache_forget(struct file_cache *c, int64_t fd)
{
	if (fd >= 0 && (size_t)fd < c->cap)
		c->kinds[fd] = TRACE_FILE_NONE;
}

void file_cache_forget_all(struct file_cache *c)
{
	if (c->cap)
		memset(c->kinds, TRACE_FILE_NONE, c->cap);
}

/* A copy of a socket of the thread, or -1. */
static int socket_borrow(pid_t pid, pid_t tid, int fd)
{
	_cleanup_close_ int pidfd = -1;

	/* The first thread of the process may have ended, and then has no descriptors. */
	if (tid != pid)
		pidfd = (int)syscall(SYS_pidfd_open, tid, PIDFD_THREAD);
	if (pidfd < 0)
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return -1;
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

/* Split an address. IPv4-mapped IPv6 is IPv4. False: it is neither. */
static bool address_take(
	const struct sockaddr_storage *from, uint16_t *ret_family, uint16_t *ret_port, uint8_t *ret)
{
	const struct sockaddr_in *v4 = (const void *)from;
	const struct sockaddr_in6 *v6 = (const void *)from;

	if (from->ss_family == AF_INET) {
		memcpy(ret, &v4->sin_addr, 4);
		*ret_port = v4->sin_port;
	} else if (from->ss_family == AF_INET6) {
		bool mapped = IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr);

		memcpy(ret, (const uint8_t *)&v6->sin6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
		*ret_port = v6->sin6_port;
		*ret_family = mapped ? AF_INET : AF_INET6;
		return true;
	} else {
		return false;
	}
	*ret_family = AF_INET;
	return true;
}

static bool socket_is_tcp(int fd)
{
	int protocol = 0;
	socklen_t len = sizeof(protocol);

	return getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) == 0 &&
		(protocol == IPPROTO_TCP || protocol == IPPROTO_MPTCP);
}

void file_endpoints(pid_t pid, pid_t tid, int fd, const struct sockaddr_storage *remote,
	struct trace_endpoints *ret)
{
	_cleanup_close_ int sock = socket_borrow(pid, tid, fd);
	struct sockaddr_storage local = {0}, peer = {0};
	struct trace_endpoints ends = {0};
	socklen_t len = sizeof(local), peer_len = sizeof(peer);
	uint16_t family;

	*ret = ends;
	if (sock < 0 || !socket_is_tcp(sock) || getsockname(sock, (void *)&local, &len) < 0)
		return;
	if (getpeername(sock, (void *)&peer, &peer_len) < 0) {
		if (!remote)
			return;
		peer = *remote;
	}
	if (address_take(&local, &family, &ends.local_port, ends.local) &&
		address_take(&peer, &ends.family, &ends.remote_port, ends.remote))
		*ret = ends;
}
