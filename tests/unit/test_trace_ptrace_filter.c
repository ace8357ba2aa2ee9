/* The filter of seccomp: what it leaves out, and that the kernel takes it. */
#include "emulator.h"
#include "trace/ptrace_filter.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct ptrace_filter filter;

static void test_what_is_left_out(void **state)
{
	static const int seen[] = {SYS_read, SYS_write, SYS_openat, SYS_close, SYS_mmap, SYS_brk,
		SYS_execve, SYS_exit_group, SYS_clone, SYS_io_submit, SYS_io_getevents, SYS_unshare,
		SYS_epoll_pwait, SYS_unlinkat, SYS_kill};
	static const int out[] = {
		SYS_futex, SYS_clock_gettime, SYS_getpid, SYS_sched_yield, SYS_nanosleep};

	(void)state;
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		assert_false(filter_skips((unsigned)seen[i]));
	for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
		assert_true(filter_skips((unsigned)out[i]));
	assert_false(filter_skips(511)); /* unknown calls are seen */
	filter_make(&filter);
	assert_true(filter.n > 20 && filter.n < FILTER_MAX);
}

/* Without a tracer calls that are not left out fail. */
static void test_in_the_kernel(void **state)
{
	int status = 0;
	pid_t child;

	(void)state;
	skip_if_emulated("seccomp");
	filter_make(&filter);
	child = fork();
	if (child == 0) {
		char byte;

		/* It cannot even end under the filter: let it be killed instead. */
		if (filter_install(&filter) < 0)
			_exit(9);
		if (syscall(SYS_getppid) <= 0 || syscall(SYS_read, 0, &byte, 1) != -1 ||
			errno != ENOSYS)
			for (;;)
				syscall(SYS_sched_yield);
		__builtin_trap();
	}
	for (int i = 0; i < 5000 && waitpid(child, &status, WNOHANG) == 0; i++)
		usleep(1000);
	if (!WIFSIGNALED(status))
		kill(child, SIGKILL);
	assert_true(WIFSIGNALED(status));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_left_out),
		cmocka_unit_test(test_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
