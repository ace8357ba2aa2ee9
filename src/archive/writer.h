/* What the rest of the archive, and tests, know of a writer beyond limpet/archive.h. */
#ifndef ARCHIVE_WRITER_H
#define ARCHIVE_WRITER_H

#include <limpet/log.h>

/* Split batches into frames of at most `cells_max` values instead of FRAME_CELLS_MAX. */
void writer_limit_cells(struct lp_archive_writer *w, uint64_t cells_max);

/* Append a frame of a log with the record numbers that it has, loose or dense. */
int writer_put_log(struct lp_archive_writer *w, const struct lp_log *log,
	enum lp_archive_density density, struct lp_err *err);

/* How many components the file names so far. */
uint32_t writer_components(const struct lp_archive_writer *w);

#endif
