/* Starts a command so that it is traced from its first call on. */
#include "trace/ptrace_tracer.h"

#include "base/cleanup.h"
#include "trace/ptrace_filter.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

/* Communication with the child: it begins when data comes through `go`, and reports a failure to
 * execute the command through `failure`. */
struct start {
	int go[2], failure[2];
	const struct ptrace_filter *filter; /* NULL: none */
};

static void start_closep(struct start *s)
{
	for (int i = 0; i < 2; i++) {
		cleanup_closep(&s->go[i]);
		cleanup_closep(&s->failure[i]);
	}
}

_Noreturn static void child(const struct ptrace_tracer *t, struct start *s)
{
	char byte;
	int r = 0;
	ssize_t n;

	pthread_sigmask(SIG_SETMASK, &t->caller_mask, NULL);
	close(s->go[1]);
	n = read(s->go[0], &byte, 1);
	if (n == 1) {
		if (s->filter)
			r = filter_install(s->filter);
		if (r == 0) {
			execvp(t->config.targets.command[0], t->config.targets.command);
			r = -errno;
		}
		n = write(s->failure[1], &r, sizeof(r));
		(void)n; /* the parent is gone */
	}
	_exit(127);
}

static int gone(struct ptrace_tracer *t, const struct start *s, struct lp_err *err)
{
	const char *name = t->config.targets.command[0];
	int r = 0;

	t->command = 0;
	if (read(s->failure[0], &r, sizeof(r)) == sizeof(r) && r < 0)
		return lp_err_sys(err, r, "cannot run %s", name);
	return lp_err_set(err, -ECANCELED, "%s ended before it began", name);
}

/* Handle the stops of the child until it has executed the command. */
static int follow(struct ptrace_tracer *t, const struct start *s, struct lp_err *err)
{
	bool told = false;

	for (;;) {
		int status;
		pid_t tid = waitpid(t->command, &status, __WALL | __WNOTHREAD);

		if (tid < 0 && errno == EINTR && atomic_load(&t->stop))
			kill(t->command, SIGKILL);
		if (tid < 0)
			continue;
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_EXEC) {
			t->command_stop = status;
			t->command_ns = tracer_now_ns();
			return 0;
		}
		if (!told && WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP) {
			told = true;
			if (write(s->go[1], "", 1) < 0)
				return lp_err_sys(err, -errno, "cannot start a command");
		}
		tracer_handle(t, tid, status, tracer_now_ns());
		if (!WIFSTOPPED(status))
			return gone(t, s, err);
	}
}

static int seize_child(struct ptrace_tracer *t, const struct start *s, struct lp_err *err)
{
	long options = TRACER_OPTIONS;
	struct ptrace_task *task = tasks_add(&t->tasks, t->command, t->command);

	if (!task)
		return lp_err_set(err, -ENOMEM, "out of memory");
	task->quiet = true;
	/* With a filter it cannot run without the tracer. */
	if (s->filter)
		options |= PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
	task->process->filtered = s->filter != NULL;
	if (ptrace(PTRACE_SEIZE, t->command, NULL, (void *)options) < 0 ||
		ptrace(PTRACE_INTERRUPT, t->command, NULL, NULL) < 0)
		return lp_err_sys(err, -errno, "cannot trace a command");
	return 0;
}

int tracer_start(struct ptrace_tracer *t, struct lp_err *err)
{
	_cleanup_free_ struct ptrace_filter *filter = NULL;
	_cleanup_(start_closep) struct start s = {{-1, -1}, {-1, -1}, NULL};
	int r;

	/* Records contain every call, so nothing can be left out. */
	if (!t->config.records) {
		filter = malloc(sizeof(*filter));
		if (!filter)
			return lp_err_set(err, -ENOMEM, "out of memory");
		filter_make(filter);
		s.filter = filter;
	}
	if (pipe2(s.go, O_CLOEXEC) < 0 || pipe2(s.failure, O_CLOEXEC | O_NONBLOCK) < 0)
		return lp_err_sys(err, -errno, "cannot start a command");
	t->command = fork();
	if (t->command < 0) {
		r = -errno;
		t->command = 0;
		return lp_err_sys(err, r, "cannot start a command");
	}
	if (t->command == 0)
		child(t, &s);
	r = seize_child(t, &s, err);
	if (r == 0)
		r = follow(t, &s, err);
	if (r < 0 && t->command) {
		kill(t->command, SIGKILL);
		waitpid(t->command, NULL, __WALL);
		t->command = 0;
	}
	return r;
}
