/* The ends of TCP connections as text, in the names of descriptors, logs and components. */
#ifndef MODEL_ENDPOINTS_H
#define MODEL_ENDPOINTS_H

#include "model/syscalls.h"
#include <stdbool.h>
#include <stddef.h>

/* "[" 39 characters of IPv6 "]:65535". */
#define ENDPOINT_TEXT_MAX 64
/* "tcp ", both, a blank. */
#define ENDPOINTS_TEXT_MAX (2 * ENDPOINT_TEXT_MAX + 8)

/* "10.77.0.3:24007", "[fe80::1]:24007". IPv4 through an IPv6 socket is IPv4. Return `buf`. */
const char *endpoints_local(const struct trace_endpoints *e, char buf[ENDPOINT_TEXT_MAX]);
const char *endpoints_remote(const struct trace_endpoints *e, char buf[ENDPOINT_TEXT_MAX]);

/* The name of a connected socket, "tcp 10.0.0.1:24007 10.0.0.9:49151" (local, remote); "tcp
 * 0.0.0.0:24007" without a remote end; "tcp" if nothing is known. Returns `buf`. */
const char *endpoints_name(const struct trace_endpoints *e, char buf[ENDPOINTS_TEXT_MAX]);

/* Parse such a name; false: it is not a connection. */
bool endpoints_parse(const char *name, struct trace_endpoints *ret);

/* The ends in the text of an event with CAPTURE_ENDPOINTS; false: it has none. */
bool endpoints_of_event(const struct trace_event *e, struct trace_endpoints *ret);

/* Does it have a remote end? */
bool endpoints_connected(const struct trace_endpoints *e);

#endif
