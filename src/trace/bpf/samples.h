/* Shared by the program that counts samples and by its reader.
 *
 * Compiled twice, for BPF and for this machine, so it contains only numbers of fixed size.
 */
#ifndef TRACE_BPF_SAMPLES_H
#define TRACE_BPF_SAMPLES_H

#include <stdint.h>

#define SAMPLES_COMM_LEN 16
#define SAMPLES_BUILD_ID_LEN 20
#define SAMPLES_STACK_MAX 64
#define SAMPLES_PATH_MAX 256
#define SAMPLES_NO_STACK (-1)

/* The key by which samples are counted. Every byte counts, so there is no padding. */
struct samples_key {
	uint64_t ip;
	uint32_t pid; /* 0: an address of the kernel, the same for all processes, unless stacks are
		       * recorded */
	int32_t kernel_stack, user_stack; /* ids of stacks, or SAMPLES_NO_STACK */
	uint32_t zero;
	char comm[SAMPLES_COMM_LEN]; /* of the process, not of its thread */
};

struct samples_value {
	uint64_t n;
	uint64_t offset; /* in the file with this build-id */
	unsigned char build_id[SAMPLES_BUILD_ID_LEN];
	uint32_t has_build_id;
	uint32_t pid; /* of the first of these samples, even if the key has none */
	uint32_t zero;
};

/* A file, identified by the kernel. */
struct samples_file {
	uint64_t inode;
	uint32_t device, zero;
};

/* A page of a process. */
struct samples_page {
	uint64_t space; /* the kernel's address of its address space */
	uint64_t page;
	uint32_t pid, zero;
};

struct samples_place {
	uint64_t offset; /* in the file of that build-id, less the address */
	uint64_t asked_ns;
	unsigned char build_id[SAMPLES_BUILD_ID_LEN];
	uint32_t zero;
};

/* A process executed this file, for the first time in a long time. */
struct samples_exec {
	uint32_t pid, parent, len, zero;
	char path[SAMPLES_PATH_MAX];
};

/* Set before the programs are loaded. */
struct samples_settings {
	uint32_t stacks;
	uint32_t netns; /* only processes of this network namespace; 0: all */
};

/* Read at run time. */
struct samples_shared {
	uint64_t taken; /* samples */
	uint64_t lost;	/* of these, samples without room */
};

#endif
