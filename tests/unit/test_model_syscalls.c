/* The tables of calls: every call is checked, and each that moves data or makes descriptors is
 * described here again, from its manual page. */
#include "model/syscalls.h"
#include "unit.h"
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* The arguments of which a capture takes a path; two bits at most. */
static unsigned paths_of(unsigned capture)
{
	static const unsigned masks[] = {[CAPTURE_PATH0] = 1,
		[CAPTURE_PATH1] = 2,
		[CAPTURE_PATHS_01] = 1 | 2,
		[CAPTURE_PATHS_13] = 2 | 8,
		[CAPTURE_PATHS_02] = 1 | 4};

	return capture < sizeof(masks) / sizeof(masks[0]) ? masks[capture] : 0;
}

static void check_paths(const struct syscall_info *s)
{
	unsigned paths = 0;

	for (int i = 0; i < TRACE_ARGS; i++)
		paths |= s->args[i] == ARG_PATH ? 1u << i : 0;
	if (paths != paths_of(s->capture))
		fail_msg("%s: paths are %#x, captured are %#x", s->name, paths,
			paths_of(s->capture));
}

static void check_descriptors(const struct syscall_info *s)
{
	int first = -1;

	for (int i = TRACE_ARGS - 1; i >= 0; i--) {
		if (s->args[i] == ARG_FD)
			first = i;
	}
	assert_in_range(s->fd_arg + 1, 0, TRACE_ARGS);
	if (s->fd_arg >= 0 && s->args[s->fd_arg] != ARG_FD)
		fail_msg("%s: argument %d is no descriptor", s->name, s->fd_arg);
	if (s->fd_arg < 0 && first >= 0 && !syscall_returns_fd(s))
		fail_msg("%s: it is about a descriptor, which fd_arg does not say", s->name);
	if (s->call == TRACE_CALL_READ || s->call == TRACE_CALL_WRITE)
		assert_true(s->fd_arg >= 0);
}

static void check_captures(const struct syscall_info *s)
{
	bool fds = false, ends = s->capture == CAPTURE_ENDPOINTS;

	for (int i = 0; i < TRACE_ARGS; i++)
		fds |= s->args[i] == ARG_FDS;
	assert_int_equal(fds, s->capture == CAPTURE_FDS);
	if (fds)
		assert_true(s->args[0] == ARG_FDS || s->args[3] == ARG_FDS);
	if (ends)
		assert_true(s->fd_arg == 0 && s->args[1] == ARG_ADDRESS);
	if (s->capture == CAPTURE_RIGHTS)
		assert_true(s->call == TRACE_CALL_READ && s->fd_arg == 0);
	if (syscall_returns_fd(s))
		assert_int_equal(s->call, TRACE_CALL_OPEN);
}

static void check_entry(const struct syscall_info *s)
{
	bool ended = false;

	assert_true(strlen(s->name) > 0 && strlen(s->name) < 40);
	assert_true(s->call < TRACE_CALLS);
	assert_true(s->capture <= CAPTURE_RIGHTS);
	for (int i = 0; i < TRACE_ARGS; i++) {
		assert_true(s->args[i] <= ARG_FDS);
		assert_false(ended && s->args[i] != ARG_NONE);
		ended |= s->args[i] == ARG_NONE;
	}
	check_paths(s);
	check_descriptors(s);
	check_captures(s);
}

static void test_walk(void **state)
{
	unsigned n = 0, n_compat = 0;

	(void)state;
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		const struct syscall_info *s = syscall_get(nr), *c = syscall_get_compat(nr);

		if (s) {
			check_entry(s);
			assert_int_equal(syscall_number(s->name), nr);
			n++;
		}
		if (c) {
			check_entry(c);
			n_compat++;
		}
	}
	assert_true(n > 300);
#ifdef __x86_64__
	assert_true(n > 370 && n_compat > 400);
#endif
	assert_null(syscall_get(SYSCALL_MAX));
	assert_null(syscall_get(UINT32_MAX));
	assert_null(syscall_get_compat(SYSCALL_MAX));
	assert_int_equal(syscall_number("readd"), -1);
	assert_int_equal(syscall_number(""), -1);
}

/* No number that this machine's headers have is a hole. */
static void test_complete(void **state)
{
	unsigned last = 0;

	(void)state;
	for (unsigned nr = 0; nr < SYSCALL_MAX; nr++) {
		if (syscall_get(nr))
			last = nr;
	}
	assert_true(last >= 462);
#ifdef __x86_64__
	/* Between the last of the old numbers and the first that all machines share. */
	unsigned holes = 0;

	for (unsigned nr = 0; nr < last; nr++)
		holes += !syscall_get(nr) && (nr < 335 || nr > 423);
	assert_int_equal(holes, 0);
#endif
}

/* Calls that matter, written again from the manual: name, class, descriptor, capture, arguments
 * as letters (d descriptor, D directory's, p path, i int, z size, x hex, o octal, f open flags,
 * a address, F two descriptors, s signal). */
struct expect {
	const char *name;
	unsigned call;
	int fd_arg;
	unsigned capture;
	const char *args;
};

static const struct expect expected[] = {
	{"read", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxz"},
	{"pread64", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxzi"},
	{"readv", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxi"},
	{"preadv", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxiii"},
	{"preadv2", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxiiix"},
	{"recvfrom", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxzxax"},
	{"recvmsg", TRACE_CALL_READ, 0, CAPTURE_RIGHTS, "dxx"},
	{"recvmmsg", TRACE_CALL_READ, 0, CAPTURE_NONE, "dxzxx"},
	{"write", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxz"},
	{"pwrite64", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxzi"},
	{"writev", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxi"},
	{"pwritev", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxiii"},
	{"pwritev2", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxiiix"},
	{"sendto", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxzxai"},
	{"sendmsg", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxx"},
	{"sendmmsg", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxzx"},
	{"sendfile", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "ddxz"},
	{"splice", TRACE_CALL_WRITE, 2, CAPTURE_NONE, "dxdxzx"},
	{"tee", TRACE_CALL_WRITE, 1, CAPTURE_NONE, "ddzx"},
	{"vmsplice", TRACE_CALL_WRITE, 0, CAPTURE_NONE, "dxzx"},
	{"copy_file_range", TRACE_CALL_WRITE, 2, CAPTURE_NONE, "dxdxzx"},
	{"io_submit", TRACE_CALL_OTHER, -1, CAPTURE_NONE, "xix"},
	{"io_getevents", TRACE_CALL_WAIT, -1, CAPTURE_NONE, "xiixx"},
	{"io_uring_enter", TRACE_CALL_WAIT, 0, CAPTURE_NONE, "dzzxxz"},
	{"fsync", TRACE_CALL_SYNC, 0, CAPTURE_NONE, "d"},
	{"fdatasync", TRACE_CALL_SYNC, 0, CAPTURE_NONE, "d"},
	{"sync_file_range", TRACE_CALL_SYNC, 0, CAPTURE_NONE, "diix"},
	{"syncfs", TRACE_CALL_SYNC, 0, CAPTURE_NONE, "d"},
	{"sync", TRACE_CALL_SYNC, -1, CAPTURE_NONE, ""},
	{"msync", TRACE_CALL_SYNC, -1, CAPTURE_NONE, "xzx"},
	{"openat", TRACE_CALL_OPEN, -1, CAPTURE_PATH1, "Dpfo"},
	{"openat2", TRACE_CALL_OPEN, -1, CAPTURE_PATH1, "Dpxz"},
	{"open_by_handle_at", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "Dxf"},
	{"close", TRACE_CALL_OPEN, 0, CAPTURE_NONE, "d"},
	{"close_range", TRACE_CALL_OPEN, 0, CAPTURE_NONE, "dzx"},
	{"dup", TRACE_CALL_OPEN, 0, CAPTURE_NONE, "d"},
	{"dup3", TRACE_CALL_OPEN, 0, CAPTURE_NONE, "ddf"},
	{"pipe2", TRACE_CALL_OPEN, -1, CAPTURE_FDS, "Ff"},
	{"socket", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "ixi"},
	{"socketpair", TRACE_CALL_OPEN, -1, CAPTURE_FDS, "ixiF"},
	{"accept", TRACE_CALL_OPEN, 0, CAPTURE_ENDPOINTS, "dax"},
	{"accept4", TRACE_CALL_OPEN, 0, CAPTURE_ENDPOINTS, "daxx"},
	{"connect", TRACE_CALL_CONNECT, 0, CAPTURE_ENDPOINTS, "dai"},
	{"bind", TRACE_CALL_CONNECT, 0, CAPTURE_NONE, "dai"},
	{"listen", TRACE_CALL_CONNECT, 0, CAPTURE_NONE, "di"},
	{"shutdown", TRACE_CALL_CONNECT, 0, CAPTURE_NONE, "di"},
	{"eventfd2", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "zx"},
	{"epoll_create1", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "x"},
	{"timerfd_create", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "ix"},
	{"signalfd4", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "ixzx"},
	{"inotify_init1", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "x"},
	{"memfd_create", TRACE_CALL_OPEN, -1, CAPTURE_PATH0, "px"},
	{"userfaultfd", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "x"},
	{"io_uring_setup", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "zx"},
	{"pidfd_open", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "ix"},
	{"pidfd_getfd", TRACE_CALL_OPEN, -1, CAPTURE_NONE, "dix"},
	{"fcntl", TRACE_CALL_META, 0, CAPTURE_NONE, "dix"},
	{"ioctl", TRACE_CALL_OTHER, 0, CAPTURE_NONE, "dxx"},
	{"fstat", TRACE_CALL_META, 0, CAPTURE_NONE, "dx"},
	{"newfstatat", TRACE_CALL_META, -1, CAPTURE_PATH1, "Dpxx"},
	{"statx", TRACE_CALL_META, -1, CAPTURE_PATH1, "Dpxxx"},
	{"getdents64", TRACE_CALL_META, 0, CAPTURE_NONE, "dxz"},
	{"truncate", TRACE_CALL_META, -1, CAPTURE_PATH0, "pi"},
	{"ftruncate", TRACE_CALL_META, 0, CAPTURE_NONE, "di"},
	{"fallocate", TRACE_CALL_META, 0, CAPTURE_NONE, "dxii"},
	{"mkdirat", TRACE_CALL_META, -1, CAPTURE_PATH1, "Dpo"},
	{"unlinkat", TRACE_CALL_META, -1, CAPTURE_PATH1, "Dpx"},
	{"renameat", TRACE_CALL_META, -1, CAPTURE_PATHS_13, "DpDp"},
	{"renameat2", TRACE_CALL_META, -1, CAPTURE_PATHS_13, "DpDpx"},
	{"linkat", TRACE_CALL_META, -1, CAPTURE_PATHS_13, "DpDpx"},
	{"symlinkat", TRACE_CALL_META, -1, CAPTURE_PATHS_02, "pDp"},
	{"setxattr", TRACE_CALL_META, -1, CAPTURE_PATH0, "pxxzx"},
	{"fsetxattr", TRACE_CALL_META, 0, CAPTURE_NONE, "dxxzx"},
	{"chdir", TRACE_CALL_META, -1, CAPTURE_PATH0, "p"},
	{"fchdir", TRACE_CALL_META, 0, CAPTURE_NONE, "d"},
	{"chroot", TRACE_CALL_META, -1, CAPTURE_PATH0, "p"},
	{"futex", TRACE_CALL_WAIT, -1, CAPTURE_NONE, "xiixxi"},
	{"ppoll", TRACE_CALL_WAIT, -1, CAPTURE_NONE, "xzxxz"},
	{"pselect6", TRACE_CALL_WAIT, -1, CAPTURE_NONE, "ixxxxx"},
	{"epoll_pwait", TRACE_CALL_WAIT, 0, CAPTURE_NONE, "dxiixz"},
	{"wait4", TRACE_CALL_WAIT, -1, CAPTURE_NONE, "ixxx"},
	{"execve", TRACE_CALL_PROCESS, -1, CAPTURE_PATH0, "pxx"},
	{"execveat", TRACE_CALL_PROCESS, -1, CAPTURE_PATH1, "Dpxxx"},
	{"clone", TRACE_CALL_PROCESS, -1, CAPTURE_NONE, "xxxxx"},
	{"tgkill", TRACE_CALL_PROCESS, -1, CAPTURE_NONE, "iis"},
	{"mmap", TRACE_CALL_MEMORY, 4, CAPTURE_NONE, "xzxxdx"},
#ifdef __x86_64__
	{"open", TRACE_CALL_OPEN, -1, CAPTURE_PATH0, "pfo"},
	{"creat", TRACE_CALL_OPEN, -1, CAPTURE_PATH0, "po"},
	{"dup2", TRACE_CALL_OPEN, 0, CAPTURE_NONE, "dd"},
	{"pipe", TRACE_CALL_OPEN, -1, CAPTURE_FDS, "F"},
	{"rename", TRACE_CALL_META, -1, CAPTURE_PATHS_01, "pp"},
	{"link", TRACE_CALL_META, -1, CAPTURE_PATHS_01, "pp"},
	{"symlink", TRACE_CALL_META, -1, CAPTURE_PATHS_01, "pp"},
	{"unlink", TRACE_CALL_META, -1, CAPTURE_PATH0, "p"},
	{"poll", TRACE_CALL_WAIT, -1, CAPTURE_NONE, "xzi"},
	{"epoll_wait", TRACE_CALL_WAIT, 0, CAPTURE_NONE, "dxii"},
#endif
};

static void test_expected(void **state)
{
	static const char letters[] = {[ARG_NONE] = 0,
		[ARG_INT] = 'i',
		[ARG_SIZE] = 'z',
		[ARG_HEX] = 'x',
		[ARG_OCTAL] = 'o',
		[ARG_FD] = 'd',
		[ARG_DIRFD] = 'D',
		[ARG_PATH] = 'p',
		[ARG_SIGNAL] = 's',
		[ARG_OPEN_FLAGS] = 'f',
		[ARG_ADDRESS] = 'a',
		[ARG_FDS] = 'F'};

	(void)state;
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		const struct expect *x = &expected[i];
		int nr = syscall_number(x->name);
		const struct syscall_info *s;
		char args[TRACE_ARGS + 1] = "";

		if (nr < 0)
			fail_msg("%s is missing", x->name);
		s = syscall_get((unsigned)nr);
		for (int a = 0; a < TRACE_ARGS; a++)
			args[a] = letters[s->args[a]];
		if (strcmp(args, x->args) || s->call != x->call || s->fd_arg != x->fd_arg ||
			s->capture != x->capture)
			fail_msg("%s: args %s, class %s, fd %d, capture %u", x->name, args,
				trace_call_name(s->call), s->fd_arg, s->capture);
	}
}

#ifdef __x86_64__
static void test_compat(void **state)
{
	static const struct {
		unsigned nr;
		const char *name;
		unsigned call;
		int fd_arg;
	} calls[] = {{3, "read", TRACE_CALL_READ, 0}, {4, "write", TRACE_CALL_WRITE, 0},
		{5, "open", TRACE_CALL_OPEN, -1}, {6, "close", TRACE_CALL_OPEN, 0},
		{63, "dup2", TRACE_CALL_OPEN, 0}, {102, "socketcall", TRACE_CALL_CONNECT, -1},
		{118, "fsync", TRACE_CALL_SYNC, 0}, {120, "clone", TRACE_CALL_PROCESS, -1},
		{140, "_llseek", TRACE_CALL_META, 0}, {180, "pread64", TRACE_CALL_READ, 0},
		{181, "pwrite64", TRACE_CALL_WRITE, 0}, {192, "mmap2", TRACE_CALL_MEMORY, 4},
		{197, "fstat64", TRACE_CALL_META, 0}, {221, "fcntl64", TRACE_CALL_META, 0},
		{239, "sendfile64", TRACE_CALL_WRITE, 0}, {295, "openat", TRACE_CALL_OPEN, -1},
		{313, "splice", TRACE_CALL_WRITE, 2}, {364, "accept4", TRACE_CALL_OPEN, 0},
		{372, "recvmsg", TRACE_CALL_READ, 0}, {422, "futex_time64", TRACE_CALL_WAIT, -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct syscall_info *s = syscall_get_compat(calls[i].nr);

		assert_non_null(s);
		assert_string_equal(s->name, calls[i].name);
		assert_int_equal(s->call, calls[i].call);
		assert_int_equal(s->fd_arg, calls[i].fd_arg);
	}
}
#endif

static struct trace_event call(unsigned nr, int64_t ret, uint64_t a0, uint64_t a1, uint64_t a2)
{
	return (struct trace_event){
		.what = TRACE_CALL, .nr = (uint16_t)nr, .ret = ret, .args = {a0, a1, a2}};
}

static void test_fd(void **state)
{
	struct trace_event e = call(__NR_read, 10, 7, 0, 10);

	(void)state;
	assert_int_equal(trace_event_fd(&e), 7);
	e = call(__NR_openat, 9, (uint64_t)AT_FDCWD, 0, 0);
	assert_int_equal(trace_event_fd(&e), 9);
	e.ret = -ENOENT;
	assert_int_equal(trace_event_fd(&e), -1);
	e = call(__NR_accept4, 12, 3, 0, 0);
	assert_int_equal(trace_event_fd(&e), 12);
	e.ret = -EMFILE; /* then it is about the one that listens */
	assert_int_equal(trace_event_fd(&e), 3);
	e = call(__NR_accept4, 0, 3, 0, 0);
	e.what = TRACE_PENDING; /* nothing was returned yet */
	assert_int_equal(trace_event_fd(&e), 3);
	e = call(__NR_openat, 0, 0, 0, 0);
	e.what = TRACE_PENDING;
	assert_int_equal(trace_event_fd(&e), -1);
	e = call(__NR_splice, 5, 3, 0, 4);
	assert_int_equal(trace_event_fd(&e), 4);
	e = call(__NR_dup3, 8, 3, 8, 0);
	assert_int_equal(trace_event_fd(&e), 3);
	e = call(__NR_pipe2, 0, 0x7000, 0, 0);
	assert_int_equal(trace_event_fd(&e), -1);
	e = call(__NR_close_range, 0, 3, 5, 0);
	assert_int_equal(trace_event_fd(&e), 3);
	e = call(__NR_mmap, 0x7000, 0, 4096, 3);
	e.args[4] = UINT32_MAX; /* -1, as 32 bits */
	assert_int_equal(trace_event_fd(&e), -1);
	e = call(__NR_read, 0, 7, 0, 0);
	e.what = TRACE_ASYNC;
	assert_int_equal(trace_event_fd(&e), 7);
	e.what = TRACE_SIGNAL;
	assert_int_equal(trace_event_fd(&e), -1);
	e = call(511, 0, 7, 0, 0);
	assert_int_equal(trace_event_fd(&e), -1);
}

static void test_native(void **state)
{
	struct trace_event e = call(__NR_openat, 1, 3, 0, 0);

	(void)state;
	assert_int_equal(trace_event_native(&e), __NR_openat);
	e.what = TRACE_SIGNAL;
	assert_int_equal(trace_event_native(&e), -1);
	e = call(511, 1, 3, 0, 0);
	assert_int_equal(trace_event_native(&e), -1);
#ifdef __x86_64__
	e = call(295, 1, 3, 0, 0);
	e.flags = TRACE_COMPAT;
	assert_int_equal(trace_event_native(&e), __NR_openat);
	e.nr = 221;
	assert_int_equal(trace_event_native(&e), __NR_fcntl);
	e.nr = 102;
	assert_int_equal(trace_event_native(&e), -1);
#endif
}

static void test_class(void **state)
{
	struct trace_event e = call(__NR_pwrite64, 1, 3, 0, 0);

	(void)state;
	assert_int_equal(trace_event_call(&e), TRACE_CALL_WRITE);
	e.what = TRACE_PENDING;
	assert_int_equal(trace_event_call(&e), TRACE_CALL_WRITE);
	e.what = TRACE_EXIT;
	assert_int_equal(trace_event_call(&e), TRACE_CALL_OTHER);
	e = call(60000, 1, 3, 0, 0);
	assert_int_equal(trace_event_call(&e), TRACE_CALL_OTHER);
#ifdef __x86_64__
	e = call(3, 1, 3, 0, 0); /* close here, read there */
	assert_int_equal(trace_event_call(&e), TRACE_CALL_OPEN);
	e.flags = TRACE_COMPAT;
	assert_int_equal(trace_event_call(&e), TRACE_CALL_READ);
#endif
}

static void test_errno(void **state)
{
	struct trace_event e = call(__NR_read, -EIO, 3, 0, 0);

	(void)state;
	assert_int_equal(trace_event_errno(&e), EIO);
	e.what = TRACE_ASYNC;
	assert_int_equal(trace_event_errno(&e), EIO);
	e.what = TRACE_PENDING;
	assert_int_equal(trace_event_errno(&e), 0);
	e = call(__NR_read, 0, 3, 0, 0);
	assert_int_equal(trace_event_errno(&e), 0);
	for (int restart = 512; restart <= 516; restart++) {
		e.ret = -restart;
		assert_int_equal(trace_event_errno(&e), 0);
	}
	e.ret = -4095;
	assert_int_equal(trace_event_errno(&e), 4095);
	e.ret = -4096; /* an address */
	assert_int_equal(trace_event_errno(&e), 0);
	e.ret = INT64_MIN;
	assert_int_equal(trace_event_errno(&e), 0);
}

static void test_no_result(void **state)
{
	struct trace_event e = call(__NR_rt_sigreturn, -EINTR, 0, 0, 0);

	(void)state;
	assert_false(syscall_has_result(syscall_get(__NR_rt_sigreturn)));
	assert_true(syscall_has_result(syscall_get(__NR_read)));
	assert_int_equal(trace_event_errno(&e), 0);
	e = call(60000, -EINTR, 0, 0, 0); /* unknown: a result like any other */
	assert_int_equal(trace_event_errno(&e), EINTR);
#ifdef __x86_64__
	e = call(119, -EINTR, 0, 0, 0);
	e.flags = TRACE_COMPAT; /* sigreturn */
	assert_int_equal(trace_event_errno(&e), 0);
	e.nr = 173; /* rt_sigreturn */
	assert_int_equal(trace_event_errno(&e), 0);
	e.nr = 3; /* read */
	assert_int_equal(trace_event_errno(&e), EINTR);
#endif
}

static void test_bytes(void **state)
{
	struct trace_event e = call(__NR_preadv2, 100, 3, 0, 0);

	(void)state;
	assert_int_equal(trace_event_bytes(&e), 100);
	e = call(__NR_sendfile, 50, 3, 4, 0);
	assert_int_equal(trace_event_bytes(&e), 50);
	e = call(__NR_copy_file_range, 51, 3, 0, 4);
	assert_int_equal(trace_event_bytes(&e), 51);
	e = call(__NR_recvmmsg, 5, 3, 0, 0);
	assert_int_equal(trace_event_bytes(&e), 0);
	e = call(__NR_sendmmsg, 5, 3, 0, 0);
	assert_int_equal(trace_event_bytes(&e), 0);
	e = call(__NR_read, -EIO, 3, 0, 0);
	assert_int_equal(trace_event_bytes(&e), 0);
	e = call(__NR_openat, 100, 3, 0, 0);
	assert_int_equal(trace_event_bytes(&e), 0);
	e = call(__NR_write, 4096, 3, 0, 0);
	e.what = TRACE_ASYNC;
	assert_int_equal(trace_event_bytes(&e), 4096);
	e.what = TRACE_PENDING;
	assert_int_equal(trace_event_bytes(&e), 0);
	e.what = TRACE_FORK;
	assert_int_equal(trace_event_bytes(&e), 0);
#ifdef __x86_64__
	e = call(417, 5, 3, 0, 0);
	e.flags = TRACE_COMPAT;
	assert_int_equal(trace_event_bytes(&e), 0);
	e = call(337, 5, 3, 0, 0);
	e.flags = TRACE_COMPAT;
	assert_int_equal(trace_event_bytes(&e), 0);
#endif
}

static void test_waits(void **state)
{
	struct trace_event e = call(__NR_read, 1, 3, 0, 0);

	(void)state;
	e.file = TRACE_FILE_STORAGE;
	assert_false(trace_event_waits(&e));
	e.file = TRACE_FILE_TCP;
	assert_false(trace_event_waits(&e));
	e.file = TRACE_FILE_DEVICE;
	assert_true(trace_event_waits(&e));
	e.file = TRACE_FILE_PIPE;
	assert_true(trace_event_waits(&e));
	e = call(__NR_write, 1, 3, 0, 0);
	e.file = TRACE_FILE_PIPE;
	assert_false(trace_event_waits(&e));
	e = call(__NR_futex, 1, 3, 0, 0);
	assert_true(trace_event_waits(&e));
	e = call(__NR_accept4, 1, 3, 0, 0);
	assert_true(trace_event_waits(&e));
	e = call(__NR_openat, 1, 3, 0, 0);
	assert_false(trace_event_waits(&e));
	e = call(__NR_connect, 0, 3, 0, 0);
	assert_false(trace_event_waits(&e));
	e.what = TRACE_LOST;
	assert_false(trace_event_waits(&e));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_expected),
#ifdef __x86_64__
		cmocka_unit_test(test_compat),
#endif
		cmocka_unit_test(test_fd),
		cmocka_unit_test(test_native),
		cmocka_unit_test(test_class),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_no_result),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
