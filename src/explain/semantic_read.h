/* Feeds the traces of a dataset to a reader. */
#ifndef EXPLAIN_SEMANTIC_READ_H
#define EXPLAIN_SEMANTIC_READ_H

#include "explain/semantic_reader.h"
#include <limpet/dataset.h>

/* Feed the logs of system calls and descriptors, and the related rows, of all archives in the order
 * of time, and advance the reader to the end. Each archive is read once; if it has no such logs,
 * only its header is read. On -EBADMSG (damage, reported through options->warn) the intact data was
 * fed nevertheless. */
int semantic_read(struct lp_dataset *ds, const struct semantic_options *options,
	struct semantic_reader *reader, struct lp_err *err);

#endif
