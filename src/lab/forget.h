/* Files that somebody reads and writes through the page cache, where a lab is about disks. A server
 * of a real cluster has far more data than memory. One of a lab has all of its files in memory once
 * it has written them, and its disk would never be asked again. */
#ifndef LAB_FORGET_H
#define LAB_FORGET_H

#include <limpet/err.h>

/* Drop what the page cache has of the files below a directory; what has still to be written is
 * written first, which is not waited for. `*ret_files` (NULL: never mind) is how many files there
 * are. A directory or file that is not there, or not any more: 0. */
int forget_files(const char *dir, unsigned *ret_files, struct lp_err *err);

/* Do so for all of these directories, once a second, until it is killed. */
int forget_always(char *const *dirs, int n_dirs, struct lp_err *err);

#endif
