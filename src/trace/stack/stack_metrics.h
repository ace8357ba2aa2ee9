/* Metrics of the spans of a recording: per layer, region, call, client and server.
 *
 * A call is a span of one layer, by default the uppermost one. Its latency is split
 * among the layers: at each instant of a call the deepest layer that works for it counts, so
 * the parts add up to the whole. Of parallel parts the one that ends last decides the latency
 * (their maximum), while throughput is their sum.
 */
#ifndef TRACE_STACK_METRICS_H
#define TRACE_STACK_METRICS_H

#include "trace/stack/drive.h"
#include "trace/stack/graph.h"
#include "trace/stack/layer.h"

#define STACK_LAYERS_MAX 16
#define STACK_NONE UINT32_MAX

struct stack_layer_sum {
	uint64_t calls, errors, open;
	int64_t bytes;
	int64_t inclusive_ns, exclusive_ns; /* of all, added up */
	int64_t busy_ns;		    /* time in which at least one was open */
	int64_t longest_ns;
	int64_t communicating_ns; /* of collective calls: time that no I/O below them explains */
	int64_t waiting_ns; /* part of exclusive_ns: work was under way to another thread or host */
};

struct stack_call {
	uint32_t span;
	int32_t rank;	 /* processes without one are numbered behind those that have one */
	uint32_t number; /* of the call in its rank, from 0 */
	uint32_t region; /* span of the innermost mark around it, SPANS_NONE: there is none */
	uint32_t parts;	 /* spans below it */
	int64_t exclusive_ns[STACK_LAYERS_MAX]; /* they add up to its latency */
	int64_t waiting_ns;	   /* part of those: between two layers, on the way or in a queue */
	int64_t communicating_ns;  /* of a collective call: time that no I/O below it explains */
	int64_t late_ns;	   /* part of that: until its last rank had begun it, too */
	uint32_t collective;	   /* place in collectives, STACK_NONE: it is not collective */
	uint32_t shares, n_shares; /* its part of stack_metrics.shares */
	uint32_t n_disks, disk_accesses;
	int64_t disk_bytes;
	double joules; /* of the disks, above what they take when idle */
};

/* What a call cost one server. Time after the call returned (writeback) is separate. */
struct stack_share {
	uint32_t call, server;
	uint32_t requests; /* spans of the server's daemon */
	uint32_t disk_accesses, n_disks;
	int64_t ns;	      /* in which the server or its disk was at work for the call */
	int64_t disk_ns;      /* in which a disk was */
	int64_t network_ns;   /* in which it was not, but a request to it, or the answer, was on
				 the way */
	int64_t behind_ns;    /* the same as ns, after the call had returned */
	int64_t disk_busy_ns; /* in which a disk was, whether the call waited for it or not */
	int64_t bytes, disk_bytes;
	double joules;
};

/* A host on which server or disk spans were seen. */
struct stack_server {
	uint32_t observer; /* place in spans.observer_names */
	uint64_t calls, requests, disk_accesses;
	int64_t ns, disk_ns, disk_busy_ns, longest_ns; /* of its shares, added up; the longest */
	uint32_t slowest;			       /* the call of the longest share */
	int64_t bytes, disk_bytes;
	double joules;
};

/* A rank, or a process outside of a job. */
struct stack_client {
	int32_t rank;
	uint64_t calls;
	int64_t ns, bytes, busy_ns, longest_ns, communicating_ns;
};

/* The calls of all ranks that are one collective operation. */
struct stack_collective {
	uint32_t first;	  /* place in calls */
	uint32_t n_calls; /* ranks that took part */
	uint32_t n_servers;
	int64_t start_ns, last_start_ns, end_ns;
	int64_t communicating_ns; /* the longest of its calls */
};

struct stack_region {
	const char *name;
	uint64_t times, calls;
	int64_t ns, calls_ns, bytes;
};

struct stack_metrics {
	const struct graph *graph;
	struct stack_layer_sum layers[STACK_LAYERS_MAX];
	struct stack_call *calls; /* in the order of time */
	size_t n_calls;
	struct stack_share *shares; /* by call, then server */
	size_t n_shares, cap_shares;
	struct stack_server *servers; /* in the order of their names */
	size_t n_servers;
	struct stack_client *clients; /* by rank */
	size_t n_clients;
	struct stack_collective *collectives; /* in the order of time */
	size_t n_collectives;
	struct stack_region *regions; /* in the order of their first time */
	size_t n_regions;
	const struct drive *drive;	    /* NULL: energy is not computed */
	unsigned layer;			    /* whose spans are the calls */
	uint64_t outside[STACK_LAYERS_MAX]; /* spans below that layer that belong to no call */
	int64_t first_ns, last_ns;	    /* of all spans */
	uint32_t n_ranks;		    /* of the MPI job, 0: it is none */
	uint32_t n_processes;		    /* that made calls */
	int64_t *exclusive_ns;		    /* [span] */
};

/* Compute them, for the calls of a layer (-1: the uppermost one). With a `drive` (it outlives
 * `ret`) also the energy of disks. Zero-initialise `ret`; release it also after a failure. */
int stack_metrics_compute(const struct graph *g, int layer, const struct drive *drive,
	struct stack_metrics *ret, struct lp_err *err);
void stack_metrics_release(struct stack_metrics *m);

/* The call of that rank and number, or NULL. */
const struct stack_call *stack_metrics_call(
	const struct stack_metrics *m, int32_t rank, uint32_t number);

/* Bytes per second of a layer while it was at work; 0 if it was not. */
double stack_layer_throughput(const struct stack_layer_sum *l);
/* Bytes per second, for bytes in this many nanoseconds; 0 if the time is 0. */
double stack_rate(int64_t bytes, int64_t ns);

int64_t stack_call_latency(const struct stack_metrics *m, const struct stack_call *call);
/* The latency of its slowest server, for which the call has to wait; 0 if it has no server. */
int64_t stack_call_server_ns(const struct stack_metrics *m, const struct stack_call *call);
/* Bytes per second of the disks that took part, added up. */
double stack_call_disk_rate(const struct stack_metrics *m, const struct stack_call *call);
/* Energy and mean power of the disks that took part, including their idle power; 0 without a drive.
 */
double stack_call_energy(const struct stack_metrics *m, const struct stack_call *call);
double stack_call_power(const struct stack_metrics *m, const struct stack_call *call);
/* The same for the disks of one server. */
double stack_share_power(const struct stack_metrics *m, const struct stack_share *share);

const char *stack_server_name(const struct stack_metrics *m, uint32_t server);

/* The steps of stack_metrics_compute() that have files of their own. 0 or -ENOMEM. */

/* stack_calls.c: split the latency of each call, and find what it cost each server. */
int stack_calls_split(struct stack_metrics *m);
/* stack_collective.c: which calls of the ranks are the same collective operation. */
int stack_collectives_find(struct stack_metrics *m);
/* stack_sums.c: by server and by client. */
int stack_servers_find(struct stack_metrics *m);
void stack_servers_sum(struct stack_metrics *m);
int stack_clients_sum(struct stack_metrics *m);

/* Values from files may be any number: sums do not overflow, but stay at the largest number. */
static inline void stack_add(int64_t *sum, int64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

#endif
