/* Remote sources in a dataset: the data is fetched once, into an archive in a temporary file, so
 * that reading the dataset several times gives the same data each time.
 */
#ifndef IMPORT_DATASET_REMOTE_H
#define IMPORT_DATASET_REMOTE_H

#include <limpet/archive.h>

/* The fetched data. Zero-initialise it. */
struct remote_copy {
	bool tried;
	int fd;		       /* of the archive, which was unlinked; -1: none */
	struct lp_err failure; /* why there is no data, or why it ends early */
	int64_t interval_us;
};

/* How much of the source was fetched, 0 .. 1. May be NULL. */
struct remote_progress {
	void (*tell)(void *ctx, const char *what, double done);
	void *ctx;
};

/* Read the source to its end into a new archive. `copy->failure` describes an error; the data
 * before it is kept. */
void remote_fetch(struct lp_source *source, const char *worse,
	const struct remote_progress *progress, struct remote_copy *copy);

/* Open the fetched data. */
int remote_open(const struct remote_copy *copy, const struct lp_select *select,
	struct lp_warn *warn, struct lp_source **ret, struct lp_err *err);

void remote_release(struct remote_copy *copy);

#endif
