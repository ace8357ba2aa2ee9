/* Sequences of events, and what becomes of the tables and is told. */
#include "base/strbuf.h"
#include "proc_rig.h"
#include "trace/descriptors.h"
#include <arpa/inet.h>
#include <asm/unistd.h>
#include <errno.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define PID 812

struct rig {
	struct descriptors *d;
	struct strbuf told; /* "open 3 storage /data/x\n" ... since the last look */
	int64_t now;
	uint64_t seq;
	int stop; /* what the told one returns */
};

static int told(void *ctx, const struct trace_descriptor *t)
{
	struct rig *r = ctx;

	if (t->pid != PID)
		strbuf_printf(&r->told, "%d: ", t->pid);
	strbuf_printf(&r->told, "%s %d", trace_change_name(t->change), t->fd);
	if (t->from >= 0)
		strbuf_printf(&r->told, " from %d", t->from);
	if (t->file != TRACE_FILE_NONE)
		strbuf_printf(&r->told, " %s %s", trace_file_name(t->file), t->name);
	strbuf_puts(&r->told, "\n");
	return r->stop;
}

static struct rig *rig_of(void **state)
{
	return *state;
}

/* A server whose table is empty, in /data. */
static int setup(void **state)
{
	static struct rig rig;

	temp_dir_setup(state);
	proc_process(PID, "server", "/data");
	rig = (struct rig){.now = 1000};
	rig.d = descriptors_new(temp_dir_path, told, &rig);
	*state = &rig;
	return rig.d && descriptors_read(rig.d, PID, 1, NULL) == 0 ? 0 : -1;
}

static int teardown(void **state)
{
	struct rig *r = *state;

	descriptors_free(r->d);
	strbuf_release(&r->told);
	return temp_dir_teardown(state);
}

static void expect(struct rig *r, const char *text)
{
	assert_string_equal(r->told.text ? r->told.text : "", text);
	strbuf_reset(&r->told);
	if (r->told.text)
		r->told.text[0] = '\0';
}

static struct trace_event event(struct rig *r, unsigned what, unsigned nr, int64_t ret)
{
	r->now += 100;
	return (struct trace_event){.seq = ++r->seq,
		.start_ns = r->now,
		.dur_ns = 10,
		.pid = PID,
		.tid = PID,
		.nr = (uint16_t)nr,
		.what = (uint8_t)what,
		.ret = ret};
}

static void apply(struct rig *r, const struct trace_event *e)
{
	assert_int_equal(descriptors_apply(r->d, e, NULL), 0);
}

/* A call with up to four arguments. */
static void call(
	struct rig *r, unsigned nr, int64_t ret, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct trace_event e = event(r, TRACE_CALL, nr, ret);

	e.args[0] = a0;
	e.args[1] = a1;
	e.args[2] = a2;
	e.args[3] = a3;
	apply(r, &e);
}

static void call_text(struct rig *r, unsigned nr, int64_t ret, const uint64_t args[4],
	const void *text, size_t len)
{
	struct trace_event e = event(r, TRACE_CALL, nr, ret);

	memcpy(e.args, args, 4 * sizeof(args[0]));
	e.text = text;
	e.text_len = (uint32_t)len;
	apply(r, &e);
}

static void open_at(struct rig *r, int dirfd, const char *path, unsigned flags, int ret)
{
	call_text(r, __NR_openat, ret, (uint64_t[4]){(uint64_t)dirfd, 1, flags, 0644}, path,
		strlen(path));
}

static void close_fd(struct rig *r, int fd)
{
	call(r, __NR_close, 0, (uint64_t)fd, 0, 0, 0);
}

static struct descriptor get(struct rig *r, int pid, int fd)
{
	struct descriptor x = {0};

	assert_true(descriptors_get(r->d, pid, fd, &x));
	return x;
}

static bool is_open(struct rig *r, int pid, int fd)
{
	struct descriptor x;

	return descriptors_get(r->d, pid, fd, &x);
}

static struct trace_endpoints ends(
	const char *local, unsigned lport, const char *remote, unsigned rport)
{
	struct trace_endpoints e = {.family = AF_INET,
		.local_port = htons((uint16_t)lport),
		.remote_port = htons((uint16_t)rport)};

	inet_pton(AF_INET, local, e.local);
	inet_pton(AF_INET, remote, e.remote);
	return e;
}

static void test_open_close(void **state)
{
	struct rig *r = rig_of(state);

	open_at(r, AT_FDCWD, "brick/x", O_RDWR, 3);
	open_at(r, AT_FDCWD, "/etc//./passwd", O_RDONLY | O_CLOEXEC, 4);
	open_at(r, AT_FDCWD, "/dev/null", O_RDONLY, 5);
	open_at(r, AT_FDCWD, ".", O_RDONLY | O_DIRECTORY, 6);
	open_at(r, 6, "../y", O_RDONLY | O_NONBLOCK, 7);
	open_at(r, 99, "z", O_RDONLY, 8);
	open_at(r, AT_FDCWD, "no", O_RDONLY, -ENOENT);
	expect(r,
		"open 3 storage /data/brick/x\n"
		"open 4 storage /etc/passwd\n"
		"open 5 device /dev/null\n"
		"open 6 directory /data\n"
		"open 7 storage /y\n"
		"open 8 storage z\n");
	assert_true(get(r, PID, 3).blocks);
	assert_false(get(r, PID, 7).blocks);
	assert_string_equal(get(r, PID, 3).name, "/data/brick/x");
	assert_true(get(r, PID, 3).id != get(r, PID, 4).id);
	close_fd(r, 3);
	close_fd(r, 3);
	close_fd(r, 1000);
	close_fd(r, -1);
	expect(r, "close 3 storage /data/brick/x\n");
	assert_false(is_open(r, PID, 3));
	assert_false(is_open(r, PID, -1));
	assert_false(is_open(r, PID + 1, 4));
}

/* The tracer knows what it is; guesses are for those that do not. */
static void test_known_file(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e = event(r, TRACE_CALL, __NR_openat, 3);

	e.args[0] = (uint64_t)AT_FDCWD;
	e.text = "/run/fifo";
	e.text_len = 9;
	e.file = TRACE_FILE_PIPE;
	apply(r, &e);
	expect(r, "open 3 pipe /run/fifo\n");
}

/* Linux gives the number up even where close fails, but for one that was not open. */
static void test_failed_close(void **state)
{
	struct rig *r = rig_of(state);

	open_at(r, AT_FDCWD, "x", 0, 3);
	call(r, __NR_close, -EBADF, 3, 0, 0, 0);
	assert_true(is_open(r, PID, 3));
	call(r, __NR_close, -EIO, 3, 0, 0, 0);
	assert_false(is_open(r, PID, 3));
	expect(r, "open 3 storage /data/x\nclose 3 storage /data/x\n");
}

static void test_dup(void **state)
{
	struct rig *r = rig_of(state);

	open_at(r, AT_FDCWD, "x", O_NONBLOCK, 3);
	open_at(r, AT_FDCWD, "y", 0, 9);
	expect(r, "open 3 storage /data/x\nopen 9 storage /data/y\n");
	call(r, __NR_dup, 4, 3, 0, 0, 0);
	call(r, __NR_dup3, 9, 3, 9, O_CLOEXEC, 0);
	call(r, __NR_fcntl, 10, 3, F_DUPFD, 10, 0);
	call(r, __NR_fcntl, 11, 4, F_DUPFD_CLOEXEC, 10, 0);
	call(r, __NR_dup, -EMFILE, 3, 0, 0, 0);
	expect(r,
		"dup 4 from 3 storage /data/x\n"
		"dup 9 from 3 storage /data/x\n"
		"dup 10 from 3 storage /data/x\n"
		"dup 11 from 4 storage /data/x\n");
	assert_int_equal(get(r, PID, 11).id, get(r, PID, 3).id);
	/* O_NONBLOCK is the open file's: all of them have it. */
	call(r, __NR_fcntl, 0, 3, F_SETFL, 0, 0);
	assert_true(get(r, PID, 11).blocks);
	close_fd(r, 3);
	assert_string_equal(get(r, PID, 4).name, "/data/x");
#ifdef __NR_dup2
	expect(r, "close 3 storage /data/x\n");
	call(r, __NR_dup2, 4, 4, 4, 0, 0);
	expect(r, "");
	call(r, __NR_dup2, 0, 4, 0, 0, 0);
	expect(r, "dup 0 from 4 storage /data/x\n");
#endif
}

static void test_exec(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	open_at(r, AT_FDCWD, "a", O_CLOEXEC, 3);
	open_at(r, AT_FDCWD, "b", 0, 4);
	open_at(r, AT_FDCWD, "c", 0, 5);
	open_at(r, AT_FDCWD, "d", O_CLOEXEC, 6);
	call(r, __NR_fcntl, 0, 5, F_SETFD, FD_CLOEXEC, 0);
	call(r, __NR_fcntl, 0, 6, F_SETFD, 0, 0);
	call(r, __NR_ioctl, 0, 4, FIOCLEX, 0, 0);
	call(r, __NR_ioctl, 0, 4, FIONCLEX, 0, 0);
	strbuf_reset(&r->told);
	assert_string_equal(descriptors_comm(r->d, PID), "server");
	e = event(r, TRACE_EXEC, 0, 0);
	e.text = "/usr/sbin/a-name-of-many-letters";
	e.text_len = (uint32_t)strlen(e.text);
	e.tid = PID + 5; /* another thread did it */
	apply(r, &e);
	expect(r, "exec 3 storage /data/a\nexec 5 storage /data/c\n");
	assert_string_equal(descriptors_comm(r->d, PID), "a-name-of-many-");
	assert_true(is_open(r, PID, 4) && is_open(r, PID, 6));
}

/* What was read after the exec is not what it closed. */
static void test_exec_before_read(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e = event(r, TRACE_EXEC, 0, 0);

	proc_process(900, "new", "/");
	proc_fd_put(900, 3, "/data/x", O_RDWR | O_CLOEXEC);
	assert_int_equal(descriptors_read(r->d, 900, e.start_ns + 1000, NULL), 0);
	e.pid = e.tid = 900;
	apply(r, &e);
	expect(r, "900: before 3 storage /data/x\n");
	e.start_ns += 1000;
	apply(r, &e);
	expect(r, "900: exec 3 storage /data/x\n");
}

static void fork_event(struct rig *r, int child, uint64_t flags)
{
	struct trace_event e = event(r, TRACE_FORK, 0, child);

	e.args[0] = flags;
	apply(r, &e);
}

static void exit_event(struct rig *r, int pid)
{
	struct trace_event e = event(r, TRACE_EXIT, 0, 0);

	e.pid = e.tid = pid;
	apply(r, &e);
}

static void test_fork(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	open_at(r, AT_FDCWD, "a", 0, 3);
	fork_event(r, 900, 0);
	expect(r, "open 3 storage /data/a\n900: fork -1 from 812\n");
	assert_int_equal(get(r, 900, 3).id, get(r, PID, 3).id);
	assert_string_equal(descriptors_comm(r->d, 900), "server");
	close_fd(r, 3);
	assert_true(is_open(r, 900, 3));
	/* The child has the directory of its parent. */
	e = event(r, TRACE_CALL, __NR_openat, 4);
	e.pid = e.tid = 900;
	e.args[0] = (uint64_t)AT_FDCWD;
	e.text = "b";
	e.text_len = 1;
	apply(r, &e);
	assert_false(is_open(r, PID, 4));
	expect(r, "close 3 storage /data/a\n900: open 4 storage /data/b\n");
	exit_event(r, 900);
	assert_false(is_open(r, 900, 3));
	/* A thread is no process. */
	fork_event(r, 901, CLONE_THREAD | CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_FS);
	expect(r, "");
	e.pid = PID;
	e.tid = 901;
	apply(r, &e);
	expect(r, "open 4 storage /data/b\n");
}

/* Processes that share one table: each is told. */
static void test_shared_table(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	fork_event(r, 900, CLONE_FILES);
	expect(r, "900: fork -1 from 812\n");
	open_at(r, AT_FDCWD, "a", O_CLOEXEC, 3);
	assert_true(is_open(r, 900, 3));
	assert_true(strstr(r->told.text, "900: open 3 storage /data/a\n"));
	assert_true(strstr(r->told.text, "\nopen 3") || !strncmp(r->told.text, "open 3", 6));
	strbuf_reset(&r->told);
	e = event(r, TRACE_CALL, __NR_unshare, 0);
	e.pid = e.tid = 900;
	e.args[0] = CLONE_FILES;
	apply(r, &e);
	close_fd(r, 3);
	expect(r, "close 3 storage /data/a\n");
	assert_true(is_open(r, 900, 3));
	/* Exec ends the sharing, too. */
	fork_event(r, 901, CLONE_FILES | CLONE_VM);
	open_at(r, AT_FDCWD, "b", O_CLOEXEC, 3);
	e = event(r, TRACE_EXEC, 0, 0);
	e.pid = e.tid = 901;
	apply(r, &e);
	assert_false(is_open(r, 901, 3));
	assert_true(is_open(r, PID, 3));
	exit_event(r, 901);
	exit_event(r, 900);
	assert_true(is_open(r, PID, 3));
}

/* A thread that no longer shares is asked by its own id. */
static void test_private_thread(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	open_at(r, AT_FDCWD, "a", 0, 3);
	e = event(r, TRACE_CALL, __NR_unshare, 0);
	e.tid = 850;
	e.args[0] = CLONE_FILES;
	apply(r, &e);
	e = event(r, TRACE_CALL, __NR_close, 0);
	e.tid = 850;
	e.args[0] = 3;
	apply(r, &e);
	expect(r, "open 3 storage /data/a\n850: fork -1 from 812\n850: close 3 storage /data/a\n");
	assert_true(is_open(r, PID, 3));
	assert_false(is_open(r, 850, 3));
	fork_event(r, 851, CLONE_THREAD | CLONE_VM | CLONE_SIGHAND);
	assert_true(is_open(r, 851, 3));
	exit_event(r, PID);
	assert_false(is_open(r, 851, 3));
}

static void test_close_range(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	for (int fd = 3; fd < 9; fd++)
		open_at(r, AT_FDCWD, "x", 0, fd);
	strbuf_reset(&r->told);
	call(r, __NR_close_range, 0, 4, 5, 0, 0);
	expect(r, "close 4 storage /data/x\nclose 5 storage /data/x\n");
	call(r, __NR_close_range, 0, 7, UINT32_MAX, CLOSE_RANGE_CLOEXEC, 0);
	expect(r, "");
	call(r, __NR_close_range, -EINVAL, 3, 8, 0, 0);
	e = event(r, TRACE_EXEC, 0, 0);
	apply(r, &e);
	expect(r, "exec 7 storage /data/x\nexec 8 storage /data/x\n");
	fork_event(r, 900, CLONE_FILES);
	strbuf_reset(&r->told);
	call(r, __NR_close_range, 0, 0, UINT32_MAX, CLOSE_RANGE_UNSHARE, 0);
	expect(r, "close 3 storage /data/x\nclose 6 storage /data/x\n");
	assert_true(is_open(r, 900, 6));
}

static void test_sockets(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_endpoints in = ends("10.0.0.1", 24007, "10.0.0.9", 49151);
	struct trace_endpoints out = ends("10.0.0.1", 49152, "10.0.0.2", 24007), none = {0};

	call(r, __NR_socket, 3, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0, 0);
	call(r, __NR_socket, 4, AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 6, 0);
	call(r, __NR_socket, 5, AF_UNIX, SOCK_STREAM, 0, 0);
	call(r, __NR_socket, 6, AF_INET, SOCK_DGRAM, 0, 0);
	call(r, __NR_socket, 7, AF_NETLINK, SOCK_RAW, 0, 0);
	call(r, __NR_socket, 8, AF_INET, SOCK_RAW, 1, 0);
	call(r, __NR_socket, -EMFILE, AF_INET, SOCK_STREAM, 0, 0);
	expect(r,
		"open 3 tcp tcp\nopen 4 tcp tcp\nopen 5 socket unix\nopen 6 socket udp\n"
		"open 7 socket netlink\nopen 8 socket socket\n");
	assert_true(get(r, PID, 3).blocks);
	assert_false(get(r, PID, 4).blocks);
	call_text(r, __NR_accept4, 9, (uint64_t[4]){3, 0, 0, SOCK_NONBLOCK}, &in, sizeof(in));
	call_text(r, __NR_accept, 10, (uint64_t[4]){5}, &none, sizeof(none));
	call_text(r, __NR_accept4, -EMFILE, (uint64_t[4]){3}, &none, sizeof(none));
	expect(r,
		"accept 9 from 3 tcp tcp 10.0.0.1:24007 10.0.0.9:49151\n"
		"accept 10 from 5 socket unix\n");
	assert_true(get(r, PID, 9).accepted);
	assert_false(get(r, PID, 9).blocks);
	assert_int_equal(ntohs(get(r, PID, 9).ends.remote_port), 49151);
	assert_int_equal(get(r, PID, 3).ends.family, 0);
	call_text(r, __NR_connect, -EINPROGRESS, (uint64_t[4]){4}, &out, sizeof(out));
	call_text(r, __NR_connect, -ECONNREFUSED, (uint64_t[4]){3}, &out, sizeof(out));
	call_text(r, __NR_connect, 0, (uint64_t[4]){5}, &none, sizeof(none));
	call_text(r, __NR_connect, 0, (uint64_t[4]){77}, &out, sizeof(out));
	expect(r,
		"connect 4 tcp tcp 10.0.0.1:49152 10.0.0.2:24007\n"
		"connect 77 tcp tcp 10.0.0.1:49152 10.0.0.2:24007\n");
	assert_false(get(r, PID, 4).accepted);
	assert_false(get(r, PID, 4).blocks);
	assert_int_equal(get(r, PID, 4).ends.family, AF_INET);
	assert_int_equal(get(r, PID, 3).ends.family, 0);
}

static void test_pairs(void **state)
{
	struct rig *r = rig_of(state);
	const int32_t fds[2] = {3, 4}, more[2] = {5, 6};

	call_text(r, __NR_pipe2, 0, (uint64_t[4]){1, O_NONBLOCK}, fds, sizeof(fds));
	call_text(r, __NR_socketpair, 0, (uint64_t[4]){AF_UNIX, SOCK_STREAM, 0, 1}, more,
		sizeof(more));
	call_text(r, __NR_pipe2, -EMFILE, (uint64_t[4]){1, 0}, fds, sizeof(fds));
	call_text(r, __NR_pipe2, 0, (uint64_t[4]){1, 0}, fds, 3);
	expect(r, "open 3 pipe pipe\nopen 4 pipe pipe\nopen 5 socket unix\nopen 6 socket unix\n");
	assert_false(get(r, PID, 3).blocks);
	assert_true(get(r, PID, 5).blocks);
	assert_true(get(r, PID, 3).id != get(r, PID, 4).id);
}

static void test_others(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	call(r, __NR_eventfd2, 3, 0, O_NONBLOCK, 0, 0);
	call(r, __NR_epoll_create1, 4, O_CLOEXEC, 0, 0, 0);
	call(r, __NR_timerfd_create, 5, 0, O_CLOEXEC, 0, 0);
	call(r, __NR_signalfd4, 6, UINT32_MAX, 0, 8, O_CLOEXEC);
	call(r, __NR_signalfd4, 6, 6, 0, 8, 0);
	call(r, __NR_inotify_init1, 7, 0, 0, 0, 0);
	call_text(r, __NR_memfd_create, 8, (uint64_t[4]){1, 1}, "cache", 5);
	call(r, __NR_userfaultfd, 9, O_CLOEXEC, 0, 0, 0);
	call(r, __NR_io_uring_setup, 10, 8, 0, 0, 0);
	call(r, __NR_pidfd_open, 11, 1, 0, 0, 0);
	call(r, __NR_epoll_create1, -ENFILE, 0, 0, 0, 0);
	expect(r,
		"open 3 other anon_inode:[eventfd]\nopen 4 other anon_inode:[eventpoll]\n"
		"open 5 other anon_inode:[timerfd]\nopen 6 other anon_inode:[signalfd]\n"
		"open 7 other anon_inode:inotify\nopen 8 storage /memfd:cache\n"
		"open 9 other anon_inode:[userfaultfd]\nopen 10 other anon_inode:[io_uring]\n"
		"open 11 other anon_inode:[pidfd]\n");
	assert_false(get(r, PID, 3).blocks);
	e = event(r, TRACE_EXEC, 0, 0);
	apply(r, &e);
	for (int fd = 3; fd <= 11; fd++)
		assert_int_equal(is_open(r, PID, fd), fd == 3 || fd == 7);
}

static void test_directories(void **state)
{
	struct rig *r = rig_of(state);

	call_text(r, __NR_chdir, 0, (uint64_t[4]){1}, "brick/../b2", 11);
	open_at(r, AT_FDCWD, "x", 0, 3);
	call_text(r, __NR_chdir, -ENOENT, (uint64_t[4]){1}, "/none", 5);
	open_at(r, AT_FDCWD, "/srv", O_DIRECTORY, 4);
	call(r, __NR_fchdir, 0, 4, 0, 0, 0);
	open_at(r, AT_FDCWD, "x", 0, 5);
	call_text(r, __NR_chroot, 0, (uint64_t[4]){1}, "jail", 4);
	open_at(r, AT_FDCWD, "/x", 0, 6);
	open_at(r, AT_FDCWD, "x", 0, 7);
	expect(r,
		"open 3 storage /data/b2/x\nopen 4 directory /srv\nopen 5 storage /srv/x\n"
		"open 6 storage /srv/jail/x\nopen 7 storage /srv/x\n");
}

static void test_nonblock(void **state)
{
	struct rig *r = rig_of(state);

	call(r, __NR_socket, 3, AF_INET, SOCK_STREAM, 0, 0);
	call(r, __NR_fcntl, -EBADF, 3, F_SETFL, O_NONBLOCK, 0);
	assert_true(get(r, PID, 3).blocks);
	call(r, __NR_fcntl, 0, 3, F_SETFL, O_RDWR | O_NONBLOCK, 0);
	assert_false(get(r, PID, 3).blocks);
	/* The value of FIONBIO is in memory: /proc has what came of it. */
	proc_fd_put(PID, 3, "socket:[5]", O_RDWR);
	call(r, __NR_ioctl, 0, 3, FIONBIO, 0x7fff0000, 0);
	assert_true(get(r, PID, 3).blocks);
	proc_fd_put(PID, 3, "socket:[5]", O_RDWR | O_NONBLOCK);
	call(r, __NR_ioctl, 0, 3, FIONBIO, 0x7fff0000, 0);
	assert_false(get(r, PID, 3).blocks);
	/* The flags of openat2, too. */
	proc_fd_put(PID, 4, "/data/x", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	call_text(r, __NR_openat2, 4, (uint64_t[4]){(uint64_t)AT_FDCWD}, "x", 1);
	assert_false(get(r, PID, 4).blocks);
}

static void put_tcp(int pid)
{
	proc_put(pid, "net/tcp",
		PROC_TCP_HEADING "   0: 00000000:5DC7 00000000:0000 0A 0:0 0:0 0 0 0 101 1 0\n"
				 "   1: 0100000A:5DC7 0900000A:BFFF 01 0:0 0:0 0 0 0 102 1 0\n"
				 "   2: 0100000A:C000 0200000A:5DC7 01 0:0 0:0 0 0 0 103 1 0\n");
}

static void test_before(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	proc_process(900, "glusterfsd", "/srv");
	put_tcp(900);
	proc_fd_put(900, 0, "/dev/null", O_RDWR);
	assert_int_equal(descriptors_read(r->d, 900, 50, NULL), 0);
	expect(r, "900: before 0 device /dev/null\n");
	assert_string_equal(descriptors_comm(r->d, 900), "glusterfsd");
	assert_int_equal(descriptors_read(r->d, 900, 50, NULL), 0); /* known already */
	assert_int_equal(descriptors_read(r->d, 5, 50, NULL), 0);   /* not there */
	expect(r, "");
	descriptors_forget(r->d, 900);
	assert_false(is_open(r, 900, 0));
	proc_fd_remove(900, 0);
	proc_fd_put(900, 4, "socket:[101]", O_RDWR);
	proc_fd_put(900, 5, "socket:[102]", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	proc_fd_put(900, 6, "socket:[103]", O_RDWR);
	proc_fd_put(900, 7, "socket:[999]", O_RDWR);
	/* An event of a process that nobody announced. */
	e = event(r, TRACE_CALL, __NR_read, 1);
	e.pid = e.tid = 900;
	e.args[0] = 5;
	apply(r, &e);
	assert_string_equal(get(r, 900, 4).name, "tcp 0.0.0.0:24007");
	assert_string_equal(get(r, 900, 5).name, "tcp 10.0.0.1:24007 10.0.0.9:49151");
	assert_string_equal(get(r, 900, 6).name, "tcp 10.0.0.1:49152 10.0.0.2:24007");
	assert_string_equal(get(r, 900, 7).name, "socket:[999]");
	assert_int_equal(get(r, 900, 7).file, TRACE_FILE_SOCKET);
	assert_true(get(r, 900, 5).accepted && !get(r, 900, 6).accepted);
	assert_true(!get(r, 900, 5).blocks && get(r, 900, 6).blocks);
	assert_int_equal(get(r, 900, 4).ends.family, 0);
	assert_int_equal(ntohs(get(r, 900, 6).ends.remote_port), 24007);
	strbuf_reset(&r->told);
	e = event(r, TRACE_EXEC, 0, 0);
	e.pid = e.tid = 900;
	apply(r, &e);
	expect(r, "900: exec 5 tcp tcp 10.0.0.1:24007 10.0.0.9:49151\n");
}

/* The same socket in two processes has one number. */
static void test_inherited_before(void **state)
{
	struct rig *r = rig_of(state);

	for (int pid = 900; pid < 902; pid++) {
		proc_process(pid, "worker", "/");
		put_tcp(pid);
		proc_fd_put(pid, 4, "socket:[102]", O_RDWR);
		assert_int_equal(descriptors_read(r->d, pid, 50, NULL), 0);
	}
	assert_int_equal(get(r, 900, 4).id, get(r, 901, 4).id);
}

static void test_passed(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_endpoints in = ends("10.0.0.1", 24007, "10.0.0.9", 49151);
	const int32_t fds[3] = {5, 6, 7};

	call_text(r, __NR_accept4, 3, (uint64_t[4]){9}, &in, sizeof(in));
	strbuf_reset(&r->told);
	put_tcp(PID);
	proc_fd_put(PID, 5, "/data/x", O_RDWR);
	proc_fd_put(PID, 6, "socket:[102]", O_RDWR);
	/* 7 was closed before anybody looked. */
	call_text(r, __NR_recvmsg, 1, (uint64_t[4]){4, 1, 0}, fds, sizeof(fds));
	call_text(r, __NR_recvmsg, -EAGAIN, (uint64_t[4]){4, 1, 0}, fds, sizeof(fds));
	call_text(r, __NR_recvmsg, 1, (uint64_t[4]){4, 1, 0}, NULL, 0);
	expect(r,
		"passed 5 storage /data/x\npassed 6 tcp tcp 10.0.0.1:24007 10.0.0.9:49151\n"
		"passed 7 other ?\n");
	assert_int_equal(get(r, PID, 6).id, get(r, PID, 3).id);
	proc_fd_put(PID, 8, "/data/y", O_RDWR);
	call(r, __NR_pidfd_getfd, 8, 3, 1, 0, 0);
	expect(r, "passed 8 storage /data/y\n");
}

static void test_look(void **state)
{
	struct rig *r = rig_of(state);
	struct descriptor x;

	proc_process(900, "client", "/");
	put_tcp(900);
	proc_fd_put(900, 3, "/data/x", O_RDWR);
	proc_fd_put(900, 4, "socket:[103]", O_RDWR | O_NONBLOCK);
	assert_true(descriptors_look(r->d, 900, 3, 50, &x));
	assert_true(descriptors_look(r->d, 900, 3, 60, &x));
	assert_true(descriptors_look(r->d, 900, 4, 60, &x));
	assert_true(descriptors_look(r->d, 900, 4, 70, &x));
	assert_string_equal(x.name, "tcp 10.0.0.1:49152 10.0.0.2:24007");
	expect(r,
		"900: seen 3 storage /data/x\n"
		"900: seen 4 tcp tcp 10.0.0.1:49152 10.0.0.2:24007\n");
	proc_fd_put(900, 3, "/data/y", O_RDWR);
	assert_true(descriptors_look(r->d, 900, 3, 80, &x));
	expect(r, "900: seen 3 storage /data/y\n");
	proc_fd_remove(900, 3);
	assert_false(descriptors_look(r->d, 900, 3, 90, &x));
	assert_false(is_open(r, 900, 3));
	assert_false(descriptors_look(r->d, 901, 3, 90, &x));
	assert_false(descriptors_look(r->d, 900, -1, 90, &x));
	assert_string_equal(descriptors_comm(r->d, 900), "client");
	assert_string_equal(descriptors_comm(r->d, 901), "?");
}

/* A socket that was not connected when it was first looked at. */
static void test_look_again(void **state)
{
	struct rig *r = rig_of(state);
	struct descriptor x;

	proc_process(900, "client", "/");
	proc_put(900, "net/tcp",
		PROC_TCP_HEADING "   2: 00000000:0000 00000000:0000 07 0:0 0:0 0 0 0 103 1 0\n");
	proc_fd_put(900, 4, "socket:[103]", O_RDWR);
	assert_true(descriptors_look(r->d, 900, 4, 1, &x));
	assert_int_equal(x.ends.family, 0);
	put_tcp(900);
	assert_true(descriptors_look(r->d, 900, 4, INT64_C(2000000000), &x));
	assert_int_equal(ntohs(x.ends.remote_port), 24007);
}

/* The close of one thread is seen after the open of another that got its number. */
static void test_order(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	open_at(r, AT_FDCWD, "a", 0, 3);
	e = event(r, TRACE_CALL, __NR_close, 0);
	e.dur_ns = 500;
	e.args[0] = 3;
	open_at(r, AT_FDCWD, "b", 0, 3);
	strbuf_reset(&r->told);
	apply(r, &e);
	expect(r, "");
	assert_string_equal(get(r, PID, 3).name, "/data/b");
	/* The next is meant for it. */
	close_fd(r, 3);
	expect(r, "close 3 storage /data/b\n");
	/* What dup2 puts in the place of another was closed by dup2. */
	open_at(r, AT_FDCWD, "a", 0, 3);
	open_at(r, AT_FDCWD, "b", 0, 4);
	e = event(r, TRACE_CALL, __NR_close, 0);
	e.dur_ns = 500;
	e.args[0] = 4;
	call(r, __NR_dup3, 4, 3, 4, 0, 0);
	strbuf_reset(&r->told);
	apply(r, &e);
	expect(r, "close 4 storage /data/a\n");
}

static void test_lost(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event lost = event(r, TRACE_LOST, 0, 17);

	proc_fd_put(PID, 5, "/data/x", O_RDWR);
	call(r, __NR_read, 1, 5, 0, 0, 0);
	expect(r, "");
	apply(r, &lost);
	call(r, __NR_read, -EBADF, 5, 0, 0, 0);
	call(r, __NR_read, 1, 5, 0, 0, 0);
	call(r, __NR_read, 1, 5, 0, 0, 0);
	expect(r, "seen 5 storage /data/x\n");
	/* A dup of one that nobody knows. */
	proc_fd_put(PID, 7, "/data/y", O_RDWR);
	call(r, __NR_dup, 7, 6, 0, 0, 0);
	expect(r, "dup 7 storage /data/y\n");
}

/* Processes come and go; of those that are gone nothing stays, and they are not looked for again.
 */
static void test_gone(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e;

	e = event(r, TRACE_CALL, __NR_openat, 3);
	e.pid = e.tid = 900;
	e.args[0] = (uint64_t)AT_FDCWD;
	e.text = "x";
	e.text_len = 1;
	apply(r, &e);
	proc_process(900, "late", "/");
	apply(r, &e);
	expect(r, "");
	fork_event(r, 900, 0); /* now it begins */
	apply(r, &e);
	expect(r, "900: fork -1 from 812\n900: open 3 storage /data/x\n");
	exit_event(r, 900);
	apply(r, &e); /* of another thread, late */
	expect(r, "");
	for (int i = 0; i < 10000; i++) {
		fork_event(r, 1000 + i, 0);
		exit_event(r, 1000 + i);
	}
	assert_false(is_open(r, 1500, 3));
}

/* Numbers that no kernel gives are not followed, and large ones are. */
static void test_numbers(void **state)
{
	struct rig *r = rig_of(state);

	open_at(r, AT_FDCWD, "x", 0, INT32_MAX);
	assert_false(is_open(r, PID, INT32_MAX));
	expect(r, "");
	open_at(r, AT_FDCWD, "x", 0, 1000000);
	expect(r, "open 1000000 storage /data/x\n");
	for (int fd = 0; fd < 100000; fd++)
		open_at(r, AT_FDCWD, "y", 0, fd);
	for (int fd = 0; fd < 100000; fd++)
		close_fd(r, fd);
	assert_false(is_open(r, PID, 99999));
	assert_true(is_open(r, PID, 1000000));
}

static void test_stop(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e = event(r, TRACE_CALL, __NR_socket, 3);

	r->stop = -EIO;
	e.args[0] = AF_INET;
	assert_int_equal(descriptors_apply(r->d, &e, NULL), -EIO);
	r->stop = 0;
}

#ifdef __x86_64__
static void test_compat(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e = event(r, TRACE_CALL, 295, 3);

	e.flags = TRACE_COMPAT;
	e.args[0] = (uint32_t)AT_FDCWD;
	e.text = "x";
	e.text_len = 1;
	apply(r, &e);
	expect(r, "open 3 storage /data/x\n");
	e = event(r, TRACE_CALL, 221, 4); /* fcntl64 */
	e.flags = TRACE_COMPAT;
	e.args[0] = 3;
	apply(r, &e);
	expect(r, "dup 4 from 3 storage /data/x\n");
	e = event(r, TRACE_CALL, 6, 0);
	e.flags = TRACE_COMPAT;
	e.args[0] = 3;
	apply(r, &e);
	expect(r, "close 3 storage /data/x\n");
}
#endif

static void test_no_listener(void **state)
{
	struct descriptors *d = descriptors_new("/proc", NULL, NULL);
	struct descriptor x;

	(void)state;
	assert_int_equal(descriptors_read(d, getpid(), 1, NULL), 0);
	assert_true(descriptors_get(d, getpid(), 1, &x));
	assert_string_not_equal(descriptors_comm(d, getpid()), "?");
	descriptors_free(d);
	descriptors_free(NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_close),
		TEST(test_known_file),
		TEST(test_failed_close),
		TEST(test_dup),
		TEST(test_exec),
		TEST(test_exec_before_read),
		TEST(test_fork),
		TEST(test_shared_table),
		TEST(test_private_thread),
		TEST(test_close_range),
		TEST(test_sockets),
		TEST(test_pairs),
		TEST(test_others),
		TEST(test_directories),
		TEST(test_nonblock),
		TEST(test_before),
		TEST(test_inherited_before),
		TEST(test_passed),
		TEST(test_look),
		TEST(test_look_again),
		TEST(test_order),
		TEST(test_lost),
		TEST(test_gone),
		TEST(test_numbers),
		TEST(test_stop),
#ifdef __x86_64__
		TEST(test_compat),
#endif
		cmocka_unit_test(test_no_listener),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
