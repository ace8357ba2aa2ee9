/* What `limpet stack run` is to record: a YAML file, or one of those that are built in.
 *
 *     application: flash_io         # what the program is called; others that it runs are left
 * alone regions: [checkpoint, write_plot(), "io.c:120-180"] # marks, functions, lines; none: all of
 * it operations: [write, collective] # none: all layers: [mpi-io, posix] metrics: [latency, power]
 * # what is wanted of it drive: ultrastar-36z15        # whose power is computed functions: # calls
 * of any library, as the layer "library"
 *       - {name: silo_put, operation: write, object: 1, size: 3}
 */
#ifndef TRACE_STACK_CONFIG_H
#define TRACE_STACK_CONFIG_H

#include <limpet/err.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which part of the program is of interest. */
enum stack_place_kind {
	PLACE_MARK,	/* between lp_region_begin() and lp_region_end() (limpet/region.h) */
	PLACE_FUNCTION, /* while a function is on the stack: "write_plot()" */
	PLACE_LINES,	/* while lines of a source file are: "io.c:120-180" */
};

struct stack_place {
	enum stack_place_kind kind;
	char *name;	      /* as it was written: what the region is called */
	char *what;	      /* the function, or the file; NULL of a mark */
	uint32_t first, last; /* lines, both included */
	size_t line;	      /* of the configuration */
};

/* A function of a library. Arguments are counted from 1; 0: none. */
struct stack_function {
	char *name;
	unsigned op; /* enum span_op */
	unsigned size, offset;
	unsigned object;   /* a text: the path */
	bool returns_size; /* what it returns is bytes, not a status */
};

/* A set of what is wanted, bits of metrics_wanted. */
enum stack_wanted {
	WANTED_LATENCY,
	WANTED_THROUGHPUT,
	WANTED_SERVERS,
	WANTED_COMMUNICATION,
	WANTED_DISK_ACCESSES,
	WANTED_POWER,
};

/* Beside those of enum span_op: whatever all processes of a communicator do together. */
#define STACK_COLLECTIVE (UINT32_C(1) << 31)

struct stack_config {
	char *name;	   /* of the file, for messages */
	char *application; /* NULL: whatever is run */
	struct stack_place *regions;
	size_t n_regions, cap_regions; /* 0: the whole program */
	uint32_t operations;	       /* 1 << enum span_op, STACK_COLLECTIVE */
	uint32_t layers;	       /* 1 << place in layers[] */
	uint32_t metrics;	       /* 1 << enum stack_wanted */
	char *drive;		       /* NULL: none */
	bool summary;		       /* sums per layer and operation, no single calls */
	struct stack_function *functions;
	size_t n_functions, cap_functions;
};

void stack_config_release(struct stack_config *c);

/* From a text; `name` is what messages call it. What is wrong is said with its line. Write it only
 * into a zeroed `ret`, which is released also after a failure. */
int stack_config_parse(const char *text, size_t len, const char *name, struct stack_config *ret,
	struct lp_err *err);

/* From the file, or that of the built-in ones which is called `name`; several of these together,
 * "hdf5,glusterfs", have the layers of all. */
int stack_config_load(const char *name, struct stack_config *ret, struct lp_err *err);

/* The built-in ones, behind the last one a row without a name. */
struct stack_builtin {
	const char *name, *summary, *text;
};
extern const struct stack_builtin stack_builtins[];

#endif
