/* What the rest of the archive knows of a reader beyond limpet/archive.h. */
#ifndef ARCHIVE_READER_H
#define ARCHIVE_READER_H

#include "archive/log.h"

/* lp_archive_open() of a file that is open; the descriptor is the source's from then on, also where
 * this fails. */
int reader_open(int fd, const char *path, const struct lp_select *select, struct lp_warn *warn,
	struct lp_source **ret_source, struct lp_err *err);

/* All "key=value" lines of a source that lp_archive_open() returned; NULL if it has none. */
const char *reader_meta(const struct lp_source *source);

/* Which log frames there are, in file order and whatever times were selected, from their heads
 * alone; damaged ones are left out. Stops when `fn` returns non-zero and returns that. */
int reader_log_places(const struct lp_source *source,
	int (*fn)(void *ctx, const struct log_place *place), void *ctx, struct lp_err *err);

/* One log frame of those, as lp_archive_logs() gives them: 0, what `fn` returned, or -EBADMSG if it
 * is damaged, which is reported through the source's `warn`. */
int reader_log_at(const struct lp_source *source, size_t frame,
	int (*fn)(void *ctx, const struct lp_log *log), void *ctx, struct lp_err *err);

#endif
