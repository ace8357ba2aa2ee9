/* What arguments point to, copied out of our own memory. */
#include "emulator.h"
#include "trace/ptrace_capture.h"
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buf[TRACE_TEXT_MAX];

static uint64_t at(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

static struct trace_event call(unsigned nr, int64_t ret)
{
	return (struct trace_event){.what = TRACE_CALL,
		.nr = (uint16_t)nr,
		.ret = ret,
		.pid = getpid(),
		.tid = gettid()};
}

/* A page with the end of which memory ends. */
static char *edge(void)
{
	char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(munmap(p + 4096, 4096), 0);
	return p + 4096;
}

static void test_strings(void **state)
{
	char *end = edge(), big[TRACE_TEXT_MAX + 10];
	bool cut = false;

	(void)state;
	assert_int_equal(capture_string(gettid(), at("abc"), buf, 10, &cut), 3);
	assert_memory_equal(buf, "abc", 3);
	assert_int_equal(capture_string(gettid(), at(""), buf, 10, &cut), 0);
	assert_int_equal(capture_string(gettid(), 8, buf, 10, &cut), 0);
	memcpy(end - 3, "xy", 3);
	assert_int_equal(capture_string(gettid(), at(end - 3), buf, 10, &cut), 2);
	end[-1] = 'z'; /* no NUL before memory ends */
	assert_int_equal(capture_string(gettid(), at(end - 3), buf, 10, &cut), 3);
	assert_false(cut);
	memset(big, 'q', sizeof(big));
	assert_int_equal(capture_string(gettid(), at(big), buf, sizeof(buf), &cut), TRACE_TEXT_MAX);
	assert_true(cut);
	assert_int_equal(capture_bytes(gettid(), at(end - 3), buf, 10), 3);
	munmap(end - 4096, 4096);
}

static void test_paths(void **state)
{
	static const struct {
		unsigned capture;
		int first, second;
	} cases[] = {{CAPTURE_PATH0, 0, -1}, {CAPTURE_PATH1, 1, -1}, {CAPTURE_PATHS_01, 0, 1},
		{CAPTURE_PATHS_13, 1, 3}, {CAPTURE_PATHS_02, 0, 2}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct trace_event e = call(0, -ENOENT);

		e.args[cases[i].first] = at("/one");
		if (cases[i].second >= 0)
			e.args[cases[i].second] = at("two");
		capture_text(&e, cases[i].capture, buf);
		assert_int_equal(e.text_len, cases[i].second >= 0 ? 8 : 4);
		assert_memory_equal(e.text, "/one\0two", e.text_len);
		assert_int_equal(e.flags, 0);
	}
}

static void test_long_paths(void **state)
{
	struct trace_event e = call(0, 0);
	char big[TRACE_TEXT_MAX];

	(void)state;
	memset(big, 'q', sizeof(big));
	big[sizeof(big) - 1] = 0;
	e.args[0] = e.args[1] = at(big);
	capture_text(&e, CAPTURE_PATH0, buf);
	assert_int_equal(e.text_len, TRACE_TEXT_MAX - 1);
	assert_int_equal(e.flags, 0);
	capture_text(&e, CAPTURE_PATHS_01, buf);
	assert_int_equal(e.text_len, TRACE_TEXT_MAX);
	assert_int_equal(e.flags, TRACE_CUT);
	assert_int_equal(strnlen(e.text, e.text_len), TRACE_TEXT_MAX / 2 - 1);
}

static void test_pairs(void **state)
{
	int32_t fds[2] = {5, 6};
	struct trace_event made = call(SYS_pipe2, 0), failed = call(SYS_pipe2, -EMFILE),
			   sockets = call(SYS_socketpair, 0), going_on = call(SYS_pipe2, 0);

	(void)state;
	made.args[0] = failed.args[0] = sockets.args[3] = going_on.args[0] = at(fds);
	capture_text(&made, CAPTURE_FDS, buf);
	assert_int_equal(made.text_len, 8);
	assert_memory_equal(made.text, fds, 8);
	capture_text(&sockets, CAPTURE_FDS, buf);
	assert_int_equal(sockets.text_len, 8);
	capture_text(&failed, CAPTURE_FDS, buf);
	assert_int_equal(failed.text_len, 0);
	going_on.what = TRACE_PENDING;
	capture_text(&going_on, CAPTURE_FDS, buf);
	assert_int_equal(going_on.text_len, 0);
}

union control {
	char bytes[256];
	struct cmsghdr aligned;
};

static void add_rights(struct msghdr *m, union control *c, const int *fds, int n)
{
	struct cmsghdr *h = (void *)(c->bytes + m->msg_controllen);

	m->msg_control = c->bytes;
	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN((size_t)n * sizeof(int));
	memcpy(CMSG_DATA(h), fds, (size_t)n * sizeof(int));
	m->msg_controllen += CMSG_SPACE((size_t)n * sizeof(int));
}

static void test_rights(void **state)
{
	union control c = {0}, d = {0};
	struct mmsghdr many[2] = {0};
	struct msghdr *m = &many[0].msg_hdr;
	struct trace_event one = call(SYS_recvmsg, 4), both = call(SYS_recvmmsg, 2);
	const int fds[] = {3, 4, 9};

	(void)state;
	one.args[1] = at(m);
	both.args[1] = at(many);
	capture_text(&one, CAPTURE_RIGHTS, buf);
	assert_int_equal(one.text_len, 0);
	add_rights(m, &c, fds, 2);
	add_rights(m, &c, fds + 2, 1);
	add_rights(&many[1].msg_hdr, &d, fds, 1);
	capture_text(&one, CAPTURE_RIGHTS, buf);
	assert_int_equal(one.text_len, 12);
	assert_memory_equal(one.text, fds, 12);
	capture_text(&both, CAPTURE_RIGHTS, buf);
	assert_int_equal(both.text_len, 16);
	/* Lengths that cannot be. */
	c.aligned.cmsg_len = 3;
	capture_text(&one, CAPTURE_RIGHTS, buf);
	assert_int_equal(one.text_len, 0);
	c.aligned.cmsg_len = (size_t)-1;
	capture_text(&one, CAPTURE_RIGHTS, buf);
	assert_int_equal(one.text_len, 0);
	m->msg_control = (void *)8;
	capture_text(&one, CAPTURE_RIGHTS, buf);
	assert_int_equal(one.text_len, 0);
	one.ret = -EAGAIN;
	capture_text(&one, CAPTURE_RIGHTS, buf);
	assert_int_equal(one.text_len, 0);
}

static void test_connect(void **state)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct trace_event e = call(SYS_connect, -ECONNREFUSED);
	struct trace_endpoints ends;

	(void)state;
	e.args[0] = (uint64_t)fd;
	e.args[1] = at(&to);
	e.args[2] = sizeof(to);
	capture_text(&e, CAPTURE_ENDPOINTS, buf);
	assert_int_equal(e.text_len, sizeof(ends));
	memcpy(&ends, e.text, sizeof(ends));
	assert_int_equal(ends.family, AF_INET);
	assert_int_equal(ntohs(ends.remote_port), 9);
	e.args[2] = 1 << 30;
	capture_text(&e, CAPTURE_ENDPOINTS, buf);
	memcpy(&ends, e.text, sizeof(ends));
	assert_int_equal(ends.family, 0);
	close(fd);
}

static void test_accept(void **state)
{
	struct trace_event e = call(SYS_accept4, -EAGAIN);

	(void)state;
	capture_text(&e, CAPTURE_ENDPOINTS, buf);
	assert_int_equal(e.text_len, 0);
}

static void test_clone_flags(void **state)
{
	uint64_t three[11] = {CLONE_FILES}, args[TRACE_ARGS] = {CLONE_VM | 17};

	(void)state;
	assert_int_equal(capture_clone_flags(gettid(), SYS_clone, args), CLONE_VM);
	args[0] = at(three);
	assert_int_equal(capture_clone_flags(gettid(), SYS_clone3, args), CLONE_FILES);
#ifdef SYS_fork
	assert_int_equal(capture_clone_flags(gettid(), SYS_fork, args), 0);
	assert_int_equal(capture_clone_flags(gettid(), SYS_vfork, args), CLONE_VM | CLONE_VFORK);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_rights),
		cmocka_unit_test(test_connect),
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_clone_flags),
	};

	if (skips_all_if_emulated("process_vm_readv"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
