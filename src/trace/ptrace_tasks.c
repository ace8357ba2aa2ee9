#include "trace/ptrace_tasks.h"

#include <errno.h>
#include <stdlib.h>

static unsigned bucket(pid_t id)
{
	return (unsigned)id % TASK_BUCKETS;
}

void task_end_call(struct ptrace_task *task)
{
	free(task->text);
	task->text = NULL;
	task->in_call = false;
}

struct ptrace_task *tasks_find(const struct ptrace_tasks *t, pid_t tid)
{
	struct ptrace_task *task = t->tasks[bucket(tid)];

	while (task && task->tid != tid)
		task = task->next;
	return task;
}

struct ptrace_process *tasks_find_process(const struct ptrace_tasks *t, pid_t pid)
{
	struct ptrace_process *p = t->processes[bucket(pid)];

	while (p && p->pid != pid)
		p = p->next;
	return p;
}

int tasks_join(struct ptrace_tasks *t, struct ptrace_task *task, pid_t pid)
{
	struct ptrace_process *p = tasks_find_process(t, pid);

	if (!p) {
		p = calloc(1, sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->pid = pid;
		p->next = t->processes[bucket(pid)];
		t->processes[bucket(pid)] = p;
		t->n_processes++;
	}
	p->n_tasks++;
	task->process = p;
	return 0;
}

struct ptrace_task *tasks_add(struct ptrace_tasks *t, pid_t tid, pid_t pid)
{
	struct ptrace_task *task = calloc(1, sizeof(*task));

	if (!task)
		return NULL;
	task->tid = tid;
	if (pid && tasks_join(t, task, pid) < 0) {
		free(task);
		return NULL;
	}
	task->next = t->tasks[bucket(tid)];
	t->tasks[bucket(tid)] = task;
	t->n_tasks++;
	return task;
}

static void leave(struct ptrace_tasks *t, struct ptrace_process *p)
{
	struct ptrace_process **at = &t->processes[bucket(p->pid)];

	if (--p->n_tasks)
		return;
	while (*at != p)
		at = &(*at)->next;
	*at = p->next;
	t->n_processes--;
	file_cache_release(&p->files);
	aio_release(&p->aio);
	free(p);
}

void tasks_remove(struct ptrace_tasks *t, struct ptrace_task *task)
{
	struct ptrace_task **at;

	if (!task)
		return;
	at = &t->tasks[bucket(task->tid)];
	while (*at != task)
		at = &(*at)->next;
	*at = task->next;
	t->n_tasks--;
	if (task->process)
		leave(t, task->process);
	task_end_call(task);
	free(task);
}

struct ptrace_task *tasks_next(const struct ptrace_tasks *t, const struct ptrace_task *task)
{
	unsigned i = task ? bucket(task->tid) + 1 : 0;

	if (task && task->next)
		return task->next;
	for (; i < TASK_BUCKETS; i++) {
		if (t->tasks[i])
			return t->tasks[i];
	}
	return NULL;
}

void tasks_release(struct ptrace_tasks *t)
{
	for (unsigned i = 0; i < TASK_BUCKETS; i++) {
		while (t->tasks[i])
			tasks_remove(t, t->tasks[i]);
	}
}
