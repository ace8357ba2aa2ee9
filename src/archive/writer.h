/* The interface of a writer for the rest of the archive and for tests, beyond limpet/archive.h. */
#ifndef ARCHIVE_WRITER_H
#define ARCHIVE_WRITER_H

#include <limpet/log.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Split batches into frames of at most `cells_max` values instead of FRAME_CELLS_MAX. */
void writer_limit_cells(struct lp_archive_writer *w, uint64_t cells_max);

/* Append a frame of a log with the record numbers that it has, loose or dense. */
int writer_put_log(struct lp_archive_writer *w, const struct lp_log *log,
	enum lp_archive_density density, struct lp_err *err);

/* lp_archive_create() in a directory that is held open (base/dir.h), with these permissions. `path`
 * is the file's whole name; if `dir` is not AT_FDCWD, only its last part is used to open it. */
int writer_create(int dir, const char *path, mode_t mode, const struct lp_archive_meta *meta,
	struct lp_archive_writer **ret_writer, struct lp_err *err);

/* lp_archive_append() there, for a file that belongs to the user and has no other name. */
int writer_append(
	int dir, const char *path, struct lp_archive_writer **ret_writer, struct lp_err *err);

/* The file's own status. 0 or a negative errno. */
int writer_stat(const struct lp_archive_writer *w, struct stat *ret);

/* Give the file the owner and the permissions of another one, as far as we are allowed to. */
void writer_give(struct lp_archive_writer *w, const struct stat *like);

/* How many components the file names so far, and how many frames it has. */
uint32_t writer_components(const struct lp_archive_writer *w);
size_t writer_frames(const struct lp_archive_writer *w);

/* Call it if a sync has failed, so that data written since the last sync may never reach the disk:
 * takes the last batch back, so that it can be written again, and rewrites the rest. */
void writer_take_back(struct lp_archive_writer *w);

#endif
