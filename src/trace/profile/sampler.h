/* The interface of a sampler: `bpf` counts samples in the kernel, `ring` receives each one from the
 * kernel. Each has one or a few files sampler_NAME*.c and a line in meson.build. All deliver the
 * same data.
 */
#ifndef TRACE_SAMPLER_H
#define TRACE_SAMPLER_H

#include "trace/symbols/elf_image.h"
#include <limpet/err.h>
#include <sys/types.h>

#define SAMPLER_HZ_DEFAULT 199
#define SAMPLER_HZ_MAX 20000
#define SAMPLER_STACK_MAX 128
#define SAMPLER_COMM_MAX 16

enum sampler_clock {
	SAMPLER_CLOCK_AUTO = 0, /* cycles if the machine counts them */
	SAMPLER_CLOCK_CYCLES,	/* of the CPU, while it is not idle */
	SAMPLER_CLOCK_TIME,
};

struct sampler_config {
	unsigned hz;
	enum sampler_clock clock;
	bool stacks;
	uint64_t netns;	     /* only processes of this network namespace (netns.h); 0: all */
	int64_t interval_us; /* between two calls of drain() */
};

/* Samples at one address of one program. */
struct sampler_count {
	uint64_t n;
	uint64_t address;
	int pid;     /* 0: unknown, or of the kernel */
	int process; /* one with such samples, even if they are of the kernel; 0: none */
	bool kernel;
	char comm[SAMPLER_COMM_MAX]; /* of the process, at that time */
	struct build_id id;	     /* of its file, if known, */
	uint64_t offset;	     /* and the offset in it */
	/* If stacks are recorded: addresses, the innermost first; the first n_kernel_stack of them
	 * belong to the kernel. */
	const uint64_t *stack;
	unsigned n_stack, n_kernel_stack;
};

/* Called by a sampler in drain(). A negative return value ends it and is returned. */
struct sampler_sink {
	int (*count)(void *ctx, const struct sampler_count *c);
	/* A process executed a file; or mapped one, as in symbols.h. Called before the counts since
	 * then. */
	int (*executed)(void *ctx, int pid, int parent, const char *path);
	int (*mapped)(void *ctx, int pid, uint64_t start, uint64_t end, uint64_t offset,
		uint64_t inode, const char *path);
	void *ctx;
};

struct sampler {
	const char *name;
	const char *summary;

	/* Begin. -EPERM or -EOPNOTSUPP with a message: it cannot work here. */
	int (*open)(const struct sampler_config *config, void **ret_state, struct lp_err *err);

	/* The source of ticks: "cycles" or "time". */
	enum sampler_clock (*clock)(void *state);

	/* A descriptor that becomes readable when serve() should be called. NULL: none, and there
	 * is no serve(). */
	int (*descriptor)(void *state);
	int (*serve)(void *state, struct lp_err *err);

	/* Deliver the counts since the last call. */
	int (*drain)(void *state, const struct sampler_sink *sink, struct lp_err *err);

	/* The number of samples so far that were taken but not delivered. */
	uint64_t (*lost)(void *state);

	void (*close)(void *state); /* accepts NULL */
};

/* All samplers, NULL-terminated, the best first. */
extern const struct sampler *const samplers[];
const struct sampler *sampler_find(const char *name);

/* Open the first one that works, or the one with this name (NULL or "auto": any). `why` (may be
 * NULL) says why it is not the first. */
int sampler_open(const char *name, const struct sampler_config *config,
	const struct sampler **ret_sampler, void **ret_state, struct lp_err *why,
	struct lp_err *err);

#endif
