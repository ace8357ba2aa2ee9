/* The interface of a writer for the rest of the archive code and for tests, in addition to
 * limpet/archive.h. */
#ifndef ARCHIVE_WRITER_H
#define ARCHIVE_WRITER_H

#include <limpet/log.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Split batches into frames of at most `cells_max` values instead of FRAME_CELLS_MAX. */
void writer_limit_cells(struct lp_archive_writer *w, uint64_t cells_max);

/* Append a frame of a log with the given record numbers, loose or dense. */
int writer_put_log(struct lp_archive_writer *w, const struct lp_log *log,
	enum lp_archive_density density, struct lp_err *err);

/* lp_archive_create() in an open directory (base/dir.h), with these permissions. `path` is the full
 * name of the file; if `dir` is not AT_FDCWD, only its last part is used to open it. */
int writer_create(int dir, const char *path, mode_t mode, const struct lp_archive_meta *meta,
	struct lp_archive_writer **ret_writer, struct lp_err *err);

/* lp_archive_append() in such a directory, for a file that belongs to the user and has no other
 * name. */
int writer_append(
	int dir, const char *path, struct lp_archive_writer **ret_writer, struct lp_err *err);

/* fstat() of the file. 0 or a negative errno. */
int writer_stat(const struct lp_archive_writer *w, struct stat *ret);

/* Give the file the owner and the permissions of another one, as far as permitted. */
void writer_give(struct lp_archive_writer *w, const struct stat *like);

/* The number of components that the file names so far, and the number of its frames. */
uint32_t writer_components(const struct lp_archive_writer *w);
size_t writer_frames(const struct lp_archive_writer *w);

/* Call this after a failed sync: data written since the last sync may never reach the disk. It
 * removes the last batch, so that it can be written again, and rewrites the rest. */
void writer_take_back(struct lp_archive_writer *w);

#endif
