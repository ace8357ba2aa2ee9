/* The layers of the I/O stack that are recorded, from the application down. */
#ifndef TRACE_LAYER_H
#define TRACE_LAYER_H

#include <stdint.h>

/* Where a layer runs. What one call cost a server is in its spans of the last two. */
enum layer_side {
	LAYER_PROGRAM, /* inside the program */
	LAYER_CLIENT,  /* on the program's host: the kernel, the file system's daemon */
	LAYER_NETWORK,
	LAYER_SERVER,
	LAYER_DISK, /* a disk of a server, or of the program's host where the files are local */
};

struct layer {
	const char *name;
	const char *what;     /* one line: what its operations are */
	const char *boundary; /* where it begins and ends */
	const char *library;  /* that sees it, loaded into the program (runtime/); NULL: it is seen
				 in the kernel (bpf/stack.bpf.c) */
	enum layer_side side;
};

/* Places of the layers in the kernel, of the layer above them, and of the layer whose functions a
 * configuration names. */
enum {
	STACK_LIBRARY = 0,
	STACK_POSIX = 4,
	STACK_FUSE,
	STACK_CLIENT,
	STACK_NETWORK,
	STACK_SERVER,
	STACK_STORAGE,
	STACK_BLOCK,
	STACK_LAYERS,
};
#define LAYERS_IN_KERNEL ((1u << STACK_LAYERS) - (1u << STACK_FUSE))

/* From top to bottom. The last row has no name. The place of a layer is its bit in masks. */
extern const struct layer layers[];
extern const unsigned layers_n;

/* The place of the layer of that name, -1: there is none. */
int layer_find(const char *name);

/* The names of enum span_op; the last one is NULL. */
extern const char *const span_op_names[];
int span_op_find(const char *name); /* -1: there is none */

#endif
