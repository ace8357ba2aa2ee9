/* The threads that ptrace traces, by their ids, and the data that the threads of a process
 * share. */
#ifndef TRACE_PTRACE_TASKS_H
#define TRACE_PTRACE_TASKS_H

#include "trace/ptrace_aio.h"
#include "trace/ptrace_files.h"

struct ptrace_process {
	pid_t pid;
	unsigned n_tasks;
	bool filtered; /* seccomp stops it only at some calls */
	struct file_cache files;
	struct aio aio;
	struct ptrace_process *next; /* in its bucket */
};

struct ptrace_task {
	pid_t tid;
	struct ptrace_process *process; /* NULL: its parent has not been reported yet */
	bool held;			/* it stays stopped until that is reported */
	int64_t held_ns;		/* since when */
	bool dead;			/* it ended before that was reported, with `status` */
	int status;
	bool fresh; /* interrupted while it ran: the tracer causes its next stop of that kind */
	bool quiet; /* it is not the command yet, but the child before exec */

	bool in_call;
	struct trace_event call;  /* the data since its entry */
	int call_fd;		  /* the descriptor of call.file, or -1 */
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

/* The thread with this id; NULL: not traced. */
struct ptrace_task *tasks_find(const struct ptrace_tasks *t, pid_t tid);
struct ptrace_process *tasks_find_process(const struct ptrace_tasks *t, pid_t pid);

/* Add a thread of process `pid`, or of one to be reported later (0). NULL: out of memory. */
struct ptrace_task *tasks_add(struct ptrace_tasks *t, pid_t tid, pid_t pid);
/* Set the process of a thread. 0 or -ENOMEM. */
int tasks_join(struct ptrace_tasks *t, struct ptrace_task *task, pid_t pid);
/* Forget a thread, and with the last one its process. Accepts NULL. */
void tasks_remove(struct ptrace_tasks *t, struct ptrace_task *task);

/* The thread after `task` (NULL: the first), NULL after the last one. Do not remove the returned
 * thread before the next call. */
struct ptrace_task *tasks_next(const struct ptrace_tasks *t, const struct ptrace_task *task);

/* Forget the current call of a thread. */
void task_end_call(struct ptrace_task *task);

#endif
