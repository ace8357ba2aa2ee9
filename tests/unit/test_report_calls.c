/* Lines like strace's, and the same as JSON. */
#include "report/calls.h"
#include "unit.h"
#include <arpa/inet.h>
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

/* 2026-11-15T14:03:12.123456789Z */
#define START INT64_C(1794751392123456789)

static struct fd_names *names;

static int setup(void **state)
{
	static const struct trace_descriptor changes[] = {
		{.pid = 812, .fd = 9, .change = TRACE_FD_OPEN, .name = "/data/brick/x"},
		{.pid = 812,
			.fd = 4,
			.change = TRACE_FD_ACCEPT,
			.name = "tcp 10.0.0.1:24007 10.0.0.9:1"},
		{.pid = 812, .fd = 5, .change = TRACE_FD_OPEN, .name = "/tmp/\033[31m\"red\"\n"}};

	(void)state;
	names = fd_names_new();
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(fd_names_apply(names, &changes[i]), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fd_names_free(names);
	return 0;
}

static struct trace_event call(
	unsigned nr, int64_t ret, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	return (struct trace_event){.what = TRACE_CALL,
		.seq = 7,
		.start_ns = START,
		.dur_ns = 123456,
		.pid = 812,
		.tid = 815,
		.nr = (uint16_t)nr,
		.ret = ret,
		.args = {a0, a1, a2, a3}};
}

static struct trace_event with_text(struct trace_event e, const void *text, size_t len)
{
	e.text = text;
	e.text_len = (uint32_t)len;
	return e;
}

#define TEXT(e, literal) with_text(e, literal, sizeof(literal) - 1)

/* The line behind time and process. */
static void expect(struct trace_event e, const char *text)
{
	struct strbuf line = {0};

	calls_add_call(&line, &e, names);
	calls_add_result(&line, &e, names);
	assert_false(line.failed);
	assert_string_equal(line.text, text);
	strbuf_release(&line);
}

static void test_line(void **state)
{
	struct trace_event e = call(__NR_pwrite64, -ENOSPC, 9, 0x7f01, 4096, 8192);
	struct strbuf line = {0};

	(void)state;
	calls_add_head(&line, &e, NULL);
	calls_add_call(&line, &e, names);
	calls_add_result(&line, &e, names);
	assert_string_equal(line.text,
		"14:03:12.123456 812/815 pwrite64(9</data/brick/x>, 0x7f01, 4096, 8192) = -1 "
		"ENOSPC "
		"(No space left on device) <0.000123>");
	strbuf_reset(&line);
	calls_add_head(&line, &e, "s3");
	assert_string_equal(line.text, "14:03:12.123456 s3 812/815 ");
	strbuf_release(&line);
}

static void test_results(void **state)
{
	struct trace_event e;

	(void)state;
	expect(call(__NR_read, 4096, 9, 0x10, 4096, 0),
		"read(9</data/brick/x>, 0x10, 4096) = 4096 <0.000123>");
	expect(call(__NR_read, -9999999, 7, 0, 0, 0),
		"read(7, 0, 0) = 0xffffffffff676981 <0.000123>");
	expect(call(__NR_read, -512, 7, 0, 1, 0),
		"read(7, 0, 1) = ? ERESTARTSYS (to be restarted) <0.000123>");
	expect(call(__NR_read, -999, 7, 0, 1, 0), "read(7, 0, 1) = -1 E999 <0.000123>");
	expect(call(__NR_rt_sigreturn, -EINTR, 0, 0, 0, 0), "rt_sigreturn() = ? <0.000123>");
	expect(call(__NR_mmap, 0x7f0000001000, 0, 8192, 1, 2),
		"mmap(0, 8192, 0x1, 0x2, 0, 0) = 0x7f0000001000 <0.000123>");
	e = call(__NR_read, 1, 9, 0x10, 1, 0);
	e.dur_ns = INT64_C(31200000000);
	e.flags = TRACE_COARSE;
	expect(e, "read(9</data/brick/x>, 0x10, 1) = 1 <~31.200000>");
	e.what = TRACE_PENDING;
	expect(e, "read(9</data/brick/x>, 0x10, 1) <... 31.2 s, not returned>");
	e.what = TRACE_ASYNC;
	expect(e, "[async] read(9</data/brick/x>, 0x10, 1) = 1 <~31.200000>");
	e = call(510, 5, 1, 2, 3, 4);
	expect(e, "syscall_510(0x1, 0x2, 0x3, 0x4, 0, 0) = 5 <0.000123>");
	e.flags = TRACE_COMPAT;
	expect(e, "syscall_32_510(0x1, 0x2, 0x3, 0x4, 0, 0) = 5 <0.000123>");
}

static void test_opens(void **state)
{
	uint64_t cwd = (uint64_t)AT_FDCWD;
	struct trace_event e;

	(void)state;
	expect(TEXT(call(__NR_openat, 9, cwd, 1, O_RDWR | O_CREAT | O_TRUNC, 0644),
		       "/data/brick/x"),
		"openat(AT_FDCWD, \"/data/brick/x\", O_RDWR|O_CREAT|O_TRUNC, 0644) = "
		"9</data/brick/x> <0.000123>");
	expect(TEXT(call(__NR_openat, -EMFILE, (uint32_t)AT_FDCWD, 1, O_CLOEXEC | O_SYNC, 0), "x"),
		"openat(AT_FDCWD, \"x\", O_RDONLY|O_SYNC|O_CLOEXEC) = -1 EMFILE (Too many open "
		"files) <0.000123>");
	expect(TEXT(call(__NR_openat, 3, 9, 1, O_TMPFILE | O_WRONLY | 0x40000000, 0600), "."),
		"openat(9</data/brick/x>, \".\", O_WRONLY|O_TMPFILE|0x40000000, 0600) = 3 "
		"<0.000123>");
	expect(call(__NR_openat, -EFAULT, cwd, 0x666, O_DIRECTORY, 0),
		"openat(AT_FDCWD, 0x666, O_RDONLY|O_DIRECTORY) = -1 EFAULT (Bad address) "
		"<0.000123>");
	e = TEXT(call(__NR_openat, 3, cwd, 1, 0, 0), "/long");
	e.flags = TRACE_CUT;
	expect(e, "openat(AT_FDCWD, \"/long\"..., O_RDONLY) = 3 <0.000123>");
	expect(call(__NR_dup3, 9, 4, 9, O_CLOEXEC, 0),
		"dup3(4<tcp 10.0.0.1:24007 10.0.0.9:1>, 9</data/brick/x>, O_CLOEXEC) = 9 "
		"<0.000123>");
	expect(call(__NR_dup3, 9, 7, 8, 0, 0), "dup3(7, 8, 0) = 9 <0.000123>");
	expect(TEXT(call(__NR_mkdirat, 0, cwd, 1, 0755, 0), "d"),
		"mkdirat(AT_FDCWD, \"d\", 0755) = 0 <0.000123>");
}

static void test_paths(void **state)
{
	uint64_t cwd = (uint64_t)AT_FDCWD;

	(void)state;
	expect(TEXT(call(__NR_renameat, 0, cwd, 1, 9, 2), "a\0b"),
		"renameat(AT_FDCWD, \"a\", 9</data/brick/x>, \"b\") = 0 <0.000123>");
	expect(TEXT(call(__NR_symlinkat, 0, 1, cwd, 2, 0), "to\0"),
		"symlinkat(\"to\", AT_FDCWD, \"\") = 0 <0.000123>");
	/* The second was not captured. */
	expect(TEXT(call(__NR_renameat, -EFAULT, cwd, 1, cwd, 0x99), "a"),
		"renameat(AT_FDCWD, \"a\", AT_FDCWD, 0x99) = -1 EFAULT (Bad address) <0.000123>");
	/* Nothing that a terminal would obey. */
	expect(TEXT(call(__NR_unlinkat, 0, cwd, 1, 0, 0), "a\n\t\"\\\033[2J\x9b\x7f\xc3\xbc"),
		"unlinkat(AT_FDCWD, \"a\\n\\t\\\"\\\\\\x1b[2J\\x9b\\x7f\\xc3\\xbc\", 0) = 0 "
		"<0.000123>");
	expect(call(__NR_close, 0, 5, 0, 0, 0),
		"close(5</tmp/\\x1b[31m\\\"red\\\"\\n>) = 0 <0.000123>");
}

static void test_sockets(void **state)
{
	struct trace_endpoints ends = {.family = AF_INET,
		.local_port = htons(49152),
		.remote_port = htons(24007),
		.local = {10, 0, 0, 1},
		.remote = {10, 0, 0, 2}};
	const int32_t fds[2] = {6, 7};

	(void)state;
	expect(with_text(call(__NR_connect, -ECONNREFUSED, 3, 0x10, 16, 0), &ends, sizeof(ends)),
		"connect(3, 10.0.0.2:24007, 16) = -1 ECONNREFUSED (Connection refused) <0.000123>");
	expect(call(__NR_connect, 0, 3, 0x10, 110, 0), "connect(3, 0x10, 110) = 0 <0.000123>");
	expect(with_text(call(__NR_accept4, 4, 3, 0x10, 0x20, 0x800), &ends, sizeof(ends)),
		"accept4(3, 10.0.0.2:24007, 0x20, 0x800) = 4<tcp 10.0.0.1:24007 10.0.0.9:1> "
		"<0.000123>");
	expect(with_text(call(__NR_pipe2, 0, 0x10, O_CLOEXEC, 0, 0), fds, sizeof(fds)),
		"pipe2([6, 7], O_CLOEXEC) = 0 <0.000123>");
	expect(call(__NR_pipe2, -EMFILE, 0x10, 0, 0, 0),
		"pipe2(0x10, 0) = -1 EMFILE (Too many open files) <0.000123>");
	expect(call(__NR_tgkill, 0, 812, 815, SIGABRT, 0),
		"tgkill(812, 815, SIGABRT) = 0 <0.000123>");
	expect(call(__NR_wait4, 900, UINT32_MAX, 0, 0, 0), "wait4(-1, 0, 0, 0) = 900 <0.000123>");
}

static void test_others(void **state)
{
	struct trace_event e = {.pid = 812, .tid = 812, .start_ns = START};

	(void)state;
	e.what = TRACE_SIGNAL;
	e.nr = SIGXFSZ;
	expect(e, "--- SIGXFSZ ---");
	e.args[0] = 99;
	expect(e, "--- SIGXFSZ sent by 99 ---");
	e.what = TRACE_EXIT;
	e.ret = SIGABRT;
	expect(e, "+++ killed by SIGABRT +++");
	e.ret = SIGSEGV | 0x80;
	expect(e, "+++ killed by SIGSEGV (core dumped) +++");
	e.ret = 3 << 8;
	expect(e, "+++ exited with 3 +++");
	e.what = TRACE_FORK;
	e.ret = 900;
	e.args[0] = 0;
	expect(e, "+++ began process 900 +++");
	e.args[0] = CLONE_THREAD;
	expect(e, "+++ began thread 900 +++");
	e.what = TRACE_EXEC;
	expect(TEXT(e, "/usr/sbin/x\n"), "+++ now runs \"/usr/sbin/x\\n\" +++");
	expect(e, "+++ now runs \"\" +++");
	e.what = TRACE_LOST;
	e.ret = 17;
	expect(e, "*** 17 events lost here ***");
	e.ret = 1;
	expect(e, "*** 1 event lost here ***");
	e.what = 99;
	expect(e, "*** an event of unknown kind 99 ***");
}

/* Whatever the numbers are, a line is made. */
static void test_garbage(void **state)
{
	struct strbuf line = {0};
	uint64_t x = 88172645463325252;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint64_t noise[16];
		struct trace_event e;

		for (size_t k = 0; k < 16; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			noise[k] = x >> (x & 63);
		}
		memcpy(&e, noise, sizeof(e) < sizeof(noise) ? sizeof(e) : sizeof(noise));
		e.what %= TRACE_LOST + 2;
		e.nr %= 520;
		e.text = noise[9] & 1 ? (const char *)noise : NULL;
		e.text_len = (uint32_t)(noise[10] % sizeof(noise));
		strbuf_reset(&line);
		calls_add_head(&line, &e, NULL);
		calls_add_call(&line, &e, names);
		calls_add_result(&line, &e, names);
		for (const char *p = line.text; *p; p++)
			assert_true(*p >= ' ' && *p < 0x7f);
		json_decref(calls_json(&e, 1, NULL, "s3"));
	}
	strbuf_release(&line);
}

static void expect_json(json_t *object, const char *text)
{
	char *got = json_dumps(object, JSON_COMPACT);

	assert_string_equal(got, text);
	free(got);
	json_decref(object);
}

static void test_json(void **state)
{
	struct trace_event e = call(__NR_pwrite64, -ENOSPC, 9, 0x7f01, 4096, 8192);
	const struct trace_descriptor d = {.seq = 7,
		.time_ns = START,
		.pid = 812,
		.fd = 9,
		.from = 3,
		.change = TRACE_FD_DUP,
		.file = TRACE_FILE_STORAGE,
		.name = "/data/brick/x"};

	(void)state;
	e.file = TRACE_FILE_STORAGE;
	e.flags = TRACE_COARSE | TRACE_RESTART;
	expect_json(calls_json(&e, 42, "/data/brick/x", "s3"),
		"{\"record\":42,\"seq\":7,\"observer\":\"s3\",\"start\":"
		"\"2026-11-15T14:03:12.123456789Z\",\"pid\":812,\"tid\":815,\"what\":\"call\","
		"\"call\":\"pwrite64\",\"class\":\"write\",\"args\":[\"9\",\"0x7f01\",\"4096\","
		"\"8192\"],\"fd\":9,\"name\":\"/data/brick/x\",\"file\":\"storage\",\"result\":-28,"
		"\"errno\":\"ENOSPC\",\"duration_ns\":123456,\"flags\":[\"coarse\",\"restart\"]}");
	e = TEXT(call(__NR_renameat, 0, (uint64_t)AT_FDCWD, 1, 9, 2), "a\0b\xff");
	e.what = TRACE_PENDING;
	expect_json(calls_json(&e, 0, NULL, "s3"),
		"{\"record\":0,\"seq\":7,\"observer\":\"s3\",\"start\":"
		"\"2026-11-15T14:03:12.123456789Z\",\"pid\":812,\"tid\":815,\"what\":\"pending\","
		"\"call\":\"renameat\",\"class\":\"meta\",\"args\":[\"AT_FDCWD\",\"\\\"a\\\"\","
		"\"9\",\"\\\"b\\\\xff\\\"\"],\"path\":\"a\",\"to\":\"b?\",\"file\":\"none\","
		"\"duration_ns\":123456,\"flags\":[]}");
	e = (struct trace_event){.what = TRACE_EXIT, .ret = SIGABRT, .start_ns = START};
	expect_json(calls_json(&e, 0, NULL, "s3"),
		"{\"record\":0,\"seq\":0,\"observer\":\"s3\",\"start\":"
		"\"2026-11-15T14:03:12.123456789Z\",\"pid\":0,\"tid\":0,\"what\":\"exit\","
		"\"result\":6,\"signal\":\"SIGABRT\",\"flags\":[]}");
	expect_json(calls_descriptor_json(&d, 3, "s3"),
		"{\"record\":3,\"seq\":7,\"observer\":\"s3\",\"time\":"
		"\"2026-11-15T14:03:12.123456789Z\",\"pid\":812,\"change\":\"dup\",\"fd\":9,"
		"\"from\":3,\"file\":\"storage\",\"name\":\"/data/brick/x\"}");
}

static void test_descriptors(void **state)
{
	struct trace_descriptor d = {.time_ns = START,
		.pid = 812,
		.fd = 9,
		.from = -1,
		.change = TRACE_FD_OPEN,
		.file = TRACE_FILE_STORAGE,
		.name = "/data/\033x"};
	struct strbuf line = {0};

	(void)state;
	calls_add_descriptor(&line, &d, NULL);
	assert_string_equal(line.text, "14:03:12.123456 812 open 9 storage /data/\\x1bx");
	strbuf_reset(&line);
	d.from = 4;
	d.change = TRACE_FD_DUP;
	calls_add_descriptor(&line, &d, "s3");
	assert_string_equal(line.text, "14:03:12.123456 s3 812 dup 9 from 4 storage /data/\\x1bx");
	strbuf_reset(&line);
	d.change = TRACE_FD_FORK;
	d.fd = -1;
	calls_add_descriptor(&line, &d, NULL);
	assert_string_equal(line.text, "14:03:12.123456 812 fork: has the descriptors of 4");
	strbuf_release(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_results),
		cmocka_unit_test(test_opens),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_sockets),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_descriptors),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
