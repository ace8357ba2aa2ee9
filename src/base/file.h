/* Complete reads and writes. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <limpet/err.h>
#include <stdint.h>
#include <sys/types.h>

/* Read up to `size` bytes at `offset`, retrying short reads. Returns the number of bytes (less than
 * `size` only at the end of the file), or a negative errno. */
ssize_t file_pread_full(int fd, void *buf, size_t size, off_t offset);

/* Write all bytes at `offset`. 0 or a negative errno. */
int file_pwrite_full(int fd, const void *buf, size_t size, off_t offset);

/* Open a file that the user named, with O_RDONLY or O_RDWR. Returns a descriptor or a negative
 * errno. Follows links, but never waits. Apart from regular files, only a pipe that is already open
 * (/dev/stdin, /dev/fd/63) is accepted; -EINVAL for anything else, such as a FIFO. */
int file_open_input(const char *path, int flags, struct lp_err *err);

/* Read a whole file (or pipe) of at most `max` bytes into memory that the caller frees; a NUL
 * follows the data. */
int file_slurp(const char *path, size_t max, char **ret_data, size_t *ret_size, struct lp_err *err);

/* Rename in a directory without replacing anything; -EEXIST if `to` exists. */
int file_rename_new(int dir, const char *from, const char *to);

/* Flush a directory, so that a new or renamed file in it survives power loss. */
int file_sync_dir_of(const char *path);

/* "/var/lib/x/y.lpa" -> "y.lpa". */
const char *path_basename(const char *path);

/* mkdir -p. */
int path_make_dirs(const char *path, struct lp_err *err);

#endif
