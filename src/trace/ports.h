/* The ports on which processes serve: those in state LISTEN in their network namespaces. */
#ifndef TRACE_PORTS_H
#define TRACE_PORTS_H

#include "trace/backend.h"

/* For all present targets (and for a command, of this process). `proc` is "/proc", or a directory
 * like it. At most `max`, each once; returns their number. */
unsigned trace_ports_find(
	const char *proc, const struct trace_targets *targets, uint16_t *ret, unsigned max);

#endif
