/* Turns the stops of traced threads into events, and continues the threads. */
#include "trace/ptrace_tracer.h"

#include "base/time.h"
#include "trace/ptrace_capture.h"
#include "trace/ptrace_proc.h"
#include <errno.h>
#include <linux/audit.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define X32_BIT 0x40000000u
#define HELD_MAX_NS INT64_C(500000000)
/* The kernel's internal results for a call that it will repeat. */
#define RESTART_FIRST 512
#define RESTART_LAST 516

int64_t tracer_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void deliver(struct ptrace_tracer *t, const struct ptrace_task *task, struct trace_event *e)
{
	if (!task->quiet && !t->result)
		t->result = t->sink.event(t->sink.ctx, e);
}

/* An event of a thread that is not a call. */
static struct trace_event event_of(
	struct ptrace_tracer *t, const struct ptrace_task *task, unsigned what, int64_t now_ns)
{
	return (struct trace_event){.seq = task->quiet ? 0 : ++t->seq,
		.start_ns = now_ns,
		.pid = task->process->pid,
		.tid = task->tid,
		.what = (uint8_t)what};
}

/* If it fails, the thread is gone, and waitpid() will report that. */
static void go_on(const struct ptrace_tracer *t, const struct ptrace_task *task, int sig)
{
	bool skip = task->process->filtered && !task->in_call && !task->quiet;

	skip |= t->ending;

	ptrace(skip ? PTRACE_CONT : PTRACE_SYSCALL, task->tid, NULL, (void *)(intptr_t)sig);
}

/* Does the table describe the call's arguments? */
static bool has_args(const struct trace_event *e, const struct syscall_info *info)
{
	return info && !(e->flags & TRACE_COMPAT);
}

static bool is_exec(const struct trace_event *e)
{
	int nr = trace_event_native(e);

	return nr == SYS_execve || nr == SYS_execveat;
}

static bool is_exit(const struct trace_event *e)
{
	int nr = trace_event_native(e);

	return nr == SYS_exit || nr == SYS_exit_group;
}

/* The descriptor of a call, if it is known at its entry; close_range has many. */
static int entry_fd(const struct trace_event *e, const struct syscall_info *info)
{
	if (!info || info->fd_arg < 0 || trace_event_native(e) == SYS_close_range)
		return -1;
	return (int)e->args[info->fd_arg];
}

/* The path of the new program is gone when execve returns. */
static void keep_exec_path(struct ptrace_tracer *t, struct ptrace_task *task)
{
	struct trace_event *c = &task->call;
	bool cut = false;
	size_t n = capture_string(c->tid, c->args[trace_event_native(c) == SYS_execveat], t->text,
		sizeof(t->text), &cut);

	task->text = malloc(n + 1);
	if (!task->text)
		return;
	memcpy(task->text, t->text, n);
	c->text_len = (uint32_t)n;
	if (cut)
		c->flags |= TRACE_CUT;
}

static void begin_call(
	struct ptrace_tracer *t, struct ptrace_task *task, const struct __ptrace_syscall_info *at)
{
	const struct syscall_info *info;
	struct trace_event *c = &task->call;

	task_end_call(task);
	*c = (struct trace_event){.seq = t->seq + 1,
		.pid = task->process->pid,
		.tid = task->tid,
		.nr = (uint16_t)(at->entry.nr & ~(uint64_t)X32_BIT),
		.what = TRACE_CALL,
		.flags = at->arch == AUDIT_ARCH_I386 || at->arch == AUDIT_ARCH_ARM ? TRACE_COMPAT
										   : 0};
	if (!task->quiet)
		t->seq++;
	info = trace_event_syscall(c);
	/* Registers that are not arguments of this call may have any value. */
	for (int i = 0; i < TRACE_ARGS && (!has_args(c, info) || info->args[i]); i++)
		c->args[i] = at->entry.args[i];
	task->call_fd = entry_fd(c, info);
	c->file = (uint8_t)file_cache_get(&task->process->files, task->tid, task->call_fd);
	if (is_exec(c))
		keep_exec_path(t, task);
	task->in_call = true;
	c->start_ns = tracer_now_ns(); /* the time spent here does not count */
}

/* Forget descriptors that a call changed. */
static void renew_files(struct ptrace_process *p, const struct trace_event *e, unsigned capture,
	const struct syscall_info *info)
{
	bool opens = info && info->call == TRACE_CALL_OPEN;

	if (e->flags & TRACE_COMPAT) {
		if (opens)
			file_cache_forget_all(&p->files);
		return;
	}
	if (e->nr == SYS_close)
		file_cache_forget(&p->files, (int64_t)e->args[0]);
	else if (e->nr == SYS_close_range || e->nr == SYS_io_uring_enter)
		file_cache_forget_all(&p->files);
	else if (e->nr == SYS_unshare && e->ret == 0 && e->args[0] & CLONE_FILES)
		p->files.off = true;
	else if (opens || e->nr == SYS_fcntl || e->nr == SYS_pidfd_getfd)
		file_cache_forget(&p->files, e->ret);
	if (capture != CAPTURE_FDS && capture != CAPTURE_RIGHTS)
		return;
	for (uint32_t i = 0; i + sizeof(int32_t) <= e->text_len; i += sizeof(int32_t)) {
		int32_t fd;

		memcpy(&fd, e->text + i, sizeof(fd));
		file_cache_forget(&p->files, fd);
	}
}

struct aio_context {
	struct ptrace_tracer *t;
	struct ptrace_task *task;
};

static unsigned aio_kind(void *ctx, int fd)
{
	struct aio_context *c = ctx;

	return file_cache_get(&c->task->process->files, c->task->tid, fd);
}

static int aio_event(void *ctx, struct trace_event *e)
{
	struct aio_context *c = ctx;

	deliver(c->t, c->task, e);
	return c->t->result;
}

static void follow_aio(
	struct ptrace_tracer *t, struct ptrace_task *task, const struct trace_event *e)
{
	struct aio_context ctx = {t, task};
	struct aio *aio = &task->process->aio;
	int r;

	if (e->flags & TRACE_COMPAT || e->ret <= 0)
		return;
	if (e->nr == SYS_io_submit) {
		r = aio_submitted(aio, e, aio_kind, &ctx);
		t->lost += r < 0 ? (uint64_t)e->ret : (uint64_t)r;
	} else if (e->nr == SYS_io_getevents || e->nr == SYS_io_pgetevents) {
		aio_completed(aio, e, aio_event, &ctx);
	}
}

static void end_call(struct ptrace_tracer *t, struct ptrace_task *task, int64_t ret, int64_t now_ns)
{
	struct trace_event e = task->call;
	const struct syscall_info *info = trace_event_syscall(&e);
	unsigned capture = info ? info->capture : CAPTURE_NONE;
	int fd;

	e.ret = ret;
	e.dur_ns = now_ns - e.start_ns;
	if (e.dur_ns < PTRACE_COARSE_NS)
		e.flags |= TRACE_COARSE;
	if (ret <= -RESTART_FIRST && ret >= -RESTART_LAST)
		e.flags |= TRACE_RESTART;
	if (task->text)
		e.text = task->text;
	else if (capture != CAPTURE_NONE)
		capture_text(&e, capture, t->text);
	renew_files(task->process, &e, capture, info);
	fd = trace_event_fd(&e);
	if (fd >= 0 && fd != task->call_fd)
		e.file = (uint8_t)file_cache_get(&task->process->files, task->tid, fd);
	follow_aio(t, task, &e);
	deliver(t, task, &e);
	task_end_call(task);
}

static void on_syscall(struct ptrace_tracer *t, struct ptrace_task *task, int64_t now_ns)
{
	struct __ptrace_syscall_info at;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof(at), &at) < 0)
		return;
	/* Both begin with the number and the arguments. */
	if (at.op == PTRACE_SYSCALL_INFO_ENTRY || at.op == PTRACE_SYSCALL_INFO_SECCOMP)
		begin_call(t, task, &at);
	else if (at.op == PTRACE_SYSCALL_INFO_EXIT && task->in_call)
		end_call(t, task, at.exit.rval, now_ns);
}

/* A call will not return, because its thread is gone. */
static void abandon_call(struct ptrace_tracer *t, struct ptrace_task *task, int64_t now_ns)
{
	struct trace_event e = task->call;

	if (!task->in_call)
		return;
	/* exit never returns, and TRACE_EXIT reports it. */
	if (!is_exit(&e)) {
		e.what = TRACE_PENDING;
		e.dur_ns = now_ns - e.start_ns;
		e.text = task->text;
		e.text_len = task->text ? e.text_len : 0;
		deliver(t, task, &e);
	}
	task_end_call(task);
}

static void on_end(struct ptrace_tracer *t, struct ptrace_task *task, int status, int64_t now_ns)
{
	abandon_call(t, task, now_ns);
	/* The first thread is always reported last, even if it ended earlier. */
	if (task->tid == task->process->pid) {
		struct trace_event e = event_of(t, task, TRACE_EXIT, now_ns);

		e.ret = status;
		e.nr = WIFSIGNALED(status) ? (uint16_t)WTERMSIG(status) : 0;
		deliver(t, task, &e);
		if (task->tid == t->command)
			t->command_status = status;
	}
	tasks_remove(&t->tasks, task);
}

/* A new thread gets its process, and continues if it waits for that. */
static void settle(struct ptrace_tracer *t, struct ptrace_task *child, int64_t now_ns)
{
	if (child->dead) {
		on_end(t, child, child->status, now_ns);
	} else if (child->held) {
		child->held = false;
		go_on(t, child, 0);
	}
}

/* Copy what a child inherits from its parent. */
static void inherit(struct ptrace_process *from, struct ptrace_process *to, uint64_t clone_flags)
{
	to->filtered = from->filtered;
	if (from != to && clone_flags & CLONE_FILES)
		from->files.off = to->files.off = true;
}

static void on_fork(struct ptrace_tracer *t, struct ptrace_task *task, int64_t now_ns)
{
	struct trace_event e = event_of(t, task, TRACE_FORK, now_ns);
	struct ptrace_task *child;
	unsigned long id = 0;
	pid_t pid;

	if (ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &id) < 0 || !id)
		return;
	e.ret = (int64_t)id;
	if (task->in_call && !(task->call.flags & TRACE_COMPAT))
		e.args[0] = capture_clone_flags(task->tid, task->call.nr, task->call.args);
	deliver(t, task, &e);
	pid = e.args[0] & CLONE_THREAD ? task->process->pid : (pid_t)id;
	child = tasks_find(&t->tasks, (pid_t)id);
	if (!child)
		child = tasks_add(&t->tasks, (pid_t)id, 0);
	if (!child || (!child->process && tasks_join(&t->tasks, child, pid) < 0)) {
		t->lost++;
		return;
	}
	child->quiet = task->quiet;
	inherit(task->process, child->process, e.args[0]);
	settle(t, child, now_ns);
}

/* exec in a thread: that thread becomes the first one of the process. */
static void take_over(
	struct ptrace_tracer *t, struct ptrace_task *task, pid_t former_tid, int64_t now_ns)
{
	struct ptrace_task *former = tasks_find(&t->tasks, former_tid);

	if (!former || former == task)
		return;
	abandon_call(t, task, now_ns);
	task->call = former->call;
	task->call.tid = task->tid;
	task->call_fd = former->call_fd;
	task->in_call = former->in_call;
	task->text = former->text;
	former->in_call = false;
	former->text = NULL;
	tasks_remove(&t->tasks, former);
}

static void on_exec(struct ptrace_tracer *t, struct ptrace_task *task, int64_t now_ns)
{
	struct trace_event e;
	unsigned long former = 0;
	ssize_t n = 0;

	if (ptrace(PTRACE_GETEVENTMSG, task->tid, NULL, &former) == 0)
		take_over(t, task, (pid_t)former, now_ns);
	if (task->quiet) {
		task->quiet = false;
		t->seq = task->in_call ? task->call.seq : t->seq;
	}
	file_cache_forget_all(&task->process->files);
	task->process->files.off = false;
	aio_release(&task->process->aio);
	e = event_of(t, task, TRACE_EXEC, now_ns);
	if (task->text && task->call.text_len) {
		e.text = task->text;
		e.text_len = task->call.text_len;
	} else {
		n = proc_exe(task->tid, t->text, sizeof(t->text));
		e.text = t->text;
		e.text_len = n > 0 ? (uint32_t)n : 0;
	}
	deliver(t, task, &e);
}

/* True if the thread stays stopped with its process, until that is continued. */
static bool on_stop_event(struct ptrace_task *task, int sig, int64_t now_ns)
{
	if (sig != SIGTRAP) {
		task->fresh = false;
		ptrace(PTRACE_LISTEN, task->tid, NULL, NULL);
		return true;
	}
	if (!task->process) {
		task->held = true;
		task->held_ns = now_ns;
		return true;
	}
	if (task->fresh)
		regs_repeat_call(task->tid);
	task->fresh = false;
	return false;
}

static void on_signal(struct ptrace_tracer *t, struct ptrace_task *task, int sig, int64_t now_ns)
{
	struct trace_event e;
	siginfo_t info = {0};

	/* ptrace also shows signals that the process ignores, which it would not have received
	 * without a tracer. */
	if (proc_ignores(task->tid, sig))
		return;
	e = event_of(t, task, TRACE_SIGNAL, now_ns);
	e.nr = (uint16_t)sig;
	if (ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0) {
		bool fault = info.si_code > 0 && sig != SIGCHLD;

		e.ret = info.si_code;
		e.args[0] = fault ? 0 : (uint64_t)info.si_pid;
	}
	deliver(t, task, &e);
}

/* The thread is unknown: a traced thread created it and will report it later. */
static void handle_stranger(struct ptrace_tracer *t, pid_t tid, int status, int64_t now_ns)
{
	struct ptrace_task *task = tasks_add(&t->tasks, tid, 0);

	if (!task) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_DETACH, tid, NULL, NULL);
		t->lost++;
		return;
	}
	task->held_ns = now_ns;
	if (WIFSTOPPED(status)) {
		on_stop_event(task, status >> 16 == PTRACE_EVENT_STOP ? WSTOPSIG(status) : SIGTRAP,
			now_ns);
	} else {
		task->dead = true;
		task->status = status;
	}
}

static void handle_stop(
	struct ptrace_tracer *t, struct ptrace_task *task, int status, int64_t now_ns)
{
	int sig = WSTOPSIG(status), give = 0;

	switch (status >> 16) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		on_fork(t, task, now_ns);
		break;
	case PTRACE_EVENT_EXEC:
		on_exec(t, task, now_ns);
		break;
	case PTRACE_EVENT_SECCOMP:
		on_syscall(t, task, now_ns);
		break;
	case PTRACE_EVENT_STOP:
		if (on_stop_event(task, sig, now_ns))
			return;
		break;
	case 0:
		if (sig == (SIGTRAP | 0x80)) {
			on_syscall(t, task, now_ns);
		} else {
			on_signal(t, task, sig, now_ns);
			give = sig;
		}
		break;
	default:
		break;
	}
	go_on(t, task, give);
}

void tracer_handle(struct ptrace_tracer *t, pid_t tid, int status, int64_t now_ns)
{
	struct ptrace_task *task = tasks_find(&t->tasks, tid);

	if (!task) {
		handle_stranger(t, tid, status, now_ns);
	} else if (WIFSTOPPED(status)) {
		/* It was stopped with its process before its parent was reported, so its process is
		 * unknown. */
		if (task->process)
			handle_stop(t, task, status, now_ns);
		else
			on_stop_event(task, SIGTRAP, now_ns);
	} else if (task->process) {
		on_end(t, task, status, now_ns);
	} else {
		task->held = false;
		task->dead = true;
		task->status = status;
	}
}

static void release_orphan(struct ptrace_tracer *t, struct ptrace_task *task, int64_t now_ns)
{
	pid_t pid = task->dead ? 0 : proc_tgid(task->tid);

	if (pid > 0 && tasks_join(&t->tasks, task, pid) == 0)
		settle(t, task, now_ns);
	else if (!task->dead)
		return; /* try again the next time */
	else
		tasks_remove(&t->tasks, task);
}

void tracer_release_orphans(struct ptrace_tracer *t, int64_t now_ns)
{
	struct ptrace_task *task = tasks_next(&t->tasks, NULL);

	while (task) {
		struct ptrace_task *next = tasks_next(&t->tasks, task);

		if (!task->process && now_ns - task->held_ns > HELD_MAX_NS)
			release_orphan(t, task, now_ns);
		task = next;
	}
}

static int pending_of(struct ptrace_tracer *t, struct ptrace_task *task, int64_t dur_ns)
{
	struct trace_event e = task->call;
	const struct syscall_info *info = trace_event_syscall(&e);

	e.what = TRACE_PENDING;
	e.dur_ns = dur_ns;
	if (task->text)
		e.text = task->text;
	else if (info)
		capture_text(&e, info->capture, t->text);
	return t->sink.event(t->sink.ctx, &e);
}

int tracer_pending(struct ptrace_tracer *t, int64_t at_least_ns)
{
	int64_t now_ns = tracer_now_ns();
	int r = 0;

	for (struct ptrace_task *task = tasks_next(&t->tasks, NULL); task && !r;
		task = tasks_next(&t->tasks, task)) {
		int64_t dur_ns = now_ns - task->call.start_ns;

		if (task->in_call && !task->quiet && dur_ns >= at_least_ns)
			r = pending_of(t, task, dur_ns);
	}
	return r;
}
