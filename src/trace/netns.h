/* The network namespace of a process, which distinguishes the processes of one container, or of one
 * node of a lab, from those of the others on the same machine. */
#ifndef TRACE_NETNS_H
#define TRACE_NETNS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of its namespace (that of the link ns/net); `pid` 0: our own. False: it has ended, or
 * it is not permitted. */
bool netns_of(const char *proc, int pid, uint64_t *ret);

/* Does the process live in namespace `netns`? With 0 every process does. */
bool netns_holds(const char *proc, uint64_t netns, int pid);

#endif
