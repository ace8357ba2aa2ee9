/* The programs and users of traced processes. A name proves little, because any process can have
 * it. */
#ifndef TRACE_PROGRAMS_H
#define TRACE_PROGRAMS_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACE_PROGRAMS_MAX 16

struct trace_program {
	char name[16]; /* /proc/PID/comm */
	char *path;    /* of its executable */
	uid_t uid;
	uint64_t n; /* processes that were found */
};

/* Zero-initialise it. */
struct trace_programs {
	struct trace_program items[TRACE_PROGRAMS_MAX]; /* in the order in which they were found */
	unsigned n;
	uint64_t n_more; /* processes of other programs */
};

void trace_programs_release(struct trace_programs *p);

/* Examine a process while it exists. */
void trace_programs_note(struct trace_programs *p, pid_t pid);

/* The name of a user, or its number if it has none. */
const char *trace_user_name(uid_t uid, char *buf, size_t size);

#endif
