/* The programs at the kernel's system call tracepoints. */
#include "trace/bpf/async.bpf.h"
#include "trace/bpf/capture.bpf.h"
#include "trace/bpf/iterate.bpf.h"
#include "trace/bpf/path.bpf.h"
#include "trace/bpf/tally.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Keep the arguments of execve(), because their memory will be gone. */
FORCE_INLINE void keep(struct task_struct *task, struct pt_regs *regs, bool compat, bool at)
{
	uint64_t key = (uint64_t)task;
	uint32_t zero = 0;
	struct bpf_kept *k = bpf_map_lookup_elem(&keeping, &zero);
	long n;

	if (!k)
		return;
	arch_args(regs, compat, k->args);
	n = bpf_probe_read_user_str(
		k->text, TRACE_TEXT_MAX + 1, (const void *)(at ? k->args[1] : k->args[0]));
	k->cut = n == TRACE_TEXT_MAX + 1; /* as in capture_string() */
	n -= k->cut;
	k->text_len = n > 0 ? (uint32_t)n - 1 : 0;
	bpf_map_update_elem(&kept, &key, k, BPF_ANY);
}

FORCE_INLINE void enter_rare(struct task_struct *task, struct pt_regs *regs, struct bpf_thread *t,
	const volatile struct bpf_call *c)
{
	uint64_t args[TRACE_ARGS];
	struct look seen;

	if (c->flags & BPF_CALL_REPLACES)
		keep(task, regs, t->compat, c->capture == CAPTURE_PATH1);
	if (c->flags & BPF_CALL_CLOSES) {
		arch_args(regs, t->compat, args);
		look(task, (int32_t)args[0], &seen);
		t->file = seen.file;
		if (!settings.records && seen.sock)
			count_close(&seen);
	}
}

SEC("tp_btf/sys_enter")
int on_enter(uint64_t *ctx)
{
	struct bpf_thread *t = thread_current(ctx[0]);
	const volatile struct bpf_call *c;
	struct task_struct *task;

	if (!t)
		return 0;
	task = thread_task(t);
	t->nr = (uint16_t)ctx[1];
	t->compat = arch_compat(task);
	c = call_info(t->nr, t->compat);
	if (c->flags & (BPF_CALL_REPLACES | BPF_CALL_CLOSES))
		enter_rare(task, (void *)ctx[0], t, c);
	if (settings.records)
		t->seq = __sync_fetch_and_add(&shared.seq, 1);
	t->start_ns = bpf_ktime_get_ns();
	return 0;
}

/* The event of a call with arguments that were kept at its beginning. */
FORCE_INLINE void deliver_kept(
	struct task_struct *task, const struct bpf_record *record, struct bpf_thread *t)
{
	uint64_t key = (uint64_t)task;
	struct bpf_kept *k = bpf_map_lookup_elem(&kept, &key);
	struct scratch *s = scratch_get();

	if (!k || !s)
		return;
	s->record = *record;
	s->record.n_args = TRACE_ARGS;
	__builtin_memcpy(s->args, k->args, sizeof(s->args));
	bpf_probe_read_kernel(s->text, TRACE_TEXT_MAX, k->text);
	s->record.text_len = (uint16_t)k->text_len;
	if (k->cut)
		s->record.flags |= TRACE_CUT;
	bpf_map_delete_elem(&kept, &key);
	emit_text(s, t);
}

/* The event as it will be delivered, but without its text. */
FORCE_INLINE struct scratch *scratch_fill(const struct record_all *r)
{
	struct scratch *s = scratch_get();

	if (!s)
		return NULL;
	s->record = r->record;
	s->record.n_args = TRACE_ARGS;
	for (int i = 0; i < TRACE_ARGS; i++)
		s->args[i] = r->args[i];
	return s;
}

/* An event of a summary about a descriptor, with the path of its file if it has one. */
FORCE_INLINE bool deliver_with_path(
	const struct record_all *r, const struct look *seen, struct bpf_thread *t)
{
	struct scratch *s = settings.records ? NULL : scratch_get();
	uint32_t len;

	if (!s || !seen->of ||
		(seen->file != TRACE_FILE_STORAGE && seen->file != TRACE_FILE_DIRECTORY))
		return false;
	len = path_parts(s, seen->of);
	if (!len || !scratch_fill(r))
		return false;
	s->record.flags |= TRACE_FD_PATH;
	s->record.text_len = (uint16_t)len;
	emit_text(s, t);
	return true;
}

FORCE_INLINE void deliver(struct record_all *r, const volatile struct bpf_call *c,
	const struct look *seen, struct bpf_thread *t)
{
	struct scratch *s;

	if (!capture_wanted(c->capture, &r->record)) {
		if (!deliver_with_path(r, seen, t))
			emit_plain(r, t);
		return;
	}
	s = scratch_fill(r);
	if (!s)
		return;
	capture(s, c->capture, r->args, seen);
	emit_text(s, t);
}

/* The return of execve(). */
FORCE_INLINE void return_replaced(struct task_struct *task, struct bpf_record *record,
	struct bpf_thread *t, const volatile struct bpf_call *c)
{
	struct look nothing = {};
	uint64_t key = (uint64_t)task;

	if (!settings.records) {
		if (!count(t, record, c, &nothing)) {
			bpf_map_delete_elem(&kept, &key);
			return;
		}
		record->seq = __sync_fetch_and_add(&shared.seq, 1);
	}
	deliver_kept(task, record, t);
}

SEC("tp_btf/sys_exit")
int on_return(uint64_t *ctx)
{
	struct bpf_thread *t = thread_current(ctx[0]);
	const volatile struct bpf_call *c;
	struct task_struct *task;
	struct record_all r = {};
	struct look seen;

	if (!t || !t->start_ns)
		return 0; /* not traced; or a child that returns from its parent's fork */
	task = thread_task(t);
	r.record.what = TRACE_CALL;
	r.record.start_ns = t->start_ns;
	r.record.dur_ns = bpf_ktime_get_ns() - t->start_ns;
	t->start_ns = 0;
	r.record.seq = t->seq;
	r.record.nr = t->nr;
	r.record.pid = t->pid;
	r.record.tid = t->tid;
	r.record.ret = (int64_t)ctx[1];
	c = call_info(t->nr, t->compat);
	r.record.n_args = c->n_args;
	r.record.flags =
		(t->compat ? TRACE_COMPAT : 0) | (is_restart(r.record.ret) ? TRACE_RESTART : 0);
	if (c->flags & BPF_CALL_REPLACES) {
		return_replaced(task, &r.record, t, c);
		return 0;
	}
	arch_args((void *)ctx[0], t->compat, r.args);
	look_for(task, c, t, r.args, r.record.ret, &seen);
	r.record.file = seen.file;
	if (c->flags & (BPF_CALL_SUBMITS | BPF_CALL_REAPS))
		async_call(&r.record, c, r.args);
	if (!settings.records) {
		if (!count(t, &r.record, c, &seen))
			return 0;
		r.record.seq = __sync_fetch_and_add(&shared.seq, 1);
	}
	deliver(&r, c, &seen, t);
	return 0;
}
