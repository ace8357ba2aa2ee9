/* Paths of files that code may be from, noted cheaply, and looked into only when the file of some
 * build-id is wanted. */
#ifndef TRACE_PATHS_H
#define TRACE_PATHS_H

#include "base/hash.h"
#include "trace/symbols/elf_image.h"

/* So many are noted at most. */
#define PATHS_MAX 8192

/* Zero-initialise it. */
struct paths {
	struct strmap index;
	char **items;
	size_t n, cap;
	size_t n_seen;	    /* the first so many were looked into */
	struct idmap by_id; /* hash of a build-id -> position */
};

void paths_release(struct paths *p);

/* Note a path; only absolute ones count. 0 or -ENOMEM. */
int paths_note(struct paths *p, const char *path);

/* The path of a file that had this build-id when it was looked into, or NULL. */
const char *paths_find(struct paths *p, const struct build_id *id);

/* Files may have changed: look into all of them again. Where there are too many, all are forgotten.
 */
void paths_again(struct paths *p);

#endif
