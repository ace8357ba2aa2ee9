/* Counts where CPUs are found, by process and address. Runs at every tick of a perf event, at any
 * place, so it does little: one lookup and one addition. Only an address that is new since the last
 * reading costs more: its file is looked up while the process exists.
 */
#include "trace/bpf/samples.h"
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The few members of kernel structures that are read here (kernel.bpf.h has those for the tracer of
 * system calls, and other registers). */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct task_struct *group_leader, *real_parent;
	int tgid;
	struct mm_struct *mm;
	struct nsproxy *nsproxy;
	char comm[16];
};

struct super_block {
	uint32_t s_dev;
};

struct inode {
	struct super_block *i_sb;
	unsigned long i_ino;
};

struct file {
	struct inode *f_inode;
};

struct linux_binprm {
	struct file *file;
	const char *filename;
};

#pragma clang attribute pop

/* The minimum page size of all architectures: this range is from one file. */
#define PAGE_SHIFT 12
/* The file of a page is looked up again after this time, because a library may be unloaded, and
 * another one loaded in its place. */
#define PLACE_NS 1000000000ULL

char LICENSE[] SEC("license") = "GPL";

const volatile struct samples_settings settings;
struct samples_shared shared;

/* The sizes of both are set when the object is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct samples_key);
	__type(value, struct samples_value);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, SAMPLES_STACK_MAX * sizeof(uint64_t));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 256 << 10);
} execs SEC(".maps");

/* The files of pages of processes, because the lookup takes long. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct samples_page);
	__type(value, struct samples_place);
} places SEC(".maps");

/* Files that were reported. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2048);
	__type(key, struct samples_file);
	__type(value, uint32_t);
} told SEC(".maps");

/* Find the file of an address in user space, and the offset in it. */
static inline __attribute__((always_inline)) void ask_file(
	struct bpf_perf_event_data *ctx, struct samples_value *v)
{
	struct bpf_stack_build_id top = {0};
	long got = bpf_get_stack(ctx, &top, sizeof(top), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);

	if (got < (long)sizeof(top) || top.status != BPF_STACK_BUILD_ID_VALID)
		return;
	v->has_build_id = 1;
	v->offset = top.offset;
	__builtin_memcpy(v->build_id, top.build_id, sizeof(v->build_id));
}

/* The same from the known pages. An address space belongs to one program. */
static inline __attribute__((always_inline)) void recall_file(struct bpf_perf_event_data *ctx,
	struct task_struct *task, const struct samples_key *key, struct samples_value *v)
{
	struct samples_page page = {.space = (uint64_t)BPF_CORE_READ(task, mm),
		.page = key->ip >> PAGE_SHIFT,
		.pid = key->pid};
	struct samples_place *known = bpf_map_lookup_elem(&places, &page), fresh = {0};

	fresh.asked_ns = bpf_ktime_get_ns();
	if (!known || fresh.asked_ns - known->asked_ns >= PLACE_NS)
		ask_file(ctx, v);
	if (!v->has_build_id && known) { /* or the kernel could not read it now */
		v->has_build_id = 1;
		v->offset = known->offset + key->ip;
		__builtin_memcpy(v->build_id, known->build_id, sizeof(v->build_id));
		return;
	}
	if (!v->has_build_id)
		return; /* it has none, or the kernel could not read it */
	fresh.offset = v->offset - key->ip;
	__builtin_memcpy(fresh.build_id, v->build_id, sizeof(fresh.build_id));
	bpf_map_update_elem(&places, &page, &fresh, BPF_ANY);
}

SEC("perf_event")
int on_tick(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	struct samples_key key = {.ip = PT_REGS_IP(&ctx->regs),
		.kernel_stack = SAMPLES_NO_STACK,
		.user_stack = SAMPLES_NO_STACK};
	uint32_t pid = bpf_get_current_pid_tgid() >> 32;
	struct samples_value *found, fresh = {.n = 1, .pid = pid};
	int user = (int64_t)key.ip >= 0;

	if (settings.netns && BPF_CORE_READ(task, nsproxy, net_ns, ns.inum) != settings.netns)
		return 0;
	__sync_fetch_and_add(&shared.taken, 1);
	bpf_core_read_str(key.comm, sizeof(key.comm), &leader->comm);
	if (user || settings.stacks)
		key.pid = pid;
	if (settings.stacks) {
		key.kernel_stack =
			user ? SAMPLES_NO_STACK : (int32_t)bpf_get_stackid(ctx, &stacks, 0);
		key.user_stack = pid ? (int32_t)bpf_get_stackid(ctx, &stacks, BPF_F_USER_STACK)
				     : SAMPLES_NO_STACK;
	}
	found = bpf_map_lookup_elem(&counts, &key);
	if (found) {
		__sync_fetch_and_add(&found->n, 1);
		return 0;
	}
	if (user)
		recall_file(ctx, task, &key, &fresh);
	if (bpf_map_update_elem(&counts, &key, &fresh, BPF_NOEXIST) == 0)
		return 0;
	found = bpf_map_lookup_elem(
		&counts, &key); /* another CPU was faster; or there is no room */
	if (found)
		__sync_fetch_and_add(&found->n, 1);
	else
		__sync_fetch_and_add(&shared.lost, 1);
	return 0;
}

SEC("tp_btf/sched_process_exec")
int on_exec(uint64_t *ctx)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct linux_binprm *program = (struct linux_binprm *)ctx[2];
	struct inode *inode = BPF_CORE_READ(program, file, f_inode);
	struct samples_file file = {
		BPF_CORE_READ(inode, i_ino), BPF_CORE_READ(inode, i_sb, s_dev), 0};
	struct samples_exec *e;
	const char *path;
	uint32_t one = 1;
	long len;

	if (bpf_map_lookup_elem(&told, &file))
		return 0;
	e = bpf_ringbuf_reserve(&execs, sizeof(*e), 0);
	if (!e)
		return 0;
	bpf_map_update_elem(&told, &file, &one, BPF_ANY);
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->parent = BPF_CORE_READ(task, real_parent, tgid);
	path = BPF_CORE_READ(program, filename);
	len = bpf_probe_read_kernel_str(e->path, sizeof(e->path), path);
	e->len = len > 0 ? (uint32_t)len : 0;
	/* No wake-up: it is read together with the counts. */
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}
