/* Temporary files and directories: in $TMPDIR, or /tmp. */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include <limpet/err.h>

/* Create an unnamed file for reading and writing. Returns a descriptor, which the caller closes, or
 * a negative errno. */
int temp_file_make(struct lp_err *err);

/* Create a directory for this user only. Returns 0 and its path, which the caller frees after
 * removing the directory, or a negative errno. */
int temp_dir_make(char **ret_path, struct lp_err *err);

#endif
