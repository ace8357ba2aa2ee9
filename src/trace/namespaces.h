/* Processes in other namespaces (containers): their ids there, and whether they see limpet's
 * files. */
#ifndef TRACE_NAMESPACES_H
#define TRACE_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

/* The number of the namespace in which a process has its id (that of the link ns/pid); `pid` 0:
 * this process. False: it has ended, or access is not permitted. */
bool namespaces_pid_space(const char *proc, int pid, uint64_t *ret);

/* The id of a process in its own namespace; its id here if that is unknown. */
int namespaces_inner_pid(const char *proc, int pid);

/* The process that has the id `inner` in namespace `space`, by its id here; 0: there is none.
 * Examines all processes. */
int namespaces_outer_pid(const char *proc, uint64_t space, int inner);

/* Does a process see other files than limpet at the same paths, because it has its own mount
 * namespace or root directory? False also if that is unknown. */
bool namespaces_other_files(const char *proc, int pid);

#endif
