/* Keeps files out of the page cache, for servers that read and write through it. A server of a real
 * cluster has far more data than memory. A server of a lab has all of its files in memory after it
 * has written them, and would never read from its disk again. */
#ifndef LAB_FORGET_H
#define LAB_FORGET_H

#include <limpet/err.h>

/* Drop the cached pages of all files below a directory. Dirty pages are scheduled for writing
 * first, without waiting for it. `*ret_files` (may be NULL) is the number of files. 0 if a
 * directory or file does not exist. */
int forget_files(const char *dir, unsigned *ret_files, struct lp_err *err);

/* Do this for all of these directories, once per second, until killed. */
int forget_always(char *const *dirs, int n_dirs, struct lp_err *err);

#endif
