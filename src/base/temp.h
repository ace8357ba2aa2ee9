/* Temporary files and directories: in $TMPDIR, or /tmp. */
#ifndef BASE_TEMP_H
#define BASE_TEMP_H

#include <limpet/err.h>

/* A file without a name, for reading and writing: a descriptor, which the caller closes, or a
 * negative errno. */
int temp_file_make(struct lp_err *err);

/* Make a directory for this user alone. Returns 0 and its path, which the caller frees after
 * removing the directory, or a negative errno. */
int temp_dir_make(char **ret_path, struct lp_err *err);

#endif
