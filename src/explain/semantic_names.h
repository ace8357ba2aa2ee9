/* Names of descriptors, and of the two ends of connections. */
#ifndef EXPLAIN_SEMANTIC_NAMES_H
#define EXPLAIN_SEMANTIC_NAMES_H

#include "explain/semantic_traces.h"

/* Is it a loopback address (127.x.x.x, ::1)? */
bool address_is_loopback(const char *address);

#endif
