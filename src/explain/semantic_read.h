/* The traces of a dataset, fed to a reader. */
#ifndef EXPLAIN_SEMANTIC_READ_H
#define EXPLAIN_SEMANTIC_READ_H

#include "explain/semantic_reader.h"
#include <limpet/dataset.h>

/* Feed the logs of system calls and descriptors, and the rows that go with them, of all archives in
 * the order of time, and advance the reader to their end; each is read once. Of data without such
 * logs only the heads are read. On -EBADMSG (damage, reported through options->warn) the intact
 * data was fed all the same. */
int semantic_read(struct lp_dataset *ds, const struct semantic_options *options,
	struct semantic_reader *reader, struct lp_err *err);

#endif
