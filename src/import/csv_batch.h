/* Makes batches of the rows of a chunk, in order of time. */
#ifndef IMPORT_CSV_BATCH_H
#define IMPORT_CSV_BATCH_H

#include "import/csv_rows.h"
#include "import/csv_series.h"

struct csv_batcher {
	struct lp_batch *batch;
	size_t next;	  /* index in the order of the rows */
	uint64_t n_batch; /* number of the current batch; a component's place is valid if it has the
			   * same number */
	uint64_t n_replaced; /* values instead of which a later, different one was taken */
	uint32_t replaced;   /* the component of the first of them, */
	int64_t replaced_us; /* and its time */
};

void csv_batcher_release(struct csv_batcher *b);

/* Begin with a new chunk: sort it and choose the number of samples per batch. */
int csv_batcher_begin(struct csv_batcher *b, struct csv_rows *rows, const struct csv_series *s,
	struct lp_err *err);

/* Fill the next batch (`b->batch`). Returns 1, 0 at the end of the chunk, or a negative errno. */
int csv_batcher_next(struct csv_batcher *b, const struct csv_rows *rows, struct csv_series *s,
	struct lp_err *err);

#endif
