/* Which threads are traced.
 *
 * A thread is traced if it has a `struct bpf_thread`, in `seats` or else in its task-local storage.
 * It gets it from an iterator over all tasks (if it exists when tracing begins), at its creation if
 * its parent has one, or at exec by its name or control group. So the cost of a call for other
 * threads, in addition to the kernel's tracepoints, is a load and a comparison at its entry and at
 * its exit. This cannot be distinguished from programs that do nothing.
 */
#ifndef TRACE_BPF_THREAD_H
#define TRACE_BPF_THREAD_H

#ifdef __bpf__

#include "trace/bpf/arch.bpf.h"
#include "trace/bpf/emit.bpf.h"

FORCE_INLINE struct seat *seat_of(uint64_t regs)
{
	uint32_t at = (uint32_t)(regs >> SEAT_SHIFT) % SEATS;

	return bpf_map_lookup_elem(&seats, &at);
}

FORCE_INLINE void thread_init(struct bpf_thread *t, struct task_struct *task)
{
	t->task = (uint64_t)task;
	t->pid = (uint32_t)task->tgid;
	t->tid = (uint32_t)task->pid;
}

/* Begin to trace a thread. */
FORCE_INLINE struct bpf_thread *thread_make(struct task_struct *task)
{
	uint64_t regs = (uint64_t)bpf_task_pt_regs(task), holder;
	struct seat *seat = seat_of(regs);
	struct bpf_thread *t;

	if (!seat)
		return NULL;
	holder = __sync_val_compare_and_swap(&seat->regs, 0, regs);
	if (!holder || holder == regs) {
		thread_init(&seat->thread, task);
		return &seat->thread;
	}
	t = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		return NULL;
	thread_init(t, task);
	__sync_fetch_and_add(&shared.unseated, 1);
	return t;
}

FORCE_INLINE struct bpf_thread *thread_unseated(struct task_struct *task)
{
	return task->bpf_storage ? bpf_task_storage_get(&threads, task, NULL, 0) : NULL;
}

/* The state of the current thread, by its registers; NULL if it is not traced. */
FORCE_INLINE struct bpf_thread *thread_current(uint64_t regs)
{
	struct seat *seat = seat_of(regs);

	if (seat && seat->regs == regs)
		return &seat->thread;
	if (!*(volatile int32_t *)&shared.unseated)
		return NULL;
	return thread_unseated(bpf_get_current_task_btf());
}

/* The state of any thread, NULL if it is not traced. */
FORCE_INLINE struct bpf_thread *thread_get(struct task_struct *task)
{
	uint64_t regs = (uint64_t)bpf_task_pt_regs(task);
	struct seat *seat = seat_of(regs);

	return seat && seat->regs == regs ? &seat->thread : thread_unseated(task);
}

/* The task of the current thread, for reading. */
FORCE_INLINE struct task_struct *thread_task(const struct bpf_thread *t)
{
	return settings.cast ? CAST(struct task_struct, (const void *)t->task)
			     : bpf_get_current_task_btf();
}

FORCE_INLINE void thread_drop(struct task_struct *task)
{
	uint64_t regs = (uint64_t)bpf_task_pt_regs(task);
	struct seat *seat = seat_of(regs);

	if (seat && seat->regs == regs) {
		__builtin_memset(&seat->thread, 0, sizeof(seat->thread));
		__sync_lock_test_and_set(&seat->regs, 0);
	} else if (!bpf_task_storage_delete(&threads, task)) {
		__sync_fetch_and_add(&shared.unseated, -1);
	}
}

/* Trace a process. */
FORCE_INLINE void process_add(uint32_t pid)
{
	uint32_t one = 1;

	if (pid != settings.self && !bpf_map_update_elem(&processes, &pid, &one, BPF_NOEXIST))
		__sync_fetch_and_add(&shared.n_processes, 1);
}

/* A running process must be traced. A scan finds its other threads. */
FORCE_INLINE void process_found(struct task_struct *task)
{
	if ((uint32_t)task->tgid == settings.self)
		return;
	process_add((uint32_t)task->tgid);
	thread_make(task);
	shared.scan = 1;
}

FORCE_INLINE bool user_wanted(void)
{
	uint32_t uid = (uint32_t)bpf_get_current_uid_gid();

	for (uint32_t i = 0; i < BPF_USERS_MAX; i++) {
		if (i < settings.n_users && settings.users[i] == uid)
			return true;
	}
	return !settings.n_users;
}

/* Was the program that was just executed selected by name? A process that takes a name later, by
 * prctl(), does not count: any process can do that. */
FORCE_INLINE bool comm_wanted(struct task_struct *task)
{
	struct comm_key key = {};

	if (!settings.comms)
		return false;
	bpf_probe_read_kernel_str(key.name, sizeof(key.name), task->comm);
	return bpf_map_lookup_elem(&comms, &key) && user_wanted();
}

FORCE_INLINE bool cgroup_wanted(void)
{
	return settings.cgroup_id &&
		bpf_get_current_ancestor_cgroup_id((int)settings.cgroup_level) ==
		settings.cgroup_id;
}

/* The flags of the clone call of the current thread, which the tracepoint does not provide. */
FORCE_INLINE uint64_t clone_flags(struct bpf_thread *parent)
{
	uint64_t args[TRACE_ARGS], flags = 0, signal = 0;
	struct task_struct *task = bpf_get_current_task_btf();
	uint16_t nr = parent->nr;

	if (parent->compat)
		return 0;
	arch_args((struct pt_regs *)bpf_task_pt_regs(task), false, args);
	if (nr == settings.nr_clone)
		return args[0];
	if (nr == settings.nr_clone3) {
		bpf_probe_read_user(&flags, sizeof(flags), (const void *)args[0]);
		bpf_probe_read_user(&signal, sizeof(signal), (const void *)(args[0] + 32));
		return flags | signal;
	}
	return nr == settings.nr_vfork ? 0x4111 : 17; /* VFORK, VM, SIGCHLD; SIGCHLD */
}

SEC("tp_btf/sched_process_fork")
int on_fork(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0], *child = (void *)ctx[1];
	struct bpf_thread *parent = thread_get(task);
	bool process;

	if (!parent)
		return 0;
	process = child->pid == child->tgid;
	if (process)
		process_add((uint32_t)child->tgid);
	if (!thread_make(child))
		shared.scan = 1;
	if (process || settings.records)
		emit_other(TRACE_FORK, 0, child->pid, clone_flags(parent));
	return 0;
}

/* The tracer's child takes a new name to announce that its next call is the first one to trace. Its
 * new state is in no call, so the return of this call is ignored. */
SEC("tp_btf/task_rename")
int on_rename(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if ((uint32_t)task->pid == shared.starting && !thread_get(task))
		thread_make(task);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct linux_binprm *program = (void *)ctx[2];
	struct bpf_thread *t = thread_get(task);
	struct scratch *s;
	long n;

	if (!t && (comm_wanted(task) || cgroup_wanted())) {
		process_found(task);
		t = thread_get(task);
	}
	s = t ? scratch_get() : NULL;
	if (!s)
		return 0;
	t->tid = (uint32_t)task->pid; /* that of the process now, whichever thread it was */
	__builtin_memset(&s->record, 0, sizeof(s->record));
	s->record.what = TRACE_EXEC;
	s->record.pid = (uint32_t)task->tgid;
	s->record.tid = (uint32_t)task->pid;
	s->record.start_ns = bpf_ktime_get_ns();
	s->record.seq = __sync_fetch_and_add(&shared.seq, 1);
	s->record.n_args = TRACE_ARGS;
	n = bpf_probe_read_kernel_str(s->text, TRACE_TEXT_MAX, program->filename);
	s->record.text_len = n > 0 ? n - 1 : 0;
	__builtin_memset(s->args, 0, sizeof(s->args));
	emit_text(s, NULL);
	return 0;
}

#define SIGNAL_GROUP_EXIT 4u

SEC("tp_btf/sched_process_exit")
int on_exit(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct signal_struct *signal = task->signal;
	uint32_t pid = (uint32_t)task->tgid;
	uint64_t key = (uint64_t)task;
	int64_t status;

	if (!thread_get(task))
		return 0;
	thread_drop(task);
	bpf_map_delete_elem(&kept, &key); /* of an execve() in which it was killed */
	if (signal->live.counter)
		return 0;
	/* In the form of wait4(). */
	status = signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code
						   : task->group_leader->exit_code;
	emit_other(TRACE_EXIT, status & 0x7f, status, 0);
	if (!bpf_map_delete_elem(&processes, &pid))
		__sync_fetch_and_add(&shared.n_processes, -1);
	return 0;
}

#define SIGNALS_IGNORED_BY_DEFAULT (1ul << 17 | 1ul << 18 | 1ul << 23 | 1ul << 28)

#define SIGKILL 9

SEC("tp_btf/signal_deliver")
int on_signal(uint64_t *ctx)
{
	struct kernel_siginfo *info = (void *)ctx[1];
	struct k_sigaction *action = (void *)ctx[2];
	uint16_t nr = (uint16_t)ctx[0];
	uint64_t handler = 0;
	int32_t code = 0, sender = 0;

	if (!thread_get(bpf_get_current_task_btf()))
		return 0;
	/* The kernel ends every thread this way when a process ends, for any reason, so it is not
	 * reported. A process that was killed has the signal in its exit event. */
	if (nr == SIGKILL)
		return 0;
	/* `info` may be 0 or 1 instead of an address: never loaded directly. */
	bpf_core_read(&handler, sizeof(handler), &action->sa.sa_handler);
	if (handler == 1 || (!handler && nr < 64 && SIGNALS_IGNORED_BY_DEFAULT >> nr & 1))
		return 0;
	bpf_core_read(&code, sizeof(code), &info->si_code);
	if (code <= 0) /* from a process: signals of the kernel have other fields there */
		bpf_core_read(&sender, sizeof(sender), &info->_sifields._kill._pid);
	emit_other(TRACE_SIGNAL, nr, code, (uint64_t)sender);
	return 0;
}

#endif
#endif
