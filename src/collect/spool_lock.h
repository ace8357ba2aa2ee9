/* Who writes the files of a name in a directory: at most one recorder at a time, which holds a lock
 * on DIR/.NAME.lock. Where the file is removed, alone or with its directory, the lock goes with it:
 * so the recorder looks whether it is there before it writes, and takes it again.
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

/* Hold the lock: nothing to do where it is held already and is still there. The directory is made
 * where it is missing, with these permissions. -EBUSY: another recorder has it. */
int spool_lock_take(
	struct spool_lock *l, const char *dir, const char *name, mode_t mode, struct lp_err *err);

void spool_lock_release(struct spool_lock *l);

#endif
