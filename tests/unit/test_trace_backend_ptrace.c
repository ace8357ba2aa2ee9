/* The ptrace backend on children of our own. tests/e2e/trace_conformance.py checks the events of
 * each call; here it is how tracing begins and ends. */
#include "emulator.h"
#include "trace/backend.h"
#include "trace/ptrace_proc.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENTS_MAX 20000
#define PATIENCE 500 /* polls of 20 ms */

/* What the sink got. */
static struct {
	struct trace_event events[EVENTS_MAX];
	int n, fail_at;
} got;
static const struct trace_backend *backend;

/* Shared with children. */
static struct {
	atomic_int ready, go, rounds, interrupted;
} * shared;

static int keep(void *ctx, const struct trace_event *e)
{
	(void)ctx;
	if (got.n < EVENTS_MAX)
		got.events[got.n++] = *e;
	return got.fail_at && got.n >= got.fail_at ? -EXDEV : 0;
}

static int begin(const struct trace_targets *targets, bool records, void **ret, struct lp_err *err)
{
	const struct trace_config config = {.targets = *targets, .records = records};
	const struct trace_sink sink = {keep, NULL};

	memset(&got, 0, sizeof(got));
	return backend->open(&config, &sink, ret, err);
}

static void *begin_pid(pid_t pid)
{
	struct lp_err err = {0};
	void *state = NULL;

	assert_int_equal(
		begin(&(struct trace_targets){.pids = &pid, .n_pids = 1}, true, &state, &err), 0);
	return state;
}

static const struct trace_event *find(unsigned what, unsigned nr)
{
	for (int i = 0; i < got.n; i++) {
		if (got.events[i].what == what && got.events[i].nr == nr)
			return &got.events[i];
	}
	return NULL;
}

/* Poll until such an event has come. */
static const struct trace_event *expect(void *state, unsigned what, unsigned nr)
{
	for (int i = 0; i < PATIENCE && !find(what, nr); i++)
		assert_true(backend->poll(state, 20, NULL) >= 0);
	return find(what, nr);
}

/* The ends of our own children are then reported to the tracer alone, which is a thread of ours. */
static void poll_to_the_end(void *state)
{
	int r = 0;

	for (int i = 0; i < PATIENCE && r == 0; i++)
		r = backend->poll(state, 20, NULL);
	assert_int_equal(r, 1);
}

static void wait_for(atomic_int *what, int value)
{
	for (int i = 0; i < 5000 && atomic_load(what) < value; i++)
		usleep(1000);
	assert_true(atomic_load(what) >= value);
}

static int end_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static char state_of(pid_t tid)
{
	char path[64], line[256], c = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f))
		c = strrchr(line, ')')[2];
	if (f)
		fclose(f);
	return c;
}

static void *loop(void *arg)
{
	(void)arg;
	atomic_fetch_add(&shared->ready, 1);
	for (;;) {
		syscall(SYS_getppid);
		atomic_fetch_add(&shared->rounds, 1);
	}
	return NULL;
}

static pid_t start_busy(int threads)
{
	pid_t child;

	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child == 0) {
		pthread_t t;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 1; i < threads; i++)
			pthread_create(&t, NULL, loop, NULL);
		loop(NULL);
	}
	wait_for(&shared->ready, threads);
	return child;
}

static void stop_busy(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(end_of(child), SIGKILL);
}

static void test_probe(void **state)
{
	struct lp_err err = {0};

	(void)state;
	backend = trace_backend_find("ptrace");
	assert_non_null(backend);
	assert_int_equal(backend->probe(&err), 0);
	assert_null(trace_backend_find("nothing"));
	assert_non_null(trace_backend_choose(NULL));
	backend->close(NULL);
}

static void test_command(void **state)
{
	char *const command[] = {"sh", "-c", "exit 3", NULL};
	struct lp_err err = {0};
	void *s;

	(void)state;
	assert_int_equal(begin(&(struct trace_targets){.command = command}, true, &s, &err), 0);
	assert_int_equal(got.n, 0);
	assert_int_equal(backend->command_status(s), -ECHILD);
	poll_to_the_end(s);
	assert_int_equal(got.events[0].what, TRACE_EXEC);
	assert_int_equal(got.events[1].nr, SYS_execve);
	assert_int_equal(got.events[1].seq, 1);
	assert_int_equal(find(TRACE_EXIT, 0)->ret, 3 << 8);
	assert_int_equal(backend->command_status(s), 3 << 8);
	assert_int_equal(backend->lost(s), 0);
	backend->close(s);
}

static void test_commands_that_cannot_be(void **state)
{
	char *const nothing[] = {"/nonexistent/program", NULL}, *const dir[] = {"/", NULL};
	struct lp_err err = {0};
	void *s = NULL;

	(void)state;
	assert_int_equal(
		begin(&(struct trace_targets){.command = nothing}, true, &s, &err), -ENOENT);
	assert_non_null(strstr(err.text, "/nonexistent/program"));
	assert_int_equal(begin(&(struct trace_targets){.command = dir}, false, &s, &err), -EACCES);
	assert_null(s);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_threads(void **state)
{
	const int threads = 8;
	pid_t child = start_busy(threads), pids[4];
	void *s = begin_pid(child);
	int seen = 0, before;

	(void)state;
	for (int i = 0; i < PATIENCE && seen < threads; i++) {
		assert_int_equal(backend->poll(s, 20, NULL), 0);
		got.n = got.n < EVENTS_MAX / 2 ? got.n : 0;
		seen = 0;
		for (int tid = child; tid < child + 100; tid++) {
			int found = 0;

			for (int k = 0; k < got.n && !found; k++)
				found = got.events[k].tid == tid && got.events[k].pid == child;
			seen += found;
		}
	}
	assert_int_equal(seen, threads);
	assert_int_equal(backend->processes(s, pids, 4), 1);
	assert_int_equal(pids[0], child);
	backend->close(s);
	assert_int_equal(proc_tracer(child), 0);
	before = atomic_load(&shared->rounds);
	wait_for(&shared->rounds, before + 1000);
	assert_true(state_of(child) == 'R' || state_of(child) == 'S');
	stop_busy(child);
}

static void test_two_tracers(void **state)
{
	pid_t child = start_busy(1);
	void *s = begin_pid(child), *other = NULL;
	struct lp_err err = {0};
	const struct trace_targets targets = {.pids = &child, .n_pids = 1};
	const struct trace_config config = {.targets = targets, .records = true};

	(void)state;
	assert_int_equal(
		backend->open(&config, &(struct trace_sink){keep, NULL}, &other, &err), -EPERM);
	assert_non_null(strstr(err.text, "is already traced by process"));
	backend->close(s);
	stop_busy(child);
}

static void test_nobody(void **state)
{
	const pid_t self = getpid(), nobody = 0x3fffffff;
	struct lp_err err = {0};
	void *s = NULL;

	(void)state;
	assert_int_equal(
		begin(&(struct trace_targets){.pids = &nobody, .n_pids = 1}, true, &s, &err),
		-ESRCH);
	assert_non_null(strstr(err.text, "no process"));
	assert_int_equal(begin(&(struct trace_targets){.pids = &self, .n_pids = 1}, true, &s, &err),
		-EINVAL);
	assert_int_equal(begin(&(struct trace_targets){0}, true, &s, &err), -ESRCH);
	assert_int_equal(
		begin(&(struct trace_targets){.cgroup = "/nonexistent"}, true, &s, &err), -ENOENT);
	assert_null(s);
}

/* One that is called so only later, and one in a control group. */
static void test_found_later(void **state)
{
	const char *comms[] = {"limpet-late"};
	char dir[] = "/tmp/limpet-late-XXXXXX", link[64];
	struct lp_err err = {0};
	void *s = NULL;
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(link, sizeof(link), "%s/limpet-late", dir);
	assert_int_equal(symlink("/bin/sh", link), 0);
	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (!atomic_load(&shared->go))
			usleep(1000);
		execl(link, link, "-c", "while :; do cd /; done", NULL);
		_exit(1);
	}
	assert_int_equal(
		begin(&(struct trace_targets){.comms = comms, .n_comms = 1}, true, &s, &err), 0);
	assert_int_equal(backend->poll(s, 20, NULL), 0);
	assert_int_equal(got.n, 0);
	atomic_store(&shared->go, 1);
	assert_non_null(expect(s, TRACE_CALL, SYS_chdir));
	backend->close(s);
	stop_busy(child);
	unlink(link);
	rmdir(dir);
}

static void test_cgroup(void **state)
{
	char dir[] = "/tmp/limpet-cgroup-XXXXXX", path[64];
	pid_t child = start_busy(1);
	struct lp_err err = {0};
	void *s = NULL;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	f = fopen(path, "w");
	fprintf(f, "%d\n%d\n", child, getpid()); /* ourselves we leave alone */
	fclose(f);
	assert_int_equal(begin(&(struct trace_targets){.cgroup = dir}, true, &s, &err), 0);
	assert_non_null(expect(s, TRACE_CALL, SYS_getppid));
	backend->close(s);
	stop_busy(child);
	unlink(path);
	rmdir(dir);
}

/* epoll_wait reports an interruption; attaching must not be visible. */
static void test_waits_go_on(void **state)
{
	pid_t child;
	void *s;

	(void)state;
	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child == 0) {
		struct epoll_event e;
		int fd = epoll_create1(0);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		atomic_store(&shared->ready, 1);
		for (int i = 0; i < 20; i++) {
			if (epoll_wait(fd, &e, 1, 50) < 0)
				atomic_fetch_add(&shared->interrupted, 1);
		}
		_exit(0);
	}
	wait_for(&shared->ready, 1);
	for (int i = 0; i < 5; i++) {
		s = begin_pid(child);
		assert_int_equal(backend->poll(s, 60, NULL), 0);
		backend->close(s);
	}
	assert_int_equal(end_of(child), 0);
	assert_int_equal(atomic_load(&shared->interrupted), 0);
}

static void on_term(int sig)
{
	(void)sig;
	_exit(42);
}

static void test_signals_arrive(void **state)
{
	pid_t child;
	void *s;

	(void)state;
	memset(shared, 0, sizeof(*shared));
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGTERM, on_term);
		loop(NULL);
	}
	wait_for(&shared->ready, 1);
	s = begin_pid(child);
	assert_non_null(expect(s, TRACE_CALL, SYS_getppid));
	kill(child, SIGWINCH); /* ignored signals are not reported */
	kill(child, SIGTERM);
	poll_to_the_end(s);
	assert_non_null(find(TRACE_SIGNAL, SIGTERM));
	assert_int_equal(find(TRACE_SIGNAL, SIGTERM)->args[0], getpid());
	assert_null(find(TRACE_SIGNAL, SIGWINCH));
	assert_int_equal(find(TRACE_EXIT, 0)->ret, 42 << 8);
	backend->close(s);
}

/* A process that was stopped before stays so, and goes on when it is continued. */
static void test_stopped_stays_stopped(void **state)
{
	pid_t child = start_busy(2);
	int status, before;
	void *s;

	(void)state;
	kill(child, SIGSTOP);
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	s = begin_pid(child);
	assert_int_equal(backend->poll(s, 50, NULL), 0);
	assert_int_equal(got.n, 0);
	backend->close(s);
	/* It is woken to stop again. */
	for (int i = 0; i < 5000 && state_of(child) != 'T'; i++)
		usleep(1000);
	assert_int_equal(state_of(child), 'T');
	before = atomic_load(&shared->rounds);
	kill(child, SIGCONT);
	wait_for(&shared->rounds, before + 100);
	/* And one that is stopped and continued while it is traced. */
	s = begin_pid(child);
	assert_non_null(expect(s, TRACE_CALL, SYS_getppid));
	kill(child, SIGSTOP);
	assert_non_null(expect(s, TRACE_SIGNAL, SIGSTOP));
	assert_int_equal(backend->poll(s, 50, NULL), 0);
	got.n = 0;
	assert_int_equal(backend->poll(s, 50, NULL), 0);
	assert_int_equal(got.n, 0);
	kill(child, SIGCONT);
	assert_non_null(expect(s, TRACE_CALL, SYS_getppid));
	backend->close(s);
	stop_busy(child);
}

static void test_refused_events(void **state)
{
	pid_t child = start_busy(1);
	void *s = begin_pid(child);
	struct lp_err err = {0};
	int r = 0, before;

	(void)state;
	got.fail_at = 10;
	for (int i = 0; i < PATIENCE && r == 0; i++)
		r = backend->poll(s, 20, &err);
	assert_int_equal(r, -EXDEV);
	backend->close(s);
	before = atomic_load(&shared->rounds);
	wait_for(&shared->rounds, before + 100);
	stop_busy(child);
}

static void nothing(int sig)
{
	(void)sig;
}

static void test_limits_of_waiting(void **state)
{
	struct sigaction handler = {.sa_handler = nothing};
	struct itimerval soon = {.it_value = {0, 50000}};
	int fds[2];
	pid_t child;
	char byte;
	void *s;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	child = fork();
	if (child == 0) {
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) == 0 ? 0 : 1);
	}
	s = begin_pid(child);
	assert_int_equal(backend->poll(s, 0, NULL), 0);
	assert_int_equal(backend->poll(s, 30, NULL), 0);
	assert_int_equal(backend->pending(s, 0, NULL), 0);
	assert_non_null(find(TRACE_PENDING, SYS_read));
	assert_int_equal(find(TRACE_PENDING, SYS_read)->file, TRACE_FILE_PIPE);
	assert_int_equal(find(TRACE_PENDING, SYS_read)->args[0], fds[0]);
	got.n = 0;
	assert_int_equal(backend->pending(s, INT64_MAX, NULL), 0);
	assert_int_equal(got.n, 0);
	sigaction(SIGALRM, &handler, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(backend->poll(s, 60000, NULL), 0); /* a test that hangs if it fails */
	close(fds[1]);
	poll_to_the_end(s);
	assert_int_equal(find(TRACE_EXIT, 0)->ret, 0);
	backend->close(s);
	close(fds[0]);
}

/* What pause() calls. */
#ifdef SYS_pause
#define PAUSE_CALL SYS_pause
#else
#define PAUSE_CALL SYS_ppoll
#endif

/* A thread that is killed inside of a call. */
static void test_death_in_a_call(void **state)
{
	pid_t child = fork();
	void *s;

	(void)state;
	if (child == 0) {
		for (;;)
			pause();
	}
	s = begin_pid(child);
	for (int i = 0; i < PATIENCE && !find(TRACE_PENDING, PAUSE_CALL); i++) {
		assert_int_equal(backend->poll(s, 20, NULL), 0);
		assert_int_equal(backend->pending(s, 0, NULL), 0);
	}
	got.n = 0;
	kill(child, SIGKILL);
	poll_to_the_end(s);
	assert_int_equal(got.n, 2);
	assert_int_equal(got.events[0].what, TRACE_PENDING);
	assert_int_equal(got.events[0].nr, PAUSE_CALL);
	assert_int_equal(got.events[1].what, TRACE_EXIT);
	assert_int_equal(got.events[1].nr, SIGKILL);
	backend->close(s);
}

/* Summaries of a command leave calls out in the kernel, and it ends with its tracer. */
static void test_filtered_command(void **state)
{
	char *const command[] = {"sh", "-c",
		"kill -0 $$; umask >/dev/null; read x < /proc/self/stat; exec sleep 100", NULL};
	struct lp_err err = {0};
	pid_t pids[2];
	void *s;

	(void)state;
	assert_int_equal(begin(&(struct trace_targets){.command = command}, false, &s, &err), 0);
	for (int i = 0; i < PATIENCE && got.n < 1; i++)
		assert_int_equal(backend->poll(s, 20, NULL), 0);
	assert_int_equal(backend->processes(s, pids, 2), 1);
	assert_non_null(expect(s, TRACE_CALL, SYS_read));
	assert_non_null(expect(s, TRACE_CALL, SYS_execve));
	assert_null(find(TRACE_CALL, SYS_getpid));
	assert_null(find(TRACE_CALL, SYS_rt_sigprocmask));
	backend->close(s);
	assert_int_equal(kill(pids[0], 0), -1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static int setup(void **state)
{
	(void)state;
	shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED ? -1 : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_commands_that_cannot_be),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_two_tracers),
		cmocka_unit_test(test_nobody),
		cmocka_unit_test(test_found_later),
		cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_waits_go_on),
		cmocka_unit_test(test_signals_arrive),
		cmocka_unit_test(test_stopped_stays_stopped),
		cmocka_unit_test(test_refused_events),
		cmocka_unit_test(test_limits_of_waiting),
		cmocka_unit_test(test_death_in_a_call),
		cmocka_unit_test(test_filtered_command),
	};

	if (skips_all_if_emulated("ptrace"))
		return 0;
	return cmocka_run_group_tests(tests, setup, NULL);
}
