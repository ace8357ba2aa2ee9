/* The network namespace of a process, which distinguishes the processes of one container, or of one
 * node of a lab, from those of the others on the same machine. */
#ifndef TRACE_NETNS_H
#define TRACE_NETNS_H

#include <stdbool.h>
#include <stdint.h>

/* The number of a process's namespace (from the link ns/net); `pid` 0: this process. False: it has
 * ended, or access is not permitted. */
bool netns_of(const char *proc, int pid, uint64_t *ret);

/* Is the process in namespace `netns`? If `netns` is 0, every process is. */
bool netns_holds(const char *proc, uint64_t netns, int pid);

#endif
