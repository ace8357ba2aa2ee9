/* Unmounting what may be busy, slow or dead. */
#ifndef LAB_UNMOUNT_H
#define LAB_UNMOUNT_H

#include <limpet/err.h>

/* Unmount whatever is mounted on `path` (all of it, if there are several; nothing: 0). If that
 * takes longer than `limit_ms`, the process of `pid_file` (that serves what is below; may be NULL)
 * is killed, so that it fails instead. What is busy is detached, and goes when it is not any more.
 * -ETIMEDOUT if nothing helps. */
int unmount(const char *path, unsigned limit_ms, const char *pid_file, struct lp_err *err);

#endif
