/* The table of mounts. */
#ifndef LAB_MOUNTS_H
#define LAB_MOUNTS_H

#include <limpet/err.h>
#include <stdbool.h>

/* Is something mounted on exactly this path? Does not touch the mount itself, so it cannot hang. */
bool mounts_has(const char *path);

/* Has the file system that is mounted on exactly this path become read-only, because of an error or
 * a remount? Does not touch the file system. */
bool mounts_read_only(const char *path);

/* Unmount everything at or below `dir`, the last mounted first: immediately, or when its last user
 * is gone. */
int mounts_remove(const char *dir, struct lp_err *err);

#endif
