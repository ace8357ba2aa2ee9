/* Finds the targets of a trace and attaches to their threads. */
#include "trace/ptrace_tracer.h"

#include "trace/ptrace_proc.h"
#include "trace/targets.h"
#include <errno.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCAN_NS INT64_C(1000000000)
#define PASSES_MAX 100

struct seizing {
	struct ptrace_tracer *t;
	pid_t pid;
	unsigned n_new, n_known;
	int failed; /* the last failure to attach to an existing thread */
};

/* Attach to a thread and stop it once; from then on its calls are visible. */
static int seize(void *ctx, pid_t tid)
{
	struct seizing *s = ctx;
	struct ptrace_task *task;

	if (tasks_find(&s->t->tasks, tid)) {
		s->n_known++;
		return 0;
	}
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)TRACER_OPTIONS) < 0) {
		int r = -errno;

		/* A traced thread created it, so it is attached automatically. */
		if (r == -EPERM && proc_tracer(tid) == gettid())
			s->n_known++;
		else if (r != -ESRCH)
			s->failed = r;
		return 0;
	}
	task = tasks_add(&s->t->tasks, tid, s->pid);
	if (!task)
		return -ENOMEM; /* attached threads are detached with the tracer */
	task->fresh = true;
	s->n_new++;
	ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 0;
}

/* Why a process may not be traced. */
static int refused(pid_t pid, int error, struct lp_err *err)
{
	struct stat st;
	char path[64];

	if (proc_tracer(pid) > 0)
		return lp_err_set(err, error, "process %d is already traced by process %d", pid,
			proc_tgid(proc_tracer(pid)));
	snprintf(path, sizeof(path), "/proc/%d", pid);
	if (error != -EPERM || geteuid() == 0 || stat(path, &st) < 0)
		return lp_err_sys(err, error, "process %d cannot be traced", pid);
	if (st.st_uid != geteuid())
		return lp_err_set(err, error,
			"process %d cannot be traced: it belongs to user %u, so limpet needs root "
			"(or CAP_SYS_PTRACE)",
			pid, (unsigned)st.st_uid);
	return lp_err_set(err, error,
		"process %d cannot be traced: this system requires root (or CAP_SYS_PTRACE; "
		"see /proc/sys/kernel/yama/ptrace_scope)",
		pid);
}

/* Attach to all threads of a process, including new ones. */
static int attach(struct ptrace_tracer *t, pid_t pid, struct lp_err *err)
{
	struct seizing s = {.t = t, .pid = pid};
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	for (int pass = 0; pass < PASSES_MAX; pass++) {
		s.n_new = s.n_known = 0;
		r = proc_each(path, seize, &s);
		if (r < 0 && r != -ENOENT && r != -ESRCH)
			return lp_err_sys(err, r, "process %d cannot be traced", pid);
		if (!s.n_new)
			break;
	}
	if (s.n_known || tasks_find_process(&t->tasks, pid))
		return 0;
	if (!s.failed)
		return lp_err_set(err, -ESRCH, "there is no process %d", pid);
	return refused(pid, s.failed, err);
}

/* Attach to processes that are not traced yet; those that cannot be traced (kernel threads) are
 * skipped. */
static int attach_new(void *ctx, pid_t pid)
{
	struct ptrace_tracer *t = ctx;

	if (pid != getpid() && !tasks_find_process(&t->tasks, pid) &&
		attach(t, pid, NULL) == -EPERM)
		t->refused = pid;
	return 0;
}

static int attach_called(void *ctx, pid_t pid)
{
	const struct ptrace_tracer *t = ctx;

	return target_match(&t->config.targets, pid) == TARGET_WANTED ? attach_new(ctx, pid) : 0;
}

bool tracer_scans(const struct ptrace_tracer *t)
{
	return t->config.targets.n_comms || t->config.targets.cgroup;
}

/* Search once. Returns errors of the control group. */
static int look(struct ptrace_tracer *t)
{
	t->scanned_ns = tracer_now_ns();
	if (t->config.targets.n_comms)
		proc_each("/proc", attach_called, t);
	if (t->config.targets.cgroup)
		return proc_each_in_cgroup(t->config.targets.cgroup, attach_new, t);
	return 0;
}

void tracer_scan(struct ptrace_tracer *t)
{
	if (tracer_scans(t) && tracer_now_ns() - t->scanned_ns >= SCAN_NS)
		look(t);
}

int tracer_attach(struct ptrace_tracer *t, struct lp_err *err)
{
	const struct trace_targets *targets = &t->config.targets;
	int r;

	for (unsigned i = 0; i < targets->n_pids; i++) {
		if (targets->pids[i] == getpid())
			return lp_err_set(err, -EINVAL, "a tracer cannot trace itself");
		r = attach(t, targets->pids[i], err);
		if (r < 0)
			return r;
	}
	r = look(t);
	if (r < 0)
		return lp_err_sys(
			err, r, "%s is not a control group that can be read", targets->cgroup);
	if (targets->command)
		return tracer_start(t, err);
	/* If only processes of other users have these names, waiting would never end. */
	if (!t->tasks.n_tasks && t->refused && geteuid() != 0)
		return refused(t->refused, -EPERM, err);
	/* Targets by name may appear later. */
	if (!t->tasks.n_tasks && !tracer_scans(t))
		return lp_err_set(err, -ESRCH, "there is nothing to trace");
	return 0;
}
