/* The threads that ptrace traces, by their ids, and what the threads of a process share. */
#ifndef TRACE_PTRACE_TASKS_H
#define TRACE_PTRACE_TASKS_H

#include "trace/ptrace_aio.h"
#include "trace/ptrace_files.h"

struct ptrace_process {
	pid_t pid;
	unsigned n_tasks;
	bool filtered; /* the kernel stops it only at some calls, by seccomp */
	struct file_cache files;
	struct aio aio;
	struct ptrace_process *next; /* in its bucket */
};

struct ptrace_task {
	pid_t tid;
	struct ptrace_process *process; /* NULL: its parent has not been reported yet */
	bool held;			/* it waits, stopped, until that is reported */
	int64_t held_ns;		/* since when */
	bool dead;			/* it ended before that was reported, with `status` */
	int status;
	bool fresh; /* interrupted while it ran: its next stop of that kind is our doing */
	bool quiet; /* it is not the command yet, but our own child on its way there */

	bool in_call;
	struct trace_event call;  /* what is known about it since its entry */
	int call_fd;		  /* the descriptor that call.file is about, -1 */
	char *text;		  /* copied at the entry (execve), call.text_len bytes */
	struct ptrace_task *next; /* in its bucket */
};

#define TASK_BUCKETS 4096

struct ptrace_tasks {
	struct ptrace_task *tasks[TASK_BUCKETS];
	struct ptrace_process *processes[TASK_BUCKETS];
	unsigned n_tasks, n_processes;
};

void tasks_release(struct ptrace_tasks *t);

/* NULL: not traced. */
struct ptrace_task *tasks_find(const struct ptrace_tasks *t, pid_t tid);
struct ptrace_process *tasks_find_process(const struct ptrace_tasks *t, pid_t pid);

/* A new thread, of process `pid`, or of one to be reported later (0). NULL: out of memory. */
struct ptrace_task *tasks_add(struct ptrace_tasks *t, pid_t tid, pid_t pid);
/* Set the process of a thread. 0 or -ENOMEM. */
int tasks_join(struct ptrace_tasks *t, struct ptrace_task *task, pid_t pid);
/* Forget a thread, and its process with the last one. Accepts NULL. */
void tasks_remove(struct ptrace_tasks *t, struct ptrace_task *task);

/* The thread after `task` (NULL: the first), NULL after the last one. The one that was returned
 * last must not be removed before the next call. */
struct ptrace_task *tasks_next(const struct ptrace_tasks *t, const struct ptrace_task *task);

/* Forget the call that a thread was in. */
void task_end_call(struct ptrace_task *task);

#endif
