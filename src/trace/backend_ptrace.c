/* The backend `ptrace`: stops the traced threads at every call, for systems where bpf is not
 * permitted. */
#include "base/cleanup.h"
#include "base/thread.h"
#include "trace/ptrace_proc.h"
#include "trace/ptrace_tracer.h"
#include <errno.h>
#include <semaphore.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

/* Wakes the tracer from waitpid(). */
#define WAKE (SIGRTMIN + 7)
#define WAKE_AGAIN_NS INT64_C(5000000)
#define GONE_WAIT_MS 2000
#define END_WAIT_MS 2000

enum request { REQUEST_OPEN, REQUEST_POLL, REQUEST_END };

struct backend {
	struct ptrace_tracer tracer;
	pthread_t thread;
	atomic_int tid; /* of the thread */
	sem_t asked, answered;
	struct sigaction wake_before;
	bool runs; /* the thread exists */

	/* The request, and the answer. */
	enum request request;
	struct lp_err *err;
	int result;
};

static void on_wake(int sig)
{
	(void)sig;
}

static void *serve(void *arg)
{
	struct backend *b = arg;
	sigset_t mine;

	/* SIGCHLD comes at every stop. It has no handler, and must not be blocked: then the kernel
	 * drops it instead of waking another thread. */
	sigemptyset(&mine);
	sigaddset(&mine, WAKE);
	sigaddset(&mine, SIGCHLD);
	pthread_sigmask(SIG_UNBLOCK, &mine, NULL);
	atomic_store(&b->tid, gettid());
	for (;;) {
		while (sem_wait(&b->asked) < 0)
			continue;
		if (b->request == REQUEST_END) {
			tracer_end(&b->tracer);
			return NULL;
		}
		b->result = b->request == REQUEST_OPEN ? tracer_attach(&b->tracer, b->err)
						       : tracer_run(&b->tracer);
		sem_post(&b->answered);
	}
}

static struct timespec in_ns(int64_t ns)
{
	int64_t at = tracer_now_ns() + ns;

	return (struct timespec){at / 1000000000, at % 1000000000};
}

/* Let the tracer do something, and stop it after `timeout_ns` or at a signal to this thread. */
static int ask(struct backend *b, enum request request, int64_t timeout_ns, struct lp_err *err)
{
	struct timespec until = in_ns(timeout_ns);

	b->request = request;
	b->err = err;
	atomic_store(&b->tracer.stop, timeout_ns == 0);
	sem_post(&b->asked);
	if (sem_clockwait(&b->answered, CLOCK_MONOTONIC, &until) == 0)
		return b->result;
	atomic_store(&b->tracer.stop, true);
	do {
		/* Repeatedly, because it may be just about to wait. */
		pthread_kill(b->thread, WAKE);
		until = in_ns(WAKE_AGAIN_NS);
	} while (sem_clockwait(&b->answered, CLOCK_MONOTONIC, &until) < 0);
	return b->result;
}

/* The end of a thread is reported before the kernel has detached its tracees. */
static void wait_until_gone(pid_t tid)
{
	const struct timespec pause = {.tv_nsec = 1000000};
	char path[48];

	snprintf(path, sizeof(path), "/proc/self/task/%d", tid);
	for (int i = 0; i < GONE_WAIT_MS && access(path, F_OK) == 0; i++)
		nanosleep(&pause, NULL);
}

static int discard(void *ctx, const struct trace_event *e)
{
	(void)ctx;
	(void)e;
	return 0;
}

/* A command under a filter cannot continue without a tracer, so it gets some time to end by itself
 * before the end of the tracer kills it. */
static void end_filtered(struct backend *b)
{
	struct ptrace_tracer *t = &b->tracer;

	if (!t->command || t->command_status != -ECHILD || t->config.records)
		return;
	t->sink = (struct trace_sink){.event = discard};
	t->result = 0;
	kill(t->command, SIGTERM);
	for (int i = 0; i < END_WAIT_MS / 100 && t->command_status == -ECHILD; i++)
		ask(b, REQUEST_POLL, INT64_C(100000000), NULL);
}

/* Nothing else reaps a command that was killed with its tracer. */
static void reap_command(const struct ptrace_tracer *t)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	if (!t->command || t->command_status != -ECHILD || t->config.records)
		return;
	for (int i = 0; i < GONE_WAIT_MS && waitpid(t->command, NULL, WNOHANG) == 0; i++)
		nanosleep(&pause, NULL);
}

static void ptrace_close(void *state)
{
	struct backend *b = state;

	if (!b)
		return;
	if (b->runs) {
		end_filtered(b);
		b->request = REQUEST_END;
		sem_post(&b->asked);
		pthread_join(b->thread, NULL);
		wait_until_gone(atomic_load(&b->tid));
		reap_command(&b->tracer);
		sigaction(WAKE, &b->wake_before, NULL);
	}
	sem_destroy(&b->asked);
	sem_destroy(&b->answered);
	tasks_release(&b->tracer.tasks);
	free(b);
}

DEFINE_CLEANUP(void *, ptrace_close);

static int start_thread(struct backend *b, struct lp_err *err)
{
	struct sigaction wake = {.sa_handler = on_wake};
	int r;

	pthread_sigmask(SIG_SETMASK, NULL, &b->tracer.caller_mask);
	sigaction(WAKE, &wake, &b->wake_before);
	r = thread_start(&b->thread, serve, b);
	if (r < 0) {
		sigaction(WAKE, &b->wake_before, NULL);
		return lp_err_sys(err, r, "cannot start a thread");
	}
	b->runs = true;
	return 0;
}

static int ptrace_open(const struct trace_config *config, const struct trace_sink *sink,
	void **ret_state, struct lp_err *err)
{
	_cleanup_(ptrace_closep) void *state = calloc(1, sizeof(struct backend));
	struct backend *b = state;
	int r;

	if (!b)
		return lp_err_set(err, -ENOMEM, "out of memory");
	sem_init(&b->asked, 0, 0);
	sem_init(&b->answered, 0, 0);
	b->tracer.config = *config;
	b->tracer.sink = *sink;
	b->tracer.command_status = -ECHILD;
	r = start_thread(b, err);
	if (r < 0)
		return r;
	r = ask(b, REQUEST_OPEN, INT64_C(60000000000), err);
	if (r < 0)
		return r;
	*ret_state = TAKE_PTR(state);
	return 0;
}

static int ptrace_poll(void *state, int timeout_ms, struct lp_err *err)
{
	int r = ask(state, REQUEST_POLL, timeout_ms > 0 ? timeout_ms * INT64_C(1000000) : 0, err);

	/* The receiver of the events has already described the failure. */
	return r < 0 && err && !err->code ? lp_err_sys(err, r, "cannot handle a traced event") : r;
}

static int ptrace_pending(void *state, int64_t at_least_ns, struct lp_err *err)
{
	struct backend *b = state;

	(void)err;
	return tracer_pending(&b->tracer, at_least_ns);
}

static int ptrace_tally(void *state, struct tally *t, struct lp_err *err)
{
	(void)state;
	(void)t;
	return lp_err_set(err, -EOPNOTSUPP, "the ptrace backend has no counters");
}

static unsigned ptrace_processes(void *state, pid_t *ret, unsigned max)
{
	const struct ptrace_tasks *tasks = &((struct backend *)state)->tracer.tasks;
	unsigned n = 0;

	for (unsigned i = 0; i < TASK_BUCKETS; i++) {
		for (const struct ptrace_process *p = tasks->processes[i]; p && n < max;
			p = p->next)
			ret[n++] = p->pid;
	}
	return n;
}

static uint64_t ptrace_lost(void *state)
{
	return ((struct backend *)state)->tracer.lost;
}

static int ptrace_command_status(void *state)
{
	return ((struct backend *)state)->tracer.command_status;
}

/* Try it on a child process. */
static int try_on(pid_t child, struct lp_err *err)
{
	struct __ptrace_syscall_info info;
	int r;

	if (ptrace(PTRACE_SEIZE, child, NULL, NULL) < 0 ||
		ptrace(PTRACE_INTERRUPT, child, NULL, NULL) < 0)
		return lp_err_sys(err, errno == EPERM ? -EPERM : -EOPNOTSUPP,
			"ptrace is not permitted (see /proc/sys/kernel/yama/ptrace_scope)");
	while (waitpid(child, NULL, __WALL) < 0) {
		if (errno != EINTR)
			return lp_err_sys(err, -errno, "cannot wait for a traced process");
	}
	r = ptrace(PTRACE_GET_SYSCALL_INFO, child, (void *)sizeof(info), &info) < 0 ? -errno : 0;
	if (r < 0)
		return lp_err_set(err, -EOPNOTSUPP,
			"ptrace of this kernel does not report system calls (Linux 5.3 and later "
			"do)");
	return 0;
}

static int ptrace_probe(struct lp_err *err)
{
	pid_t child = fork();
	int r;

	if (child < 0)
		return lp_err_sys(err, -errno, "cannot start a process");
	if (child == 0) {
		for (;;)
			pause();
	}
	r = try_on(child, err);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	return r;
}

/* There the kernel works without any call of a thread that could be stopped. */
static const char *ptrace_unseen(void)
{
	return "io_uring";
}

extern const struct trace_backend trace_backend_ptrace;
const struct trace_backend trace_backend_ptrace = {
	.name = "ptrace",
	.summary = "stops the traced threads at every call; slow, and works nearly everywhere",
	.counts = false,
	.probe = ptrace_probe,
	.open = ptrace_open,
	.poll = ptrace_poll,
	.pending = ptrace_pending,
	.tally = ptrace_tally,
	.processes = ptrace_processes,
	.lost = ptrace_lost,
	.command_status = ptrace_command_status,
	.unseen = ptrace_unseen,
	.close = ptrace_close,
};
