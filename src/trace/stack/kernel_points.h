/* The programs of bpf/stack.bpf.c, where they are attached, and which layers need them. */
#ifndef TRACE_KERNEL_POINTS_H
#define TRACE_KERNEL_POINTS_H

#include <stdint.h>

struct kernel_point {
	const char *program, *tracepoint;
	uint32_t layers; /* 1 << place in layers[] */
};

/* The last row has no program. */
extern const struct kernel_point kernel_points[];

#endif
