/* The executable mappings of a process, from /proc/PID/maps. */
#ifndef TRACE_PROC_MAPS_H
#define TRACE_PROC_MAPS_H

#include <stddef.h>
#include <stdint.h>

struct proc_mapping {
	uint64_t start, end, offset;
	uint64_t inode; /* 0: no file */
	char *path;	/* "" if it has none, "[vdso]", "/usr/bin/x"; without " (deleted)" */
};

/* Zero-initialise it. */
struct proc_maps {
	struct proc_mapping *items; /* by address */
	size_t n, cap;
};

/* At most this many are read. */
#define PROC_MAPS_MAX 65536

void proc_maps_release(struct proc_maps *m);

/* Parse lines of such a file (modifies `text`) and add executable mappings. Lines that cannot be
 * parsed are left out. 0 or -ENOMEM. */
int proc_maps_parse(struct proc_maps *m, char *text);

/* Read those of a process. 0, -ESRCH (it is gone), or another errno. */
int proc_maps_read(const char *proc, int pid, struct proc_maps *ret);

/* Add a mapping; overlapping ones are removed. 0 or -ENOMEM. */
int proc_maps_add(struct proc_maps *m, uint64_t start, uint64_t end, uint64_t offset,
	uint64_t inode, const char *path);

/* The mapping of an address, or NULL. */
const struct proc_mapping *proc_maps_find(const struct proc_maps *m, uint64_t address);

#endif
