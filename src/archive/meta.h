/* A file's catalogue frames taken together: its meta lines, schemas and components. */
#ifndef ARCHIVE_META_H
#define ARCHIVE_META_H

#include "archive/frames.h"
#include <limpet/archive.h>

/* "key=value" lines; NULL if there is no memory. */
char *meta_format(const struct lp_archive_meta *meta);

/* The value of `key` in such lines: its start, and its length in `*ret_len`; or NULL. */
const char *meta_find(const char *meta, const char *key, size_t *ret_len);

/* Who is told of damage, and of which file. */
struct meta_warn {
	struct lp_warn *to;
	const char *path;
};

/* Apply all catalogue frames of a file. Damaged ones are told through `warn` (may be NULL) and left
 * out (later copies make up for them); `*meta` is the last one's (the caller frees it), or stays as
 * it is if there is none. Returns how much is damaged, or a negative errno where nothing can be
 * read. */
int meta_load(int fd, const struct frame_list *frames, struct lp_catalogue *catalogue, char **meta,
	const struct meta_warn *warn, struct lp_err *err);

#endif
