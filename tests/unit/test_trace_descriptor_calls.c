/* Calls one by one, and their effect on the table and on the reports. */
#include "descriptors_rig.h"

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
	/* 7 was closed before it was looked up. */
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

/* The closes of two threads are seen after a third got their number. */
static void test_order_of_three(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event first, second;

	open_at(r, AT_FDCWD, "a", 0, 3);
	first = event(r, TRACE_CALL, __NR_close, 0);
	first.dur_ns = 500;
	first.args[0] = 3;
	open_at(r, AT_FDCWD, "b", 0, 3);
	second = event(r, TRACE_CALL, __NR_close, 0);
	second.dur_ns = 500;
	second.args[0] = 3;
	open_at(r, AT_FDCWD, "c", 0, 3);
	strbuf_reset(&r->told);
	apply(r, &first);
	apply(r, &second);
	expect(r, "");
	close_fd(r, 3);
	expect(r, "close 3 storage /data/c\n");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_close),
		TEST(test_known_file),
		TEST(test_failed_close),
		TEST(test_dup),
		TEST(test_close_range),
		TEST(test_sockets),
		TEST(test_pairs),
		TEST(test_others),
		TEST(test_directories),
		TEST(test_nonblock),
		TEST(test_passed),
		TEST(test_order),
		TEST(test_order_of_three),
		TEST(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
