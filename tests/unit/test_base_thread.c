#include "base/thread.h"
#include "unit.h"
#include <signal.h>

static void *look(void *arg)
{
	pthread_sigmask(SIG_SETMASK, NULL, arg);
	return NULL;
}

/* The new thread takes no signals; those of this one are as before. */
static void test_signals(void **state)
{
	sigset_t there, here;
	pthread_t thread;

	(void)state;
	sigemptyset(&there);
	assert_int_equal(thread_start(&thread, look, &there), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(sigismember(&there, SIGTERM), 1);
	assert_int_equal(sigismember(&there, SIGINT), 1);
	pthread_sigmask(SIG_SETMASK, NULL, &here);
	assert_int_equal(sigismember(&here, SIGTERM), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
