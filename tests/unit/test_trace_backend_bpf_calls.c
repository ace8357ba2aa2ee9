/* The table of calls that the kernel gets: what it says of each, against model/syscalls.h and, for
 * what only these programs want to know, against the manual pages.
 */
#include "trace/backend_bpf.h"
#include "unit.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct bpf_settings settings;

static int setup(void **state)
{
	(void)state;
	memset(&settings, 0x55, sizeof(settings));
	bpf_calls_fill(&settings);
	return 0;
}

/* Calls that have a flag for what they are; ends with NULL. */
static const struct {
	unsigned flag;
	const char *names[4];
} special[] = {
	{BPF_CALL_REPLACES, {"execve", "execveat"}},
	{BPF_CALL_CLOSES, {"close"}},
	{BPF_CALL_SUBMITS, {"io_submit"}},
	{BPF_CALL_REAPS, {"io_getevents", "io_pgetevents"}},
	{BPF_CALL_ACCEPTS, {"accept", "accept4"}},
};

static unsigned special_flags(const char *name)
{
	unsigned flags = 0;

	for (size_t i = 0; i < COUNT(special); i++) {
		for (size_t n = 0; special[i].names[n]; n++)
			flags |= strcmp(special[i].names[n], name) ? 0 : special[i].flag;
	}
	return flags;
}

/* The other flags, from what the table of calls says. */
static unsigned table_flags(const struct syscall_info *s)
{
	bool messages = strstr(s->name, "mmsg") != NULL; /* they return messages, not bytes */
	bool moves = s->call == TRACE_CALL_READ || s->call == TRACE_CALL_WRITE;

	return (syscall_returns_fd(s) ? BPF_CALL_RETURNS_FD : 0) |
		(moves && !messages ? BPF_CALL_MOVES : 0) |
		(s->call == TRACE_CALL_WAIT || special_flags(s->name) == BPF_CALL_ACCEPTS
				? BPF_CALL_WAITS
				: 0);
}

static unsigned args_of(const struct syscall_info *s)
{
	unsigned n = 0;

	while (n < TRACE_ARGS && s->args[n] != ARG_NONE)
		n++;
	return n;
}

static void check_call(const struct bpf_call *c, const struct syscall_info *s)
{
	if (!s) { /* whatever it may be: all arguments, and no guesses */
		assert_int_equal(c->call, TRACE_CALL_OTHER);
		assert_int_equal(c->capture, CAPTURE_NONE);
		assert_int_equal(c->n_args, TRACE_ARGS);
		assert_int_equal(c->fd_arg, -1);
		assert_int_equal(c->flags, 0);
		return;
	}
	if (c->call != s->call || c->capture != s->capture || c->fd_arg != s->fd_arg ||
		c->n_args != args_of(s))
		fail_msg("%s: class %u, capture %u, descriptor %d, %u arguments", s->name, c->call,
			c->capture, c->fd_arg, c->n_args);
	if (c->fd_arg >= c->n_args)
		fail_msg("%s: its descriptor is not delivered", s->name);
	if (c->flags != (special_flags(s->name) | table_flags(s)))
		fail_msg("%s: flags are %#x, not %#x", s->name, c->flags,
			special_flags(s->name) | table_flags(s));
}

static void test_every_call(void **state)
{
	unsigned native = 0, compat = 0;

	(void)state;
	for (unsigned i = 0; i < SYSCALL_MAX; i++) {
		check_call(&settings.calls[i], syscall_get(i));
		check_call(&settings.compat[i], syscall_get_compat(i));
		native += syscall_get(i) != NULL;
		compat += syscall_get_compat(i) != NULL;
	}
	assert_true(native > 300);
#ifdef __x86_64__
	assert_true(compat > 300);
#endif
}

/* The most important ones, listed again; none of them is missing in either table. */
static const struct {
	const char *name;
	unsigned compat; /* its number in 32-bit programs */
	unsigned flags;
	int fd_arg;
	unsigned n_args;
} known[] = {
	{"read", 3, BPF_CALL_MOVES, 0, 3},
	{"write", 4, BPF_CALL_MOVES, 0, 3},
	{"openat", 295, BPF_CALL_RETURNS_FD, -1, 4},
	{"close", 6, BPF_CALL_CLOSES, 0, 1},
	{"execve", 11, BPF_CALL_REPLACES, -1, 3},
	{"execveat", 358, BPF_CALL_REPLACES, -1, 5},
	{"io_submit", 248, BPF_CALL_SUBMITS, -1, 3},
	{"io_getevents", 247, BPF_CALL_REAPS | BPF_CALL_WAITS, -1, 5},
	{"io_pgetevents", 385, BPF_CALL_REAPS | BPF_CALL_WAITS, -1, 6},
	{"accept4", 364, BPF_CALL_ACCEPTS | BPF_CALL_RETURNS_FD | BPF_CALL_WAITS, 0, 4},
	{"socket", 359, BPF_CALL_RETURNS_FD, -1, 3},
	{"connect", 362, 0, 0, 3},
	{"recvmsg", 372, BPF_CALL_MOVES, 0, 3},
	{"recvmmsg", 337, 0, 0, 5},
	{"sendmmsg", 345, 0, 0, 4},
	{"fsync", 118, 0, 0, 1},
	{"futex", 240, BPF_CALL_WAITS, -1, 6},
	{"dup", 41, 0, 0, 1},
	{"pipe2", 331, 0, -1, 2},
};

static void check_known(const struct bpf_call *c, size_t i)
{
	if (c->flags != known[i].flags || c->fd_arg != known[i].fd_arg ||
		c->n_args != known[i].n_args)
		fail_msg("%s: flags %#x, descriptor %d, %u arguments", known[i].name, c->flags,
			c->fd_arg, c->n_args);
}

static void test_known_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(known); i++) {
		int nr = syscall_number(known[i].name);

		assert_in_range(nr, 0, SYSCALL_MAX - 1);
		check_known(&settings.calls[nr], i);
#ifdef __x86_64__
		assert_string_equal(syscall_get_compat(known[i].compat)->name, known[i].name);
		check_known(&settings.compat[known[i].compat], i);
#endif
	}
}

static void test_births(void **state)
{
	int vfork = syscall_number("vfork"); /* x86 has it, others do it with clone() */

	(void)state;
	assert_int_equal(settings.nr_clone, syscall_number("clone"));
	assert_int_equal(settings.nr_clone3, syscall_number("clone3"));
	assert_int_equal(settings.nr_vfork, vfork < 0 ? BPF_NO_CALL : vfork);
}

/* Operations by the numbers of the kernel's interface, which never change. */
struct operation {
	unsigned op;
	const char *call;
};

static const struct operation uring[] = {
	{1, "preadv"},
	{2, "pwritev"},
	{3, "fsync"},
	{4, "pread64"},
	{5, "pwrite64"},
	{8, "sync_file_range"},
	{9, "sendmsg"},
	{10, "recvmsg"},
	{13, "accept4"},
	{16, "connect"},
	{17, "fallocate"},
	{18, "openat"},
	{19, "close"},
	{21, "statx"},
	{22, "pread64"},
	{23, "pwrite64"},
	{26, "sendto"},
	{27, "recvfrom"},
	{28, "openat2"},
	{30, "splice"},
	{33, "tee"},
	{34, "shutdown"},
	{35, "renameat2"},
	{36, "unlinkat"},
	{37, "mkdirat"},
	{38, "symlinkat"},
	{39, "linkat"},
};

static const struct operation aio[] = {
	{0, "pread64"},
	{1, "pwrite64"},
	{2, "fsync"},
	{3, "fdatasync"},
	{7, "preadv"},
	{8, "pwritev"},
};

static void check_operations(
	const uint16_t *calls, unsigned n_calls, const struct operation *ops, size_t n_ops)
{
	for (unsigned i = 0, next = 0; i < n_calls; i++) {
		int nr = BPF_NO_CALL;

		if (next < n_ops && ops[next].op == i)
			nr = syscall_number(ops[next++].call);
		if (calls[i] != nr)
			fail_msg("operation %u is call %u, not %d", i, calls[i], nr);
	}
}

static void test_uring(void **state)
{
	(void)state;
	check_operations(settings.uring_calls, BPF_URING_OPS, uring, COUNT(uring));
	/* Reads and writes of files, and nothing else, have address, length and offset. */
	for (unsigned i = 0; i < BPF_URING_OPS; i++) {
		unsigned nr = settings.uring_calls[i];
		const struct syscall_info *s = syscall_get(nr);
		bool moves = s && (!strncmp(s->name, "pread", 5) || !strncmp(s->name, "pwrite", 6));

		assert_int_equal(settings.uring_moves >> i & 1, moves);
	}
}

static void test_aio(void **state)
{
	(void)state;
	check_operations(settings.aio_calls, BPF_AIO_OPS, aio, COUNT(aio));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_call),
		cmocka_unit_test(test_known_calls),
		cmocka_unit_test(test_births),
		cmocka_unit_test(test_uring),
		cmocka_unit_test(test_aio),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
