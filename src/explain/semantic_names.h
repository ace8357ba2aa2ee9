/* Names of descriptors, and of the two ends of connections. */
#ifndef EXPLAIN_SEMANTIC_NAMES_H
#define EXPLAIN_SEMANTIC_NAMES_H

#include "explain/semantic_traces.h"

/* "tcp 10.0.0.1:24007 10.0.0.9:49151", as descriptors are called; the caller frees. NULL: the
 * socket has no remote end, or there is no memory. */
char *endpoints_name(const struct trace_endpoints *ends);

/* An address of the machine itself: 127.x.x.x, ::1. */
bool address_is_loopback(const char *address);

#endif
