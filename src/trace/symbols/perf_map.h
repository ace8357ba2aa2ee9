/* Maps that run-time compilers write of their code: /tmp/perf-PID.map, one line "START SIZE NAME"
 * each, both numbers in hexadecimal. */
#ifndef TRACE_PERF_MAP_H
#define TRACE_PERF_MAP_H

#include "trace/symbols/symbol_table.h"

/* Parse the text of such a map; `text` is changed. Lines that cannot be parsed are left out; of
 * several for one address the last counts. 0 or -ENOMEM. */
int perf_map_parse(char *text, struct symbol_table *ret);

/* The map of a process, in whatever namespaces it is. It must belong to the user of the process or
 * to root. 0, -ENOENT (it has none), or another errno. */
int perf_map_read(const char *proc, int pid, struct symbol_table *ret);

#endif
