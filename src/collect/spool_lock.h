/* Which recorder writes the files of a name in a directory: at most one at a time, which holds a
 * lock on DIR/.NAME.lock. If the lock file is removed, alone or with its directory, the lock is
 * lost: so the recorder checks that it is there before it writes, and takes it again.
 */
#ifndef COLLECT_SPOOL_LOCK_H
#define COLLECT_SPOOL_LOCK_H

#include <limpet/err.h>
#include <stdbool.h>
#include <sys/types.h>

/* Zero-initialise it. */
struct spool_lock {
	bool held;
	int fd;
	char *path;
	dev_t dev; /* which file that is */
	ino_t ino;
};

/* Hold the lock: does nothing if it is already held and still there. A missing directory is made,
 * with these permissions. -EBUSY: another recorder has it. */
int spool_lock_take(
	struct spool_lock *l, const char *dir, const char *name, mode_t mode, struct lp_err *err);

void spool_lock_release(struct spool_lock *l);

#endif
