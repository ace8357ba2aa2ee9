/* What the programs that count calls of functions and tracepoints, and their reader, have in
 * common.
 *
 * Compiled twice, for BPF and for this machine, so there are only numbers of fixed size in it.
 */
#ifndef TRACE_BPF_FUNCTIONS_H
#define TRACE_BPF_FUNCTIONS_H

#include <stdint.h>

/* The tracepoints of the kernel that are counted, where it has them, and what says to which network
 * namespace a hit belongs: the socket, packet or interface that is its first argument, or the
 * process that runs. */
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
	/* Counters of functions are behind those of tracepoints. */
	FUNCTIONS_FIRST
};

/* Frames of a thread; a power of 2. Calls deeper than that are counted, their time is that of the
 * deepest that has a frame. The kernel follows no more returns of a thread than that, either. */
#define FUNCTIONS_DEPTH 64

struct functions_settings {
	uint32_t netns;	   /* only hits of this network namespace; 0: all */
	uint32_t function; /* the counter of the one function that trampolines are for */
};

struct functions_counter {
	uint64_t n;  /* calls that began; of tracepoints, hits */
	uint64_t ns; /* in the function itself, without the others that are counted */
};

struct functions_frame {
	uint64_t begin, children;
	uint64_t sp; /* where the stack is when it begins; 0: not known, in the kernel */
	uint64_t at; /* of its counter */
};

struct functions_stack {
	uint32_t depth, zero;
	struct functions_frame frames[FUNCTIONS_DEPTH];
};

#endif
