#include "model/syscalls.h"
#include "unit.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

static void test_errnos(void **state)
{
	char buf[SYSCALL_NAME_MAX];
	unsigned known = 0;

	(void)state;
	assert_string_equal(errno_name(ENOSPC, buf), "ENOSPC");
	assert_string_equal(errno_name(EMFILE, buf), "EMFILE");
	assert_string_equal(errno_name(EAGAIN, buf), "EAGAIN");
	assert_string_equal(errno_name(512, buf), "ERESTARTSYS");
	assert_string_equal(errno_name(999, buf), "E999");
	assert_string_equal(errno_name(0, buf), "E0");
	assert_string_equal(errno_name(INT32_MIN, buf), "E-2147483648");
	for (int i = 1; i < 600; i++) {
		const char *name = errno_name(i, buf);

		if (name == buf)
			continue;
		known++;
		assert_int_equal(errno_number(name), i);
		/* libc knows the same, but for the kernel's own. */
		if (i < 512 && strerrorname_np(i))
			assert_string_equal(name, strerrorname_np(i));
	}
	for (int i = 1; i < 134; i++)
		assert_true(!strerrorname_np(i) || errno_name(i, buf) != buf);
	assert_true(known > 130);
}

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(errno_number("EWOULDBLOCK"), EAGAIN);
	assert_int_equal(errno_number("ENOTSUP"), ENOTSUP);
	assert_int_equal(errno_number("EDEADLOCK"), EDEADLOCK);
	assert_int_equal(errno_number("ENOSUCH"), 0);
	assert_int_equal(errno_number(""), 0);
}

static void test_signals(void **state)
{
	char buf[SYSCALL_NAME_MAX];

	(void)state;
	assert_string_equal(signal_name(SIGXFSZ, buf), "SIGXFSZ");
	assert_string_equal(signal_name(SIGABRT, buf), "SIGABRT");
	assert_string_equal(signal_name(32, buf), "SIGRT_0");
	assert_string_equal(signal_name(64, buf), "SIGRT_32");
	assert_string_equal(signal_name(99, buf), "SIG99");
	assert_string_equal(signal_name(0, buf), "SIG0");
	assert_string_equal(signal_name(INT32_MIN, buf), "SIG-2147483648");
	for (int i = 1; i < 32; i++) {
		assert_true(signal_name(i, buf) != buf);
		if (i != SIGIO) /* libc says SIGPOLL */
			assert_string_equal(signal_name(i, buf) + 3, sigabbrev_np(i));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_errnos),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
