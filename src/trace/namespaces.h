/* Processes in other namespaces (containers): their ids there, and whether they see our files. */
#ifndef TRACE_NAMESPACES_H
#define TRACE_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>

/* The number of the namespace that a process has its id in (that of the link ns/pid); `pid` 0: our
 * own. False: it has ended, or it is not permitted. */
bool namespaces_pid_space(const char *proc, int pid, uint64_t *ret);

/* The id that a process has in its own namespace; its id here if that is not known. */
int namespaces_inner_pid(const char *proc, int pid);

/* The process that has the id `inner` in namespace `space`, by its id here; 0: there is none. Looks
 * at all processes. */
int namespaces_outer_pid(const char *proc, uint64_t space, int inner);

/* Does a process have other files than us at the same paths: in a mount namespace or a root
 * directory of its own? False also if that cannot be seen. */
bool namespaces_other_files(const char *proc, int pid);

#endif
