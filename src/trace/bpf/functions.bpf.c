/* Counts calls of functions in programs (uprobes) and in the kernel (trampolines, else kprobes),
 * with the time of each function itself, and hits of tracepoints. The cookie of a probe is the
 * index of its counter; programs for trampolines are loaded once per function.
 */
#include "trace/bpf/functions.h"
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* The few members of the kernel's structures that are read here. */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	possible_net_t skc_net;
};

struct sock {
	struct sock_common __sk_common;
};

struct net_device {
	possible_net_t nd_net;
};

struct sk_buff {
	struct net_device *dev;
};

struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

#pragma clang attribute pop

/* Stacks of different threads and coroutines are further apart than this. */
#define SAME_STACK (1u << 20)

char LICENSE[] SEC("license") = "GPL";

/* The settings, set before the programs are loaded. */
const volatile struct functions_settings settings = {0};

/* Sizes are set when the object is loaded. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FUNCTIONS_FIRST);
	__type(key, uint32_t);
	__type(value, struct functions_counter);
} counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct functions_stack);
} stacks SEC(".maps");

/* The initial state of a thread: it is too large for the stack of a program. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct functions_stack);
} empty SEC(".maps");

static inline __attribute__((always_inline)) struct functions_counter *counter(uint64_t at)
{
	uint32_t key = (uint32_t)at;

	return bpf_map_lookup_elem(&counters, &key);
}

static inline __attribute__((always_inline)) void count(uint64_t at)
{
	struct functions_counter *c = counter(at);

	if (c)
		__sync_fetch_and_add(&c->n, 1);
}

static inline __attribute__((always_inline)) struct functions_stack *stack_of_thread(int make)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid(), zero = 0;
	struct functions_stack *s = bpf_map_lookup_elem(&stacks, &tid), *nothing;

	if (s || !make)
		return s;
	nothing = bpf_map_lookup_elem(&empty, &zero);
	if (nothing)
		bpf_map_update_elem(&stacks, &tid, nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stacks, &tid);
}

/* The stack pointer. In the kernel it is not used: returns are found in another way. */
static inline __attribute__((always_inline)) uint64_t stack_pointer(struct pt_regs *ctx)
{
	return (int64_t)PT_REGS_IP(ctx) < 0 ? 0 : PT_REGS_SP(ctx);
}

/* The frame at an index below `depth`. */
static inline __attribute__((always_inline)) struct functions_frame *frame_at(
	struct functions_stack *s, uint32_t place)
{
	return &s->frames[place & (FUNCTIONS_DEPTH - 1)];
}

/* Forget frames that were left without a return, by longjmp() or because the kernel does not follow
 * their returns: the stack is already above them. */
static inline __attribute__((always_inline)) void drop_stale(struct functions_stack *s, uint64_t sp)
{
	for (uint32_t i = 0; i < FUNCTIONS_DEPTH && s->depth && sp; i++) {
		const struct functions_frame *f = frame_at(s, s->depth - 1);

		if (f->sp > sp || sp - f->sp > SAME_STACK)
			return;
		s->depth--;
	}
}

static inline __attribute__((always_inline)) void enter(uint64_t at, uint64_t sp)
{
	struct functions_stack *s = stack_of_thread(1);
	struct functions_frame *f;

	count(at);
	if (!s)
		return;
	drop_stale(s, sp);
	if (s->depth >= FUNCTIONS_DEPTH)
		return;
	f = frame_at(s, s->depth);
	f->at = at;
	f->sp = sp;
	f->children = 0;
	f->begin = bpf_ktime_get_ns();
	s->depth++;
}

/* Is it the frame of the call that ends? The return address was on the stack, or in a register. */
static inline __attribute__((always_inline)) int is_frame(
	const struct functions_frame *f, uint64_t at, uint64_t sp)
{
	return f->at == at && (!sp || f->sp == sp || f->sp + sizeof(uint64_t) == sp);
}

/* The index of a frame; FUNCTIONS_DEPTH: it began before counting, or is too deep. */
static inline __attribute__((always_inline)) uint32_t frame_of(
	struct functions_stack *s, uint64_t at, uint64_t sp)
{
	for (uint32_t i = 1; i <= FUNCTIONS_DEPTH && i <= s->depth; i++) {
		uint32_t place = (s->depth - i) & (FUNCTIONS_DEPTH - 1);

		if (is_frame(frame_at(s, place), at, sp))
			return place;
	}
	return FUNCTIONS_DEPTH;
}

static inline __attribute__((always_inline)) void leave(uint64_t at, uint64_t sp)
{
	struct functions_stack *s = stack_of_thread(0);
	struct functions_counter *c = counter(at);
	const struct functions_frame *f;
	uint32_t place;
	uint64_t ns;

	if (!s || !c)
		return;
	place = frame_of(s, at, sp);
	if (place >= FUNCTIONS_DEPTH)
		return;
	f = frame_at(s, place);
	ns = bpf_ktime_get_ns() - f->begin;
	if (ns > f->children)
		__sync_fetch_and_add(&c->ns, ns - f->children);
	s->depth = place;
	if (place)
		frame_at(s, place - 1)->children += ns;
}

SEC("kprobe")
int on_enter(struct pt_regs *ctx)
{
	enter(bpf_get_attach_cookie(ctx), stack_pointer(ctx));
	return 0;
}

/* At the beginning of a function without a probe at its end. */
SEC("kprobe")
int on_call(struct pt_regs *ctx)
{
	count(bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("kprobe")
int on_return(struct pt_regs *ctx)
{
	leave(bpf_get_attach_cookie(ctx), stack_pointer(ctx));
	return 0;
}

/* Each is attached to one function of the kernel. A trampoline costs a fraction of a kprobe. */
SEC("fentry")
int on_fentry(void *ctx)
{
	(void)ctx;
	enter(settings.function, 0);
	return 0;
}

SEC("fexit")
int on_fexit(void *ctx)
{
	(void)ctx;
	leave(settings.function, 0);
	return 0;
}

/* The network namespace of a hit of a tracepoint. A queued packet has no interface, and the value
 * there is not a pointer; it belongs to no namespace.
 */
static inline __attribute__((always_inline)) uint32_t netns_of_SOCK(uint64_t argument)
{
	return BPF_CORE_READ((struct sock *)argument, __sk_common.skc_net.net, ns.inum);
}

static inline __attribute__((always_inline)) uint32_t netns_of_SKB(uint64_t argument)
{
	return BPF_CORE_READ((struct sk_buff *)argument, dev, nd_net.net, ns.inum);
}

static inline __attribute__((always_inline)) uint32_t netns_of_DEV(uint64_t argument)
{
	return BPF_CORE_READ((struct net_device *)argument, nd_net.net, ns.inum);
}

static inline __attribute__((always_inline)) uint32_t netns_of_TASK(uint64_t argument)
{
	(void)argument;
	return BPF_CORE_READ(
		(struct task_struct *)bpf_get_current_task(), nsproxy, net_ns, ns.inum);
}

#define TRACEPOINT(name, whose)                                                                    \
	SEC("raw_tp/" #name)                                                                       \
	int on_##name(struct bpf_raw_tracepoint_args *ctx)                                         \
	{                                                                                          \
		if (!settings.netns || netns_of_##whose(ctx->args[0]) == settings.netns)           \
			count(FUNCTIONS_TP_##name);                                                \
		return 0;                                                                          \
	}
FUNCTIONS_TRACEPOINTS(TRACEPOINT)
