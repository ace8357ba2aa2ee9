/* What `limpet stack run` records: a YAML file, or a built-in configuration.
 *
 *     application: flash_io # name of the program; other programs are not recorded
 *     regions: [checkpoint, write_plot(), "io.c:120-180"] # marks, functions, lines; none: all
 *     operations: [write, collective] # none: all
 *     layers: [mpi-io, posix]
 *     metrics: [latency, power] # requested metrics
 *     drive: ultrastar-36z15 # compute the power of this drive
 *     functions: # calls of any library, as the layer "library"
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

/* A set of requested metrics, bits of metrics_wanted. */
enum stack_wanted {
	WANTED_LATENCY,
	WANTED_THROUGHPUT,
	WANTED_SERVERS,
	WANTED_COMMUNICATION,
	WANTED_DISK_ACCESSES,
	WANTED_POWER,
};

/* In addition to those of enum span_op: any operation that all processes of a communicator do
 * together. */
#define STACK_COLLECTIVE (UINT32_C(1) << 31)

struct stack_config {
	char *name;	   /* of the file, for messages */
	char *application; /* NULL: any program */
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

/* Read a configuration from a text; `name` is its name in messages. Errors name the line. `ret`
 * must be zeroed, and must be released even after a failure. */
int stack_config_parse(const char *text, size_t len, const char *name, struct stack_config *ret,
	struct lp_err *err);

/* Read a file, or take the built-in configuration with this name. Several built-in ones together,
 * "hdf5,glusterfs", have the layers of all. */
int stack_config_load(const char *name, struct stack_config *ret, struct lp_err *err);

/* The built-in ones. The last row has no name. */
struct stack_builtin {
	const char *name, *summary, *text;
};
extern const struct stack_builtin stack_builtins[];

#endif
