/* Iterators over all tasks: for tasks that exist when tracing begins, and for calls in progress. */
#ifndef TRACE_BPF_ITERATE_H
#define TRACE_BPF_ITERATE_H

#ifdef __bpf__

#include "trace/bpf/file.bpf.h"
#include "trace/bpf/thread.bpf.h"

/* Create the state of every thread of the processes in `processes`. If a thread sleeps in a call,
 * the call counts as begun now, because its beginning is unknown. */
SEC("iter/task")
int scan_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct bpf_thread *t;
	uint32_t pid;
	int64_t nr;

	if (!task)
		return 0;
	pid = (uint32_t)task->tgid;
	if (!bpf_map_lookup_elem(&processes, &pid))
		return 0;
	if (thread_get(task))
		return 0;
	nr = task->__state ? arch_call((struct pt_regs *)bpf_task_pt_regs(task)) : -1;
	t = thread_make(task);
	if (!t || nr < 0 || nr >= SYSCALL_MAX)
		return 0;
	t->nr = (uint16_t)nr;
	t->compat = arch_compat(task);
	t->seq = __sync_fetch_and_add(&shared.seq, 1);
	t->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* The calls in progress, one record with all arguments each. The reader decides which ones are old
 * enough. */
SEC("iter/task")
int list_pending(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct record_all r = {};
	struct bpf_thread *t;
	struct look seen = {};

	if (!task)
		return 0;
	t = thread_get(task);
	if (!t || !t->start_ns || t->nr >= SYSCALL_MAX)
		return 0;
	r.record.what = TRACE_PENDING;
	r.record.seq = t->seq;
	r.record.start_ns = t->start_ns;
	r.record.pid = (uint32_t)task->tgid;
	r.record.tid = (uint32_t)task->pid;
	r.record.nr = t->nr;
	r.record.flags = t->compat ? TRACE_COMPAT : 0;
	r.record.n_args = TRACE_ARGS;
	arch_args((struct pt_regs *)bpf_task_pt_regs(task), t->compat, r.args);
	look_for(task, call_info(t->nr, t->compat), t, r.args, -1, &seen);
	r.record.file = seen.file;
	bpf_seq_write(ctx->meta->seq, &r, sizeof(r));
	return 0;
}

#endif
#endif
