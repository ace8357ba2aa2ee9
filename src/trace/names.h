/* The names of processes if descriptors are not followed: in a summary, processes may be gone
 * before /proc can be read, but their forks and programs are reported.
 */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include "base/idmap.h"
#include "model/trace_event.h"
#include <sys/types.h>

#define NAMES_TEXT_MAX 16

/* Zero-initialise it. */
struct names {
	struct idmap index; /* process -> position */
	struct name_entry {
		char text[NAMES_TEXT_MAX];
	} * items;
	uint32_t *unused;
	size_t n, cap, n_unused, cap_unused;
};

void names_release(struct names *n);

/* The name of a process; NULL: unknown. Valid until the next change. */
const char *names_get(const struct names *n, pid_t pid);

/* Set a name; it is truncated like in the kernel. 0 or -ENOMEM. */
int names_set(struct names *n, pid_t pid, const char *text, size_t len);

/* Note the program of an event (TRACE_EXEC): the last part of its path. */
int names_exec(struct names *n, const struct trace_event *e);

void names_drop(struct names *n, pid_t pid);

#endif
