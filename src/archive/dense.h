/* Turns a stream of batches of any length into dense frames. */
#ifndef ARCHIVE_DENSE_H
#define ARCHIVE_DENSE_H

#include <limpet/archive.h>

struct dense {
	struct lp_archive_writer *writer; /* not owned */
	struct lp_batch *pending;	  /* NULL until the first batch shows the size */
	uint32_t most; /* samples to collect; fewer if components come and go; 0: unknown */
};

/* The number of values that are kept in memory, 32 MB: sealing must fit into a small agent, even on
 * a server with thousands of devices. */
#define DENSE_CELLS (UINT64_C(1) << 22)

void dense_init(struct dense *d, struct lp_archive_writer *writer);
void dense_release(struct dense *d);

/* Add the samples of a batch; writes frames when they are complete. */
int dense_add(struct dense *d, const struct lp_catalogue *c, const struct lp_batch *b,
	struct lp_err *err);

/* Write the pending samples. */
int dense_flush(struct dense *d, const struct lp_catalogue *c, struct lp_err *err);

#endif
