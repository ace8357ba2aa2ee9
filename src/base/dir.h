/* Directories that may belong to others, and files in them.
 *
 * Whoever owns a directory can put symbolic links, FIFOs and hard links into it, and exchange them
 * at any time. So a directory is walked to step by step and then held by its descriptor, and files
 * in it are opened by name, without following anything.
 */
#ifndef BASE_DIR_H
#define BASE_DIR_H

#include <limpet/err.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Walk to a directory. On the way only symbolic links of root's or of the user who runs this are
 * followed. A descriptor (O_PATH) for the functions below and for *at(), which the caller closes,
 * or a negative errno: -ELOOP if there is somebody else's link. */
int dir_open(const char *path, struct lp_err *err);

/* The same for the directory of a file; "." where the path has none. */
int dir_open_of(const char *path, struct lp_err *err);

/* The same, but what is missing is made, with these permissions. */
int dir_make(const char *path, mode_t mode, struct lp_err *err);

/* Create a file, which must not be there, for reading and writing: a descriptor or a negative
 * errno. `dir` may be AT_FDCWD. */
int dir_create_file(int dir, const char *name, mode_t mode);

/* Open a file that is there, with O_RDONLY or O_RDWR; never waits. -ELOOP: it is a symbolic link,
 * -EINVAL: it is not a regular file. */
int dir_open_file(int dir, const char *name, int flags);

/* The same of a file that is written to: -EPERM if it belongs to another user, -EMLINK if it has
 * another name somewhere. */
int dir_open_own_file(int dir, const char *name, int flags);

/* The names in a directory, sorted; those that `wanted` (NULL: all) has nothing against. Like
 * scandir(). */
struct dirent;
int dir_list(int dir, struct dirent ***ret_entries, int (*wanted)(const struct dirent *e));

/* Flush a directory, so that a new or renamed file in it survives power loss. */
int dir_sync(int dir);

#endif
