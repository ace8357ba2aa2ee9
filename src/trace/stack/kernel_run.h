/* The instrument that records the layers in the kernel. It watches the daemons of file systems, and
 * the disks of their files and of a program's files.
 */
#ifndef TRACE_KERNEL_RUN_H
#define TRACE_KERNEL_RUN_H

#include "collect/instrument.h"
#include "trace/stack/daemons.h"
#include "trace/stack/kernel_spans.h"

struct kernel_run_config {
	const char *observer;
	uint32_t layers; /* 1 << place in layers[]; those that are not in the kernel are left alone
			  */
	struct daemons daemons; /* what it points to outlives the instrument */
	bool children; /* of disks, only requests of the processes that we start (and of daemons),
			  and of files that they write; otherwise all requests to the disks of
			  daemons' files */
	uint64_t ring_bytes;	/* 0: 16 MiB */
	int64_t wall_offset_ns; /* clock_wall_offset_ns() */
	/* Called when recording has begun; may be NULL. */
	void (*ready)(void *ctx);
	void *ready_ctx;
	/* It ends `linger_us` after this returns true; NULL: when the loop ends. */
	bool (*ended)(const void *ctx);
	const void *ended_ctx;
	int64_t linger_us;
};

struct kernel_run;

/* Load the programs into the kernel. `config` must outlive it. */
int kernel_run_new(
	const struct kernel_run_config *config, struct kernel_run **ret, struct lp_err *err);
void kernel_run_free(struct kernel_run *r);

/* For the loop: loop_instrument.config is the kernel_run, which outlives the loop. */
extern const struct instrument instrument_kernel_layers;

struct kernel_run_totals {
	struct kernel_spans_totals spans;
	uint64_t daemons;  /* that were watched, one after the other */
	uint64_t gone;	   /* of which ended meanwhile */
	uint64_t late;	   /* and were found only after recording had begun */
	uint64_t lost;	   /* events for which there was no room */
	uint64_t unframed; /* messages of a protocol that is not known */
};

/* May be called during and after the loop. */
struct kernel_run_totals kernel_run_totals(const struct kernel_run *r);

#endif
