/* Paths as a traced process means them: relative to its root, its directory, or a descriptor. */
#ifndef TRACE_DESCRIPTOR_PATH_H
#define TRACE_DESCRIPTOR_PATH_H

#include <stddef.h>

#define DESCRIPTOR_PATH_MAX 8192

/* Join `path` (`len` bytes, no NUL) to `base`, or to `root` where it is absolute, and take out
 * "//", "/./" and "/../", by the letters alone: symbolic links are not looked at. ".." does not
 * lead out of `root` ("" for none). Without a base that is absolute the path stays what it is.
 * Returns `buf`; what does not fit is cut. */
const char *descriptor_path_join(char buf[DESCRIPTOR_PATH_MAX], const char *root, const char *base,
	const char *path, size_t len);

#endif
