/* What the spans of a recording say: per layer, per region, per call.
 *
 * A call is a span of one layer, the uppermost one unless told otherwise. Its latency is split
 * among the layers: the time of a layer is that in which no layer below it was at work for the
 * call, so that the parts add up to the whole. Of parallel parts the last one to end counts, as in
 * the paper.
 */
#ifndef TRACE_STACK_METRICS_H
#define TRACE_STACK_METRICS_H

#include "trace/stack/graph.h"
#include "trace/stack/layer.h"

#define STACK_LAYERS_MAX 16

struct stack_layer_sum {
	uint64_t calls, errors, open;
	int64_t bytes;
	int64_t inclusive_ns, exclusive_ns; /* of all, added up */
	int64_t busy_ns;		    /* time in which at least one was open */
	int64_t longest_ns;
	int64_t waiting_ns; /* of collective calls: time that no I/O below them explains */
};

struct stack_call {
	uint32_t span;
	int32_t rank;	 /* processes without one are numbered behind those that have one */
	uint32_t number; /* of the call in its rank, from 0 */
	uint32_t region; /* span of the innermost mark around it, SPANS_NONE: there is none */
	uint32_t parts;	 /* spans below it */
	int64_t exclusive_ns[STACK_LAYERS_MAX];
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
	struct stack_region *regions; /* in the order of their first time */
	size_t n_regions;
	unsigned layer;			    /* whose spans are the calls */
	uint64_t outside[STACK_LAYERS_MAX]; /* spans below that layer that belong to no call */
	int64_t first_ns, last_ns;	    /* of all spans */
	uint32_t n_ranks;		    /* of the MPI job, 0: it is none */
	uint32_t n_processes;		    /* that made calls */
	int64_t *exclusive_ns;		    /* [span] */
};

/* Compute them, for the calls of a layer (-1: the uppermost one). Zero-initialise `ret`; release it
 * also after a failure. */
int stack_metrics_compute(
	const struct graph *g, int layer, struct stack_metrics *ret, struct lp_err *err);
void stack_metrics_release(struct stack_metrics *m);

/* The call of that rank and number, or NULL. */
const struct stack_call *stack_metrics_call(
	const struct stack_metrics *m, int32_t rank, uint32_t number);

/* Bytes per second of a layer while it was at work; 0 if it was not. */
double stack_layer_throughput(const struct stack_layer_sum *l);

#endif
