/* What the rest of the archive knows of a reader beyond limpet/archive.h. */
#ifndef ARCHIVE_READER_H
#define ARCHIVE_READER_H

#include <limpet/archive.h>

/* All "key=value" lines of a source that lp_archive_open() returned; NULL if it has none. */
const char *reader_meta(const struct lp_source *source);

#endif
