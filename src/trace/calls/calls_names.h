/* Names of the functions that programs count: "glusterfsd:posix.so:posix_readv". */
#ifndef TRACE_CALLS_NAMES_H
#define TRACE_CALLS_NAMES_H

#include "trace/calls/calls_watch.h"

struct calls_names;

/* `proc`: the path of /proc. NULL: out of memory. */
struct calls_names *calls_names_new(const char *proc);
void calls_names_free(struct calls_names *n);

/* Program, image and function, in memory that the caller frees; the page in the image if there is
 * no symbol. NULL: out of memory. */
char *calls_names_find(struct calls_names *n, const struct calls_program *p, size_t function);

/* A period is over: forget unused files. */
void calls_names_tick(struct calls_names *n);

#endif
