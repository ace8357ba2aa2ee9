/* Finds the daemons of a file system: the processes that the user selects, as of now. It is called
 * repeatedly, because daemons are restarted. */
#ifndef TRACE_DAEMONS_H
#define TRACE_DAEMONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DAEMONS_MAX 256

struct daemons {
	const pid_t *pids; /* these, and no others where there are some */
	size_t n_pids;
	const char *const *comms; /* those of these names; 0: daemons of known file systems */
	size_t n_comms;
	const uint16_t *ports; /* that listen on one of these; 0: on any */
	size_t n_ports;
	uint64_t netns; /* that live in this network namespace; 0: in any */
};

/* Find at most DAEMONS_MAX of them, in no order; returns how many. `proc` is "/proc", or a
 * directory like it. */
size_t daemons_find(const char *proc, const struct daemons *d, pid_t ret[DAEMONS_MAX]);

/* The names of daemons that are known, NULL-terminated. */
extern const char *const daemons_known[];

#endif
