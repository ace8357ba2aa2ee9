/* Probes at functions and tracepoints, counted in the kernel (bpf/functions.bpf.c). Nothing
 * outlives this process: programs, maps and probes are its descriptors.
 */
#ifndef TRACE_PROBER_H
#define TRACE_PROBER_H

#include "trace/bpf/functions.h"

#include <limpet/err.h>
#include <stdbool.h>
#include <sys/types.h>

/* The tracepoints, by the indexes of their counters. */
extern const char *const prober_tracepoints[FUNCTIONS_FIRST];

struct prober;

/* Allocate counters for `n` functions, from FUNCTIONS_FIRST on, with or without tracepoints. Only
 * hits of tracepoints in the network namespace `netns` count (0: all). -EPERM, -EOPNOTSUPP with a
 * message: it is impossible here. */
int prober_open(
	uint32_t n, bool tracepoints, uint64_t netns, struct prober **ret, struct lp_err *err);
void prober_close(struct prober *p);

/* Count a tracepoint; -ENOENT: this kernel has none of that name. */
int prober_add_tracepoint(struct prober *p, uint32_t at);

/* The place of a function in a file that a process has mapped. */
struct prober_place {
	pid_t pid;
	const char *path;
	uint64_t offset;
	bool calls_only; /* its end must not be probed, so its times are unknown */
};

/* Count the calls of a function of a process; or of the kernel. 0 or a negative errno. */
int prober_add_function(struct prober *p, uint32_t at, const struct prober_place *place);
int prober_add_kernel(struct prober *p, uint32_t at, const char *function);

/* The number of kernel functions that are counted by trampolines (fentry), not by kprobes. */
size_t prober_trampolines(const struct prober *p);

/* Remove all probes of a counter. */
void prober_remove(struct prober *p, uint32_t at);

/* The counts so far. */
struct functions_counter prober_count(const struct prober *p, uint32_t at);

#endif
