/* Converts events of the kernel (bpf/stack.h) to spans: adds names to numbers, and joins requests
 * over the network with their answers. Events that make no sense are left out.
 */
#ifndef TRACE_KERNEL_SPANS_H
#define TRACE_KERNEL_SPANS_H

#include "model/span.h"

#include <stdbool.h>
#include <stddef.h>

#define KERNEL_FILE_PATH_MAX 512

/* What is known of an open file. */
struct kernel_file {
	char path[KERNEL_FILE_PATH_MAX]; /* "" if it is not known */
	uint64_t key;			 /* by which clients identify it, 0: unknown */
};

struct kernel_spans_config {
	uint32_t layers;	/* 1 << place in layers[]: others are left out */
	int64_t wall_offset_ns; /* that makes CLOCK_MONOTONIC time since 1970 */
	/* Gets each span. The span's texts are valid during the call only. */
	int (*span)(void *ctx, const struct span *s);
	/* Look up a descriptor of a process, if it still is the file of that inode; may be NULL.
	 */
	void (*file)(void *ctx, int32_t pid, int32_t fd, uint64_t inode, struct kernel_file *ret);
	/* The name of a disk by its device; may be NULL. */
	void (*disk)(void *ctx, uint64_t device, char *ret, size_t size);
	void *ctx;
};

struct kernel_spans_totals {
	uint64_t spans;
	uint64_t called;     /* 1 << place in layers[] */
	uint64_t damaged;    /* events that make no sense */
	uint64_t unanswered; /* answers to requests that were not seen */
	uint64_t open;	     /* spans that had not ended */
};

struct kernel_spans;

/* NULL: out of memory. `config` must outlive it. */
struct kernel_spans *kernel_spans_new(const struct kernel_spans_config *config);
void kernel_spans_free(struct kernel_spans *k);

/* Take an event. 0, -ENOMEM, or what config->span returned. */
int kernel_spans_take(struct kernel_spans *k, const void *event, size_t size);

/* Take one that had not ended at `now_ns` (CLOCK_MONOTONIC). */
int kernel_spans_take_open(struct kernel_spans *k, const void *event, size_t size, int64_t now_ns);

/* At the end: deliver requests that have no answer yet. */
int kernel_spans_end(struct kernel_spans *k, int64_t now_ns);

const struct kernel_spans_totals *kernel_spans_totals(const struct kernel_spans *k);

#endif
