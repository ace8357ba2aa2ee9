/* Waits for traced threads. */
#include "trace/ptrace_tracer.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>

/* The number of stops that are collected before they are handled. The kernel always starts at the
 * beginning of its list, so busy threads there would otherwise starve the others. */
#define BATCH 256
#define IDLE_MS 20
#define END_MAX_NS INT64_C(1000000000)

struct stop {
	pid_t tid;
	int status;
	int64_t at_ns;
};

/* 1: there is one; 0: none at the moment, or a signal came; -ECHILD: nothing is traced. */
static int wait_one(struct stop *ret, bool block)
{
	pid_t tid = waitpid(-1, &ret->status, __WALL | __WNOTHREAD | (block ? 0 : WNOHANG));

	if (tid < 0)
		return errno == EINTR ? 0 : -errno;
	ret->tid = tid;
	ret->at_ns = tracer_now_ns();
	return tid > 0;
}

/* Returns the number of stops; -ECHILD as above. */
static int gather(const struct ptrace_tracer *t, struct stop stops[BATCH])
{
	int n = wait_one(&stops[0], !atomic_load(&t->stop));

	if (n <= 0 || t->tasks.n_tasks == 1)
		return n;
	while (n < BATCH && wait_one(&stops[n], false) > 0)
		n++;
	return n;
}

int tracer_run(struct ptrace_tracer *t)
{
	struct stop stops[BATCH];

	tracer_scan(t);
	tracer_release_orphans(t, tracer_now_ns());
	if (t->command_stop) {
		int status = t->command_stop;

		t->command_stop = 0;
		tracer_handle(t, t->command, status, t->command_ns);
	}
	while (!t->result) {
		bool last = atomic_load(&t->stop);
		int n = gather(t, stops);

		if (n == -ECHILD && !tracer_scans(t))
			return 1;
		for (int i = 0; i < n; i++)
			tracer_handle(t, stops[i].tid, stops[i].status, stops[i].at_ns);
		if (last)
			return t->result;
		if (n == -ECHILD)
			poll(NULL, 0, IDLE_MS);
	}
	return t->result;
}

static int discard(void *ctx, const struct trace_event *e)
{
	(void)ctx;
	(void)e;
	return 0;
}

/* Must any thread still stop because of an interrupt request? */
static bool awaits(const struct ptrace_tracer *t)
{
	for (const struct ptrace_task *task = tasks_next(&t->tasks, NULL); task;
		task = tasks_next(&t->tasks, task)) {
		if (task->fresh)
			return true;
	}
	return false;
}

void tracer_end(struct ptrace_tracer *t)
{
	int64_t until_ns = tracer_now_ns() + END_MAX_NS;
	struct stop stop;

	t->sink = (struct trace_sink){.event = discard};
	t->ending = true;
	/* Threads inside of a call stop next at its exit, where waking them does no harm. */
	for (struct ptrace_task *task = tasks_next(&t->tasks, NULL); task;
		task = tasks_next(&t->tasks, task)) {
		if (!task->in_call && task->process)
			task->fresh = ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL) == 0;
	}
	while (awaits(t) && tracer_now_ns() < until_ns) {
		int n = wait_one(&stop, false);

		if (n > 0)
			tracer_handle(t, stop.tid, stop.status, stop.at_ns);
		else if (n == 0)
			poll(NULL, 0, 1);
		else
			break;
	}
}
