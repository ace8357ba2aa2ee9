/* Unmounting file systems that may be busy, slow or dead. */
#ifndef LAB_UNMOUNT_H
#define LAB_UNMOUNT_H

#include <limpet/err.h>

/* Unmount everything that is mounted on `path` (nothing: 0). If that takes longer than `limit_ms`,
 * the process of `pid_file` (which serves the layer below; may be NULL) is killed, so that it fails
 * instead. A busy mount is detached, and disappears when it is no longer in use. -ETIMEDOUT if
 * nothing helps. */
int unmount(const char *path, unsigned limit_ms, const char *pid_file, struct lp_err *err);

#endif
