/* Questions about processes, on ourselves and on children. */
#include "trace/ptrace_proc.h"
#include "unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 0x3fffffff /* above the largest pid there can be */

static void nothing(int sig)
{
	(void)sig;
}

static void test_ids(void **state)
{
	(void)state;
	assert_int_equal(proc_tgid(gettid()), getpid());
	assert_int_equal(proc_tgid(NOBODY), -1);
	assert_int_equal(proc_tracer(NOBODY), -1);
	assert_true(proc_tracer(gettid()) >= 0);
}

static void test_ignored_signals(void **state)
{
	(void)state;
	signal(SIGUSR1, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	assert_false(proc_ignores(gettid(), SIGUSR1));
	assert_true(proc_ignores(gettid(), SIGCHLD));
	assert_true(proc_ignores(gettid(), SIGWINCH));
	signal(SIGCHLD, nothing);
	assert_false(proc_ignores(gettid(), SIGCHLD));
	signal(SIGUSR1, SIG_IGN);
	assert_true(proc_ignores(gettid(), SIGUSR1));
	assert_false(proc_ignores(gettid(), SIGKILL));
	signal(SIGUSR1, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	assert_false(proc_ignores(NOBODY, SIGUSR1));
}

static void test_waiting_signals(void **state)
{
	sigset_t set;
	int sig;

	(void)state;
	assert_false(proc_has_signal(gettid()));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGUSR2);
	assert_false(proc_has_signal(gettid())); /* it waits, but is not to be delivered */
	sigwait(&set, &sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	assert_true(proc_has_signal(NOBODY)); /* who knows */
}

static void test_names(void **state)
{
	char path[4096];
	ssize_t n = proc_exe(getpid(), path, sizeof(path));

	(void)state;
	assert_true(n > 0);
	assert_memory_equal(path + n - strlen("proc"), "proc", 4);
	assert_true(proc_exe(NOBODY, path, sizeof(path)) < 0);
	prctl(PR_SET_NAME, "a name of 15 ch");
	assert_true(proc_is_called(gettid(), "a name of 15 ch"));
	assert_false(proc_is_called(gettid(), "a name of 15"));
	assert_false(proc_is_called(NOBODY, "a name of 15 ch"));
}

struct seen {
	pid_t want;
	int n, found;
};

static int see(void *ctx, pid_t id)
{
	struct seen *s = ctx;

	s->n++;
	s->found += id == s->want;
	return s->n == 3 && s->want < 0 ? 7 : 0;
}

static void test_each(void **state)
{
	struct seen s = {.want = getpid()}, end = {.want = -1};

	(void)state;
	assert_int_equal(proc_each("/proc", see, &s), 0);
	assert_int_equal(s.found, 1);
	assert_int_equal(proc_each("/proc", see, &end), s.n < 3 ? 0 : 7);
	assert_int_equal(proc_each("/proc/self/nothing", see, &s), -ENOENT);
}

static void put(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void remove_group(const char *dir)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void test_cgroup(void **state)
{
	char dir[] = "/tmp/limpet-cgroup-XXXXXX", below[64];
	struct seen s = {.want = 30};

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(below, sizeof(below), "%s/below", dir);
	assert_int_equal(proc_each_in_cgroup(dir, see, &s), -ENOENT);
	put(dir, "cgroup.procs", "10\n20\nx\n-5\n0\n");
	assert_int_equal(mkdir(below, 0755), 0);
	put(below, "cgroup.procs", "30\n");
	assert_int_equal(proc_each_in_cgroup(dir, see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_int_equal(s.found, 1);
	remove_group(below);
	remove_group(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_ignored_signals),
		cmocka_unit_test(test_waiting_signals),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_each),
		cmocka_unit_test(test_cgroup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
