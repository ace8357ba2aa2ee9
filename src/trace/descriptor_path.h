/* Paths as seen by a traced process: relative to its root, its directory, or a descriptor. */
#ifndef TRACE_DESCRIPTOR_PATH_H
#define TRACE_DESCRIPTOR_PATH_H

#include <stddef.h>

#define DESCRIPTOR_PATH_MAX 8192

/* Join `path` (`len` bytes, no NUL) to `base`, or to `root` if it is absolute, and remove "//",
 * "/./" and "/../" textually: symbolic links are not resolved. ".." does not leave `root` ("" for
 * none). Without an absolute base the path is not changed. Returns `buf`, truncated if it does not
 * fit. */
const char *descriptor_path_join(char buf[DESCRIPTOR_PATH_MAX], const char *root, const char *base,
	const char *path, size_t len);

#endif
