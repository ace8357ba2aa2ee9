/* The directory in which traced programs leave their calls until `limpet stack run` has read them.
 *
 * The process that made it holds a lock on it while it reads. A directory without a lock is left
 * from a run that was killed: the next run removes it, and programs that still use it stop
 * recording (runtime/spans.c).
 */
#ifndef TRACE_STACK_SCRATCH_H
#define TRACE_STACK_SCRATCH_H

#include <limpet/err.h>

struct scratch {
	char *path; /* NULL: there is none */
	int lock;   /* the directory, locked; -1: none, or its file system has no locks */
};

/* Make one in `parent`; NULL: in /dev/shm, or else in /tmp. Removes the directories that killed
 * runs of the same user left there. */
int scratch_open(struct scratch *s, const char *parent, struct lp_err *err);

/* Remove it with its contents. */
void scratch_close(struct scratch *s);

#endif
