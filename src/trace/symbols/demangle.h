/* Names of C++ and Rust functions as in their source. */
#ifndef TRACE_DEMANGLE_H
#define TRACE_DEMANGLE_H

#include <stddef.h>

/* Write the readable form of a symbol's name into `buf`, truncated if it does not fit. This is the
 * name itself if it is not mangled, or if limpet was built without libiberty. */
void demangle(const char *name, char *buf, size_t size);

#endif
