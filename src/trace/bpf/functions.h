/* Shared by the programs that count calls of functions and tracepoints, and by their reader.
 *
 * Compiled twice, for BPF and for this machine, so it contains only numbers of fixed size.
 */
#ifndef TRACE_BPF_FUNCTIONS_H
#define TRACE_BPF_FUNCTIONS_H

#include <stdint.h>

/* The tracepoints of the kernel that are counted, if it has them, and the origin of the network
 * namespace of a hit: the socket, packet or interface in the first argument, or the current
 * process. */
#define FUNCTIONS_TRACEPOINTS(X)                                                                   \
	X(tcp_retransmit_skb, SOCK)                                                                \
	X(tcp_retransmit_synack, SOCK)                                                             \
	X(tcp_probe, SOCK)                                                                         \
	X(tcp_send_reset, SOCK)                                                                    \
	X(tcp_receive_reset, SOCK)                                                                 \
	X(kfree_skb, SKB)                                                                          \
	X(net_dev_queue, SKB)                                                                      \
	X(net_dev_xmit_timeout, DEV)                                                               \
	X(netif_receive_skb, SKB)                                                                  \
	X(block_rq_insert, TASK)                                                                   \
	X(block_rq_issue, TASK)                                                                    \
	X(block_rq_complete, TASK)                                                                 \
	X(block_rq_requeue, TASK)                                                                  \
	X(block_rq_error, TASK)                                                                    \
	X(balance_dirty_pages, TASK)                                                               \
	X(mm_vmscan_direct_reclaim_begin, TASK)                                                    \
	X(sched_switch, TASK)                                                                      \
	X(sched_wakeup, TASK)                                                                      \
	X(sched_migrate_task, TASK)                                                                \
	X(sched_process_fork, TASK)                                                                \
	X(sched_process_exec, TASK)

#define FUNCTIONS_ENUM(name, whose) FUNCTIONS_TP_##name,
enum {
	FUNCTIONS_TRACEPOINTS(FUNCTIONS_ENUM)
	/* Counters of functions come after those of tracepoints. */
	FUNCTIONS_FIRST
};

/* Frames per thread; a power of 2. Deeper calls are counted, but their time belongs to the deepest
 * function with a frame. The kernel does not follow more returns of a thread, either. */
#define FUNCTIONS_DEPTH 64

struct functions_settings {
	uint32_t netns;	   /* only hits of this network namespace; 0: all */
	uint32_t function; /* the counter of the only function, for trampolines */
};

struct functions_counter {
	uint64_t n;  /* calls that began; for tracepoints, hits */
	uint64_t ns; /* in the function itself, without other counted functions */
};

struct functions_frame {
	uint64_t begin, children;
	uint64_t sp; /* the stack pointer at its beginning; 0: unknown, in the kernel */
	uint64_t at; /* index of its counter */
};

struct functions_stack {
	uint32_t depth, zero;
	struct functions_frame frames[FUNCTIONS_DEPTH];
};

#endif
