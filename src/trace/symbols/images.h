/* Files of code, each read once, identified by build-id or by the file itself.
 */
#ifndef TRACE_IMAGES_H
#define TRACE_IMAGES_H

#include "base/idmap.h"
#include "trace/symbols/elf_image.h"

struct image {
	char *name; /* "libc.so.6" */
	struct elf_image elf;
	uint64_t file; /* a hash of device, inode, size and modification time */
	uint64_t used; /* the last period in which it was used */
};

/* Zero-initialise it, except `debug_dir`. */
struct images {
	const char *debug_dir; /* of separate debug files; NULL: none */
	struct image **items;
	size_t n, cap;
	struct idmap by_id, by_file; /* positions in `items` */
	uint64_t period;
};

/* An image that is not used for this many periods is forgotten. */
#define IMAGES_PERIODS 90

void images_release(struct images *s);

/* The image with this build-id, or NULL. */
struct image *images_find(struct images *s, const struct build_id *id);

/* The image of an open file; `path` is for its name. A file that cannot be parsed has no symbols. 0
 * or a negative errno. */
int images_open(struct images *s, int fd, const char *path, struct image **ret);

/* A period is over: forget unused images. */
void images_tick(struct images *s);

#endif
