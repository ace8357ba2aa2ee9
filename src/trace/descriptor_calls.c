#include "trace/descriptor_calls.h"

#include "model/endpoints.h"
#include "trace/descriptor_path.h"
#include "trace/descriptor_proc.h"
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int (*call_fn)(const struct step *s);

/* The base of a relative path: "" if it is unknown. */
static const char *base_of(const struct step *s, int dirfd)
{
	const struct fd_slot *slot;

	if (dirfd == AT_FDCWD)
		return s->p->cwd;
	slot = fd_table_get(s->p->table, dirfd);
	return slot && slot->file->name[0] == '/' ? slot->file->name : "";
}

static const char *path_of(const struct step *s, int dirfd, char buf[DESCRIPTOR_PATH_MAX])
{
	return descriptor_path_join(buf, s->p->root, base_of(s, dirfd),
		s->e->text ? s->e->text : "", s->e->text ? s->e->text_len : 0);
}

/* The kind of an open file: from the tracer, or guessed. */
static unsigned opened_file(const struct step *s, const char *path, uint64_t flags)
{
	if (s->e->file != TRACE_FILE_NONE)
		return s->e->file;
	if (flags & O_DIRECTORY)
		return TRACE_FILE_DIRECTORY;
	return strncmp(path, "/dev/", 5) == 0 ? TRACE_FILE_DEVICE : TRACE_FILE_STORAGE;
}

static int open_path(const struct step *s, int dirfd, uint64_t flags)
{
	char buf[DESCRIPTOR_PATH_MAX];
	struct fresh f = {.fd = (int)s->e->ret, .from = -1, .change = TRACE_FD_OPEN};

	f.name = path_of(s, dirfd, buf);
	f.file = opened_file(s, f.name, flags);
	f.cloexec = flags & O_CLOEXEC;
	f.nonblock = flags & O_NONBLOCK;
	return step_make(s, &f);
}

static int call_openat(const struct step *s)
{
	return open_path(s, (int)s->e->args[0], s->e->args[2]);
}

/* Its flags are in memory that was not copied, so read them from /proc. */
static int call_openat2(const struct step *s)
{
	uint64_t flags = 0;
	bool blocks, cloexec;
	int dir = proc_open(s->d->proc, s->p->pid);

	if (dir >= 0) {
		if (proc_fd_flags(dir, (int)s->e->ret, &blocks, &cloexec) == 0)
			flags = (blocks ? 0 : O_NONBLOCK) | (cloexec ? O_CLOEXEC : 0);
		close(dir);
	}
	return open_path(s, (int)s->e->args[0], flags);
}

static int call_open_by_handle_at(const struct step *s)
{
	return step_look(s, (int)s->e->ret, TRACE_FD_OPEN, s->e->args[2] & O_CLOEXEC);
}

static int call_close(const struct step *s)
{
	int fd = (int)s->e->args[0];
	struct fd_slot *slot = fd_table_get(s->p->table, fd);

	if (!slot)
		return 0;
	/* Calls of several threads may end in another order than they took effect: a close that
	 * began before its number was reused belongs to the old file. */
	if (s->end_ns < slot->made_ns || (slot->replaced && s->e->start_ns < slot->made_ns)) {
		slot->replaced -= slot->replaced > 0;
		return 0;
	}
	return step_close(s, fd, TRACE_FD_CLOSE);
}

static int call_close_range(const struct step *s)
{
	unsigned first = (unsigned)s->e->args[0], last = (unsigned)s->e->args[1];
	unsigned flags = (unsigned)s->e->args[2];
	int r = flags & CLOSE_RANGE_UNSHARE ? step_unshare(s) : 0;

	for (size_t fd = first; r == 0 && fd <= last && fd < s->p->table->cap; fd++) {
		struct fd_slot *slot = fd_table_get(s->p->table, (int)fd);

		if (slot && flags & CLOSE_RANGE_CLOEXEC)
			slot->cloexec = true;
		else if (slot)
			r = step_close(s, (int)fd, TRACE_FD_CLOSE);
	}
	return r;
}

static int duplicate(const struct step *s, int from, int to, bool cloexec)
{
	struct fd_slot *slot = fd_table_get(s->p->table, from);

	if (from == to)
		return 0;
	if (!slot) /* opened before tracing, or lost */
		return step_look(s, to, TRACE_FD_DUP, cloexec);
	return step_put(s, to, from, TRACE_FD_DUP, open_file_ref(slot->file), cloexec);
}

static int call_dup(const struct step *s)
{
	return duplicate(s, (int)s->e->args[0], (int)s->e->ret, false);
}

static int call_dup3(const struct step *s)
{
	return duplicate(s, (int)s->e->args[0], (int)s->e->ret, s->e->args[2] & O_CLOEXEC);
}

static int call_fcntl(const struct step *s)
{
	int fd = (int)s->e->args[0];
	struct fd_slot *slot = fd_table_get(s->p->table, fd);

	switch ((int)s->e->args[1]) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		return duplicate(s, fd, (int)s->e->ret, (int)s->e->args[1] == F_DUPFD_CLOEXEC);
	case F_SETFD:
		if (slot)
			slot->cloexec = s->e->args[2] & FD_CLOEXEC;
		return 0;
	case F_SETFL:
		if (slot)
			slot->file->blocks = !(s->e->args[2] & O_NONBLOCK);
		return 0;
	default:
		return 0;
	}
}

/* The value of FIONBIO is in memory that was not copied; read it from /proc while the descriptor is
 * open. */
static void set_nonblock(const struct step *s, int fd, struct fd_slot *slot)
{
	bool blocks = false, cloexec;
	int dir = proc_open(s->d->proc, s->p->pid);

	if (dir >= 0) {
		proc_fd_flags(dir, fd, &blocks, &cloexec);
		close(dir);
	}
	slot->file->blocks = blocks;
}

static int call_ioctl(const struct step *s)
{
	struct fd_slot *slot = fd_table_get(s->p->table, (int)s->e->args[0]);
	unsigned request = (unsigned)s->e->args[1];

	if (slot && request == FIONBIO)
		set_nonblock(s, (int)s->e->args[0], slot);
	else if (slot && (request == FIOCLEX || request == FIONCLEX))
		slot->cloexec = request == FIOCLEX;
	return 0;
}

/* The result of socket() and socketpair(): the kind, and the initial name. */
static unsigned socket_file(uint64_t domain, uint64_t type, uint64_t protocol, const char **ret)
{
	static const struct {
		unsigned domain;
		const char *name;
	} names[] = {{AF_UNIX, "unix"}, {AF_NETLINK, "netlink"}, {AF_PACKET, "packet"},
		{AF_VSOCK, "vsock"}, {AF_ALG, "alg"}};
	bool inet = domain == AF_INET || domain == AF_INET6;
	unsigned kind = type & 0xf;

	if (inet && kind == SOCK_STREAM && (protocol == 0 || protocol == 6 || protocol == 262)) {
		*ret = "tcp";
		return TRACE_FILE_TCP;
	}
	*ret = inet && kind == SOCK_DGRAM ? "udp" : "socket";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].domain == domain)
			*ret = names[i].name;
	}
	return TRACE_FILE_SOCKET;
}

static int call_socket(const struct step *s)
{
	struct fresh f = {.fd = (int)s->e->ret, .from = -1, .change = TRACE_FD_OPEN};

	f.file = socket_file(s->e->args[0], s->e->args[1], s->e->args[2], &f.name);
	f.cloexec = s->e->args[1] & SOCK_CLOEXEC;
	f.nonblock = s->e->args[1] & SOCK_NONBLOCK;
	return step_make(s, &f);
}

/* Two descriptors at once. */
static int make_pair(const struct step *s, struct fresh *f)
{
	int32_t fds[2];
	int r;

	if (!s->e->text || s->e->text_len < sizeof(fds))
		return 0;
	memcpy(fds, s->e->text, sizeof(fds));
	f->change = TRACE_FD_OPEN;
	f->from = -1;
	f->fd = fds[0];
	r = step_make(s, f);
	f->fd = fds[1];
	return r != 0 ? r : step_make(s, f);
}

static int call_socketpair(const struct step *s)
{
	struct fresh f = {0};

	f.file = socket_file(s->e->args[0], s->e->args[1], s->e->args[2], &f.name);
	f.cloexec = s->e->args[1] & SOCK_CLOEXEC;
	f.nonblock = s->e->args[1] & SOCK_NONBLOCK;
	return make_pair(s, &f);
}

#ifdef __NR_pipe
static int call_pipe(const struct step *s)
{
	struct fresh f = {.file = TRACE_FILE_PIPE, .name = "pipe"};

	return make_pair(s, &f);
}
#endif

static int call_pipe2(const struct step *s)
{
	struct fresh f = {.file = TRACE_FILE_PIPE, .name = "pipe"};

	f.cloexec = s->e->args[1] & O_CLOEXEC;
	f.nonblock = s->e->args[1] & O_NONBLOCK;
	return make_pair(s, &f);
}

static int accept_with(const struct step *s, uint64_t flags)
{
	const struct fd_slot *listening = fd_table_get(s->p->table, (int)s->e->args[0]);
	struct fresh f = {.fd = (int)s->e->ret,
		.from = (int)s->e->args[0],
		.change = TRACE_FD_ACCEPT,
		.accepted = true};
	char name[ENDPOINTS_TEXT_MAX];
	struct trace_endpoints ends;

	f.cloexec = flags & SOCK_CLOEXEC;
	f.nonblock = flags & SOCK_NONBLOCK;
	if (endpoints_of_event(s->e, &ends)) {
		f.ends = &ends;
		f.file = TRACE_FILE_TCP;
		f.name = endpoints_name(&ends, name);
	} else {
		f.file = listening ? listening->file->file : TRACE_FILE_SOCKET;
		f.name = listening ? listening->file->name : "socket";
		if (f.file == TRACE_FILE_TCP)
			f.name = "tcp";
	}
	return step_make(s, &f);
}

static int call_accept(const struct step *s)
{
	return accept_with(s, 0);
}

static int call_accept4(const struct step *s)
{
	return accept_with(s, s->e->args[3]);
}

/* Also for a connection in progress: its ends are known. */
static int call_connect(const struct step *s)
{
	int fd = (int)s->e->args[0], r;
	struct fd_slot *slot = fd_table_get(s->p->table, fd);
	char name[ENDPOINTS_TEXT_MAX];
	struct trace_endpoints ends;

	if (!endpoints_of_event(s->e, &ends))
		return 0;
	endpoints_name(&ends, name);
	if (!slot) {
		struct fresh f = {.fd = fd,
			.from = -1,
			.change = TRACE_FD_CONNECT,
			.file = TRACE_FILE_TCP,
			.name = name,
			.ends = &ends};

		return step_make(s, &f);
	}
	r = open_file_rename(slot->file, name);
	if (r < 0)
		return r;
	slot->file->ends = ends;
	slot->file->file = TRACE_FILE_TCP;
	return step_put(s, fd, -1, TRACE_FD_CONNECT, open_file_ref(slot->file), slot->cloexec);
}

static int call_recvmsg(const struct step *s)
{
	bool cloexec = s->e->args[2] & MSG_CMSG_CLOEXEC;
	int r = 0;

	for (uint32_t at = 0; r == 0 && s->e->text && at + 4 <= s->e->text_len; at += 4) {
		int32_t fd;

		memcpy(&fd, s->e->text + at, sizeof(fd));
		r = step_look(s, fd, TRACE_FD_PASSED, cloexec);
	}
	return r;
}

static int call_pidfd_getfd(const struct step *s)
{
	return step_look(s, (int)s->e->ret, TRACE_FD_PASSED, true);
}

static int call_unshare(const struct step *s)
{
	return s->e->args[0] & CLONE_FILES ? step_unshare(s) : 0;
}

static int call_chdir(const struct step *s)
{
	char buf[DESCRIPTOR_PATH_MAX];

	return process_set_text(&s->p->cwd, path_of(s, AT_FDCWD, buf));
}

static int call_fchdir(const struct step *s)
{
	return process_set_text(&s->p->cwd, base_of(s, (int)s->e->args[0]));
}

static int call_chroot(const struct step *s)
{
	char buf[DESCRIPTOR_PATH_MAX];
	const char *path = path_of(s, AT_FDCWD, buf);

	return process_set_text(&s->p->root, strcmp(path, "/") != 0 ? path : "");
}

/* signalfd on an existing descriptor only changes it. */
static int call_signalfd(const struct step *s)
{
	struct fresh f = {.fd = (int)s->e->ret,
		.from = -1,
		.change = TRACE_FD_OPEN,
		.file = TRACE_FILE_OTHER,
		.name = "anon_inode:[signalfd]"};

	if ((int)s->e->args[0] >= 0)
		return 0;
	if (trace_event_native(s->e) == __NR_signalfd4) {
		f.cloexec = s->e->args[3] & O_CLOEXEC;
		f.nonblock = s->e->args[3] & O_NONBLOCK;
	}
	return step_make(s, &f);
}

/* Calls with a path as the name. */
static int call_memfd_create(const struct step *s)
{
	char name[256] = "/memfd:";
	size_t len = s->e->text ? s->e->text_len : 0, room = sizeof(name) - strlen(name) - 1;
	struct fresh f = {.fd = (int)s->e->ret,
		.from = -1,
		.change = TRACE_FD_OPEN,
		.file = TRACE_FILE_STORAGE,
		.name = name,
		.cloexec = s->e->args[1] & 1};

	if (len)
		strncat(name, s->e->text, len < room ? len : room);
	return step_make(s, &f);
}

/* All other calls: the argument with the flags, the bits for close-on-exec and non-blocking, and
 * the name. */
struct plain {
	const char *name;
	int8_t flags_arg; /* -1: none */
	bool always;	  /* always close-on-exec */
	uint32_t cloexec, nonblock;
};

static const struct plain *plain_of(unsigned nr)
{
	static const struct plain calls[SYSCALL_MAX] = {
		[__NR_eventfd2] = {"anon_inode:[eventfd]", 1, false, O_CLOEXEC, O_NONBLOCK},
		[__NR_epoll_create1] = {"anon_inode:[eventpoll]", 0, false, O_CLOEXEC, 0},
		[__NR_timerfd_create] = {"anon_inode:[timerfd]", 1, false, O_CLOEXEC, O_NONBLOCK},
		[__NR_inotify_init1] = {"anon_inode:inotify", 0, false, O_CLOEXEC, O_NONBLOCK},
		[__NR_fanotify_init] = {"anon_inode:[fanotify]", 0, false, 1, 2},
		[__NR_userfaultfd] = {"anon_inode:[userfaultfd]", 0, false, O_CLOEXEC, O_NONBLOCK},
		[__NR_io_uring_setup] = {"anon_inode:[io_uring]", -1, true, 0, 0},
		[__NR_pidfd_open] = {"anon_inode:[pidfd]", 1, true, 0, O_NONBLOCK},
		[__NR_perf_event_open] = {"anon_inode:[perf_event]", 4, false, 8, 0},
		[__NR_mq_open] = {"mqueue", 1, true, 0, O_NONBLOCK},
		[__NR_fsopen] = {"anon_inode:[fscontext]", 1, false, 1, 0},
		[__NR_fspick] = {"anon_inode:[fscontext]", 2, false, 1, 0},
		[__NR_fsmount] = {"mount", 1, false, 1, 0},
		[__NR_open_tree] = {"mount", 2, false, O_CLOEXEC, 0},
		[__NR_landlock_create_ruleset] = {"anon_inode:[landlock-ruleset]", -1, true, 0, 0},
#ifdef __NR_memfd_secret
		[__NR_memfd_secret] = {"/secretmem", 0, false, O_CLOEXEC, 0},
#endif
#ifdef __NR_eventfd
		[__NR_eventfd] = {"anon_inode:[eventfd]", -1, false, 0, 0},
		[__NR_epoll_create] = {"anon_inode:[eventpoll]", -1, false, 0, 0},
		[__NR_inotify_init] = {"anon_inode:inotify", -1, false, 0, 0},
#endif
	};

	return nr < SYSCALL_MAX && calls[nr].name ? &calls[nr] : NULL;
}

static int make_plain(const struct step *s, const struct plain *how)
{
	uint64_t flags = how->flags_arg >= 0 ? s->e->args[how->flags_arg] : 0;
	struct fresh f = {.fd = (int)s->e->ret,
		.from = -1,
		.change = TRACE_FD_OPEN,
		.file = TRACE_FILE_OTHER,
		.name = how->name};

	f.cloexec = how->always || flags & how->cloexec;
	f.nonblock = flags & how->nonblock;
	return step_make(s, &f);
}

#ifdef __NR_open
static int call_open(const struct step *s)
{
	return open_path(s, AT_FDCWD, s->e->args[1]);
}

static int call_creat(const struct step *s)
{
	return open_path(s, AT_FDCWD, 0);
}
#endif

static const call_fn calls[SYSCALL_MAX] = {
	[__NR_openat] = call_openat,
	[__NR_openat2] = call_openat2,
	[__NR_open_by_handle_at] = call_open_by_handle_at,
	[__NR_close] = call_close,
	[__NR_close_range] = call_close_range,
	[__NR_dup] = call_dup,
	[__NR_dup3] = call_dup3,
	[__NR_fcntl] = call_fcntl,
	[__NR_ioctl] = call_ioctl,
	[__NR_socket] = call_socket,
	[__NR_socketpair] = call_socketpair,
	[__NR_pipe2] = call_pipe2,
	[__NR_accept] = call_accept,
	[__NR_accept4] = call_accept4,
	[__NR_connect] = call_connect,
	[__NR_recvmsg] = call_recvmsg,
	[__NR_pidfd_getfd] = call_pidfd_getfd,
	[__NR_unshare] = call_unshare,
	[__NR_chdir] = call_chdir,
	[__NR_fchdir] = call_fchdir,
	[__NR_chroot] = call_chroot,
	[__NR_signalfd4] = call_signalfd,
	[__NR_memfd_create] = call_memfd_create,
#ifdef __NR_open
	[__NR_open] = call_open,
	[__NR_creat] = call_creat,
	[__NR_dup2] = call_dup,
	[__NR_pipe] = call_pipe,
	[__NR_signalfd] = call_signalfd,
#endif
};

/* close releases the number even if it fails, unless it was not open; a connection in progress has
 * its ends. All other failed calls changed nothing. */
static bool took_effect(unsigned nr, int64_t ret)
{
	if (ret >= 0)
		return true;
	return (nr == __NR_close && ret != -EBADF) || (nr == __NR_connect && ret == -EINPROGRESS);
}

bool descriptor_call_matters(const struct trace_event *e)
{
	int nr = trace_event_native(e);

	return nr >= 0 && (calls[nr] || plain_of((unsigned)nr));
}

int descriptor_call(const struct step *s)
{
	int nr = trace_event_native(s->e);
	const struct plain *how;

	if (nr < 0 || !took_effect((unsigned)nr, s->e->ret))
		return 0;
	if (calls[nr])
		return calls[nr](s);
	how = plain_of((unsigned)nr);
	return how ? make_plain(s, how) : 0;
}
