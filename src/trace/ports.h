/* The ports on which processes serve: those in state LISTEN in their network namespaces. */
#ifndef TRACE_PORTS_H
#define TRACE_PORTS_H

#include "trace/backend.h"

/* Find the ports of all current targets (for a command, those of this process). `proc` is "/proc",
 * or a similar directory. At most `max`, each once; returns their number. */
unsigned trace_ports_find(
	const char *proc, const struct trace_targets *targets, uint16_t *ret, unsigned max);

#endif
