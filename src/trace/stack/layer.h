/* The layers of the I/O stack that are recorded, from the application down. */
#ifndef TRACE_LAYER_H
#define TRACE_LAYER_H

#include <stdint.h>

struct layer {
	const char *name;
	const char *what;     /* one line: whose operations they are */
	const char *boundary; /* where it begins and ends */
	const char *library;  /* that sees it, loaded into the program (runtime/) */
};

/* From top to bottom, behind the last one a row without a name. The place of a layer in it is its
 * bit in masks. */
extern const struct layer layers[];
extern const unsigned layers_n;

/* The place of the layer of that name, -1: there is none. */
int layer_find(const char *name);

/* The names of enum span_op, behind the last one NULL. */
extern const char *const span_op_names[];
int span_op_find(const char *name); /* -1: there is none */

#endif
