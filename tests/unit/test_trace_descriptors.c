/* Processes that share, inherit, exec, come and go; and their entries in /proc. */
#include "descriptors_rig.h"

static void exec_event(struct rig *r, int pid, const char *path)
{
	struct trace_event e = event(r, TRACE_EXEC, 0, 0);

	e.pid = e.tid = pid;
	e.text = path;
	e.text_len = (uint32_t)strlen(path);
	apply(r, &e);
}

/* A file that another process than the usual one opens. */
static void open_in(struct rig *r, int pid, const char *path, unsigned flags, int ret)
{
	struct trace_event e = event(r, TRACE_CALL, __NR_openat, ret);

	e.pid = e.tid = pid;
	e.args[0] = (uint64_t)AT_FDCWD;
	e.args[2] = flags;
	e.text = path;
	e.text_len = (uint32_t)strlen(path);
	apply(r, &e);
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

/* Processes that share one table: each is reported. */
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
	/* An event of an unknown process. */
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
	/* A dup of an unknown descriptor. */
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

/* A program that had ended before /proc could be read: its exec shows its name, and from then on
 * its opens are followed. */
static void test_gone_before_read(void **state)
{
	struct rig *r = rig_of(state);
	struct trace_event e = event(r, TRACE_CALL, __NR_read, 1);

	e.pid = e.tid = 900;
	apply(r, &e); /* now it is known to be gone */
	assert_string_equal(descriptors_comm(r->d, 900), "?");
	for (int round = 0; round < 2; round++) { /* its number is given to another */
		exec_event(r, 900, round ? "/usr/bin/a-name-of-many-letters" : "/bin/dd");
		assert_string_equal(descriptors_comm(r->d, 900), round ? "a-name-of-many-" : "dd");
		open_in(r, 900, "/data/x", O_CLOEXEC, 3);
		open_in(r, 900, "/data/y", 0, 4);
		assert_string_equal(get(r, 900, 3).name, "/data/x");
		exec_event(r, 900, "sh");
		assert_string_equal(descriptors_comm(r->d, 900), "sh");
		expect(r,
			"900: open 3 storage /data/x\n900: open 4 storage /data/y\n"
			"900: exec 3 storage /data/x\n");
		exit_event(r, 900);
		assert_string_equal(descriptors_comm(r->d, 900), "?");
		assert_false(is_open(r, 900, 4));
	}
	/* Its children have its descriptors, and its name. */
	exec_event(r, 900, "/bin/dd");
	open_in(r, 900, "/data/x", 0, 3);
	e = event(r, TRACE_FORK, 0, 901);
	e.pid = e.tid = 900;
	apply(r, &e);
	exit_event(r, 900);
	expect(r, "900: open 3 storage /data/x\n901: fork -1 from 900\n");
	assert_string_equal(descriptors_comm(r->d, 901), "dd");
	assert_string_equal(get(r, 901, 3).name, "/data/x");
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

static int take_listening(void *ctx, const struct trace_descriptor *d)
{
	char line[128];

	snprintf(line, sizeof(line), "%s %s %s\n", trace_change_name(d->change),
		trace_file_name(d->file), d->name);
	strncat(ctx, line, 1023 - strlen(ctx));
	return 0;
}

/* Of a real process: this one. With and without its descriptors known from before. */
static void test_listening(void **state)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);
	int listening = socket(AF_INET, SOCK_STREAM, 0), idle = socket(AF_INET, SOCK_STREAM, 0);
	int client = socket(AF_INET, SOCK_STREAM, 0);
	char expected[128];

	(void)state;
	assert_int_equal(bind(listening, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(listening, 1), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&at, &len), 0);
	assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof(at)), 0);
	snprintf(expected, sizeof(expected), "seen tcp tcp 127.0.0.1:%u\n", ntohs(at.sin_port));
	for (int read = 0; read < 2; read++) {
		char told[1024] = "";
		struct descriptors *d = descriptors_new("/proc", take_listening, told);

		if (read)
			assert_int_equal(descriptors_read(d, getpid(), 1, NULL), 0);
		told[0] = '\0';
		assert_int_equal(descriptors_listening(d, getpid(), 1, NULL), 0);
		assert_string_equal(told, expected);
		assert_int_equal(descriptors_listening(d, getpid(), 1, NULL), 0);
		assert_string_equal(told, expected); /* once */
		assert_int_equal(descriptors_listening(d, 0x3fffffff, 1, NULL), 0);
		assert_string_equal(told, expected);
		descriptors_free(d);
	}
	close(listening);
	close(idle);
	close(client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_exec),
		TEST(test_exec_before_read),
		TEST(test_fork),
		TEST(test_shared_table),
		TEST(test_private_thread),
		TEST(test_before),
		TEST(test_inherited_before),
		TEST(test_look),
		TEST(test_look_again),
		TEST(test_lost),
		TEST(test_gone),
		TEST(test_gone_before_read),
		TEST(test_stop),
#ifdef __x86_64__
		TEST(test_compat),
#endif
		cmocka_unit_test(test_no_listener),
		cmocka_unit_test(test_listening),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
