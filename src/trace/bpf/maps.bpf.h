/* The maps, and data that both sides read and write. Nothing is pinned: everything disappears when
 * the descriptors of the backend are closed, even if it is killed.
 */
#ifndef TRACE_BPF_MAPS_H
#define TRACE_BPF_MAPS_H

#ifdef __bpf__

#include "trace/bpf/kernel.bpf.h"

const volatile struct bpf_settings settings = {};
struct bpf_shared shared = {};

/* The usual place of the state of a traced thread, indexed by the address of its registers at
 * system calls. They are always at the same place of its stack, and tracepoints get this address.
 * An array lookup takes a few instructions without a call. */
#define SEATS 8192
#define SEAT_SHIFT 14 /* stacks are at least 16 KiB apart */

struct seat {
	uint64_t regs; /* the owner; 0: none */
	struct bpf_thread thread;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SEATS);
	__type(key, uint32_t);
	__type(value, struct seat);
} seats SEC(".maps");

/* For threads with a taken seat: shared.unseated is their number. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct bpf_thread);
} threads SEC(".maps");

/* Traced processes (ids of thread groups); the value has no meaning. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, uint32_t);
	__type(value, uint32_t);
} processes SEC(".maps");

struct comm_key {
	char name[BPF_COMM_LEN];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_COMMS_MAX);
	__type(key, struct comm_key);
	__type(value, uint32_t);
} comms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

/* Buffer for an event with text. */
struct scratch {
	struct bpf_record record;
	uint64_t args[TRACE_ARGS];
	char text[TRACE_TEXT_MAX * 2]; /* twice the size, for the verifier: every offset is < MAX */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* The arguments of execve, by the address of the task (its id changes if it is not the leader). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, struct bpf_kept);
} kept SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct bpf_kept);
} keeping SEC(".maps");

/* The information about a call. */
FORCE_INLINE const volatile struct bpf_call *call_info(uint32_t nr, bool compat)
{
	nr &= SYSCALL_MAX - 1;
	return compat ? &settings.compat[nr] : &settings.calls[nr];
}

#endif
#endif
