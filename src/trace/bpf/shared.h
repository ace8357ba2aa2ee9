/* Shared by the programs in the kernel and by the backend: records, tables, states.
 *
 * Compiled twice, for BPF and for this machine, so it contains only numbers of fixed size.
 */
#ifndef TRACE_BPF_SHARED_H
#define TRACE_BPF_SHARED_H

#include "model/syscalls.h"
#include "trace/tally.h"

/* One record of the ring: this, `n_args` times uint64_t, then `text_len` bytes. Unused parts are
 * left out: a read() takes 72 bytes. */
struct bpf_record {
	uint64_t seq, start_ns, dur_ns;
	int64_t ret;
	uint32_t pid, tid;
	uint16_t nr, text_len;
	uint8_t what, flags, file, n_args; /* of enum trace_what, TRACE_COMPAT..., trace_file */
};

/* The information about a call for the kernel programs, from the table in model/syscalls.h. */
struct bpf_call {
	uint8_t call;	   /* enum trace_call */
	uint8_t capture;   /* enum syscall_capture */
	uint8_t n_args;	   /* the number of delivered arguments */
	uint8_t flags;	   /* BPF_CALL_* */
	int8_t fd_arg;	   /* index of the argument with the descriptor; -1: none */
	uint8_t no_result; /* its apparent return value is not a result: rt_sigreturn */
	uint8_t pad[2];
};

#define BPF_CALL_REPLACES 1u	/* its arguments are not available at its exit: execve */
#define BPF_CALL_CLOSES 2u	/* its descriptor is closed at its exit */
#define BPF_CALL_SUBMITS 4u	/* io_submit */
#define BPF_CALL_REAPS 8u	/* io_getevents and io_pgetevents */
#define BPF_CALL_ACCEPTS 16u	/* creates the server's end of a connection */
#define BPF_CALL_RETURNS_FD 32u /* its descriptor is the result */
#define BPF_CALL_WAITS 64u	/* waiting is its purpose, for any file */
#define BPF_CALL_MOVES 128u	/* returns the number of transferred bytes */

#define BPF_COMM_LEN 16
#define BPF_COMMS_MAX 64
#define BPF_USERS_MAX 16
#define BPF_URING_OPS 64
#define BPF_AIO_OPS 16

/* Set before the programs are loaded: the verifier then drops code that is not needed. */
struct bpf_settings {
	uint8_t records;  /* deliver every call */
	uint8_t comms;	  /* there are names in the map `comms` */
	uint8_t cast;	  /* bpf_rdonly_cast() exists */
	uint8_t same_max; /* equal errors to report per period */
	uint16_t nr_clone, nr_clone3, nr_vfork;
	uint16_t n_users; /* the user whose processes are traced by name; 0: all users */
	uint32_t users[BPF_USERS_MAX];
	uint32_t self;	       /* this process, which is never traced */
	uint32_t cgroup_level; /* of the control group (v2) to trace */
	uint32_t max_slots;
	uint64_t cgroup_id; /* 0: none */
	uint64_t slow_ns;
	uint64_t wake_bytes; /* wake the reader when this much is waiting */
	struct bpf_call calls[SYSCALL_MAX];
	struct bpf_call compat[SYSCALL_MAX];
	/* The equivalent call of an operation; BPF_NO_CALL: none, not reported. */
	uint16_t uring_calls[BPF_URING_OPS], aio_calls[BPF_AIO_OPS];
	uint64_t uring_moves; /* bits: operations that have address, length and offset */
};

/* Read and written by both sides while tracing. */
struct bpf_shared {
	uint64_t seq;	      /* calls begun */
	uint64_t lost;	      /* events without room */
	uint64_t lost_unsaid; /* of these, those not yet reported by a TRACE_LOST */
	uint64_t uncounted;   /* calls, errors or connections without room in their map */
	uint64_t n_slots;     /* cells in use */
	uint32_t period;      /* of at most TRACE_SAME_MAX equal errors; tally() begins a new one */
	uint32_t scan;	      /* processes were added, and some of their threads may be unknown */
	int32_t n_processes;  /* traced at the moment */
	int32_t unseated;     /* traced threads without a seat in `seats` */
	uint32_t starting;    /* the child that will execute the command; 0: none */
	uint32_t pad;
};

#define BPF_SLOTS (TRACE_FILES * TRACE_CALLS)
#define BPF_NO_CALL 0xffff

/* The state of a traced thread. */
struct bpf_thread {
	uint64_t start_ns; /* of its current call; 0: none */
	uint64_t seq;
	uint64_t task; /* the address of its task_struct */
	uint32_t pid, tid;
	uint16_t nr;
	uint8_t compat, file;	   /* file: for a call that closes it */
	uint32_t emitted;	   /* events */
	uint16_t slots[BPF_SLOTS]; /* its cells, 0: none yet */
};

/* Data from the beginning of a call that is no longer available at its end. */
struct bpf_kept {
	uint64_t args[TRACE_ARGS];
	uint32_t text_len, cut;
	char text[TRACE_TEXT_MAX + 8]; /* one more byte than is delivered, to detect truncation */
};

/* A cell of a summary: struct tally_cell without n, which is the sum of the buckets. */
struct bpf_cell {
	uint64_t errors, sum_ns, bytes;
	uint64_t buckets[TALLY_BUCKETS];
};

struct bpf_error {
	uint64_t n;
	uint32_t period, told; /* its events in this period */
};

/* I/O in progress: AIO by process and address, io_uring by the kernel's address. */
struct bpf_async_key {
	uint64_t address;
	uint32_t pid, pad;
};

struct bpf_async {
	uint64_t start_ns, seq;
	uint64_t address, bytes, offset;
	uint32_t pid, tid;
	int32_t fd;
	uint16_t nr;
	uint8_t file, pad;
};

#endif
