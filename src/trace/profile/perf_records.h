/* Parses the records of a perf ring. */
#ifndef TRACE_PERF_RECORDS_H
#define TRACE_PERF_RECORDS_H

#include "trace/profile/sampler.h"

/* The maximum size of a record. */
#define PERF_RECORD_BYTES_MAX 65536

enum perf_saw {
	PERF_SAW_OTHER = 0, /* irrelevant or unknown */
	PERF_SAW_SAMPLE,
	PERF_SAW_LOST,	  /* n: the number of records */
	PERF_SAW_COMM,	  /* path: the new name; executed: another program began */
	PERF_SAW_FORK,	  /* parent */
	PERF_SAW_MAPPING, /* start, end, offset, inode, path: of an executable mapping */
};

struct perf_sample {
	uint64_t address;
	int pid;
	uint64_t stack[SAMPLER_STACK_MAX]; /* the innermost first */
	unsigned n_stack, n_kernel_stack;
};

struct perf_record {
	enum perf_saw what;
	int pid, tid, parent;
	bool executed;
	uint64_t n;
	uint64_t start, end, offset, inode;
	const char *path; /* in the record */
	struct perf_sample sample;
};

/* Parse a record of `size` bytes; `stacks`: samples have stacks. The last byte of a record with a
 * text becomes 0. */
void perf_record_decode(void *bytes, size_t size, bool stacks, struct perf_record *ret);

#endif
