/* Directories that may belong to other users, and files in them.
 *
 * The owner of a directory can put symbolic links, FIFOs and hard links into it, and exchange them
 * at any time. So limpet walks to a directory step by step, keeps its descriptor open, and opens
 * files in it by name without following links.
 */
#ifndef BASE_DIR_H
#define BASE_DIR_H

#include <limpet/err.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Walk to a directory. Only symbolic links of root or of the user of this process are followed.
 * Returns a descriptor (O_PATH) for the functions below and for *at(), which the caller closes, or
 * a negative errno; -ELOOP: a link belongs to another user. */
int dir_open(const char *path, struct lp_err *err);

/* The same for the directory of a file; "." if the path has none. */
int dir_open_of(const char *path, struct lp_err *err);

/* The same, but creates missing directories, with these permissions. */
int dir_make(const char *path, mode_t mode, struct lp_err *err);

/* Create a file, which must not exist, for reading and writing. Returns a descriptor or a negative
 * errno. `dir` may be AT_FDCWD. */
int dir_create_file(int dir, const char *name, mode_t mode);

/* Open an existing file with O_RDONLY or O_RDWR; never waits. -ELOOP: it is a symbolic link,
 * -EINVAL: it is not a regular file. */
int dir_open_file(int dir, const char *name, int flags);

/* The same for a file to write to; -EPERM: it belongs to another user; -EMLINK: it has several
 * names. */
int dir_open_own_file(int dir, const char *name, int flags);

/* The names in a directory that `wanted` (NULL: all) accepts, sorted. Like scandir(). */
struct dirent;
int dir_list(int dir, struct dirent ***ret_entries, int (*wanted)(const struct dirent *e));

/* Flush a directory, so that a new or renamed file in it survives power loss. */
int dir_sync(int dir);

#endif
