/* Names of C++ and Rust functions as their authors wrote them. */
#ifndef TRACE_DEMANGLE_H
#define TRACE_DEMANGLE_H

#include <stddef.h>

/* Write the readable form of a symbol's name into `buf`, truncated if it does not fit; that is the
 * name itself if it is not mangled, or limpet was built without libiberty. */
void demangle(const char *name, char *buf, size_t size);

#endif
