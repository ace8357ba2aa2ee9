/* Paths of files that may contain code. They are only noted, and opened when the file of a build-id
 * is needed. */
#ifndef TRACE_PATHS_H
#define TRACE_PATHS_H

#include "base/hash.h"
#include "trace/symbols/elf_image.h"

/* At most this many are noted. */
#define PATHS_MAX 8192

/* Zero-initialise it. */
struct paths {
	struct strmap index;
	char **items;
	size_t n, cap;
	size_t n_seen;	    /* the number of files that were opened */
	struct idmap by_id; /* hash of a build-id -> position */
};

void paths_release(struct paths *p);

/* Note a path; only absolute ones count. 0 or -ENOMEM. */
int paths_note(struct paths *p, const char *path);

/* The path of a file that had this build-id when it was opened, or NULL. */
const char *paths_find(struct paths *p, const struct build_id *id);

/* Files may have changed: open all of them again. If there are too many, all are forgotten.
 */
void paths_again(struct paths *p);

#endif
