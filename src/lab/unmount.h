/* Unmounts file systems that may be busy, slow or dead. */
#ifndef LAB_UNMOUNT_H
#define LAB_UNMOUNT_H

#include <limpet/err.h>

/* Unmount everything that is mounted on `path` (0 if there is none). If that takes longer than
 * `limit_ms`, it kills the process of `pid_file` (which serves the layer below; may be NULL), so
 * that requests fail. A busy mount is detached, and disappears when it is no longer in use.
 * -ETIMEDOUT if nothing helps. */
int unmount(const char *path, unsigned limit_ms, const char *pid_file, struct lp_err *err);

#endif
