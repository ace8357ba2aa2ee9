/* What the programs that count calls of functions and tracepoints, and their reader, have in
 * common.
 *
 * Compiled twice, for BPF and for this machine, so there are only numbers of fixed size in it.
 */
#ifndef TRACE_BPF_FUNCTIONS_H
#define TRACE_BPF_FUNCTIONS_H

#include <stdint.h>

/* The tracepoints of the kernel that are counted, where it has them. */
#define FUNCTIONS_TRACEPOINTS(X)                                                                   \
	X(tcp_retransmit_skb)                                                                      \
	X(tcp_retransmit_synack)                                                                   \
	X(tcp_probe)                                                                               \
	X(tcp_send_reset)                                                                          \
	X(tcp_receive_reset)                                                                       \
	X(kfree_skb)                                                                               \
	X(net_dev_queue)                                                                           \
	X(net_dev_xmit_timeout)                                                                    \
	X(netif_receive_skb)                                                                       \
	X(block_rq_insert)                                                                         \
	X(block_rq_issue)                                                                          \
	X(block_rq_complete)                                                                       \
	X(block_rq_requeue)                                                                        \
	X(block_rq_error)                                                                          \
	X(balance_dirty_pages)                                                                     \
	X(mm_vmscan_direct_reclaim_begin)                                                          \
	X(sched_switch)                                                                            \
	X(sched_wakeup)                                                                            \
	X(sched_migrate_task)                                                                      \
	X(sched_process_fork)                                                                      \
	X(sched_process_exec)

#define FUNCTIONS_ENUM(name) FUNCTIONS_TP_##name,
enum {
	FUNCTIONS_TRACEPOINTS(FUNCTIONS_ENUM)
	/* Counters of functions are behind those of tracepoints. */
	FUNCTIONS_FIRST
};

/* Frames of a thread; a power of 2. Calls deeper than that are counted, their time is that of the
 * deepest that has a frame. The kernel follows no more returns of a thread than that, either. */
#define FUNCTIONS_DEPTH 64

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
