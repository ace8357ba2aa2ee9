/* Only one recorder at a time writes the files with a name in a directory. It holds a lock on
 * DIR/.NAME.lock. If the lock file is removed, alone or with its directory, the lock is lost. So
 * the recorder checks that the file exists before it writes, and takes the lock again if it does
 * not.
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
	dev_t dev; /* identifies the file */
	ino_t ino;
};

/* Take the lock. Does nothing if it is held and the file still exists. A missing directory is
 * created, with these permissions. -EBUSY: another recorder has it. */
int spool_lock_take(
	struct spool_lock *l, const char *dir, const char *name, mode_t mode, struct lp_err *err);

void spool_lock_release(struct spool_lock *l);

#endif
