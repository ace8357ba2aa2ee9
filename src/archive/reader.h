/* The interface of a reader for the rest of the archive code, in addition to limpet/archive.h. */
#ifndef ARCHIVE_READER_H
#define ARCHIVE_READER_H

#include "archive/log.h"

/* lp_archive_open() for an open file. The source owns the descriptor from then on, even if this
 * fails. */
int reader_open(int fd, const char *path, const struct lp_select *select, struct lp_warn *warn,
	struct lp_source **ret_source, struct lp_err *err);

/* All "key=value" lines of a source that lp_archive_open() returned; NULL if it has none. */
const char *reader_meta(const struct lp_source *source);

/* Call `fn` with the places of all log frames, in file order and regardless of the selected times.
 * Reads only their heads; damaged ones are skipped. Stops when `fn` returns non-zero, and returns
 * that value. */
int reader_log_places(const struct lp_source *source,
	int (*fn)(void *ctx, const struct log_place *place), void *ctx, struct lp_err *err);

/* Read one of these log frames, like lp_archive_logs(). Returns the result of `fn`, or -EBADMSG if
 * it is damaged, which is reported through the `warn` of the source. */
int reader_log_at(const struct lp_source *source, size_t frame,
	int (*fn)(void *ctx, const struct lp_log *log), void *ctx, struct lp_err *err);

#endif
