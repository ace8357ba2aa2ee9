/* What the rest of the archive, and tests, know of a writer beyond limpet/archive.h. */
#ifndef ARCHIVE_WRITER_H
#define ARCHIVE_WRITER_H

#include <limpet/archive.h>

/* Split batches into frames of at most `cells_max` values instead of FRAME_CELLS_MAX. */
void writer_limit_cells(struct lp_archive_writer *w, uint64_t cells_max);

#endif
