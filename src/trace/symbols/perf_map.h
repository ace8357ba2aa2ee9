/* Maps of code that run-time compilers write: /tmp/perf-PID.map, with lines "START SIZE NAME", both
 * numbers in hexadecimal. */
#ifndef TRACE_PERF_MAP_H
#define TRACE_PERF_MAP_H

#include "trace/symbols/symbol_table.h"

/* Parse the text of such a map; modifies `text`. Invalid lines are left out; if an address has
 * several lines, the last one counts. 0 or -ENOMEM. */
int perf_map_parse(char *text, struct symbol_table *ret);

/* The map of a process, in any namespace. It must belong to the user of the process or to root. 0,
 * -ENOENT (it has none), or another errno. */
int perf_map_read(const char *proc, int pid, struct symbol_table *ret);

#endif
